"""What the interpreter of a machine without network lacks, from the bundle, into a folder of its own.

`pip install --target` and PYTHONPATH, and no virtual environment: one made from another environment would not see that
one's PyTorch.  Only packages that cannot be imported are installed, without what they depend on, so that the machine
keeps its own NumPy and PyTorch.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.gpu.results import ROOT

BUNDLE = ROOT / ".gpu-bundle"
SITE = ROOT / ".gpu" / f"site-{sys.implementation.cache_tag}"
SECONDS = 400

# Distribution → module that shows that it is there; in this order.
NEEDED = {
    "setuptools": "setuptools", "wheel": "wheel", "islpy": "islpy", "lark": "lark", "pycparser": "pycparser",
    "numpy": "numpy", "ml_dtypes": "ml_dtypes",
    "typing_extensions": "typing_extensions", "pytest": "pytest", "iniconfig": "iniconfig", "pluggy": "pluggy",
    "packaging": "packaging", "pygments": "pygments", "hypothesis": "hypothesis",
    "sortedcontainers": "sortedcontainers", "cuda-pathfinder": "cuda.pathfinder",
    "cuda-bindings": "cuda.bindings", "platformdirs": "platformdirs", "siphash24": "siphash24",
    "MarkupSafe": "markupsafe", "Mako": "mako", "pytools": "pytools", "SQLAlchemy": "sqlalchemy",
}  # fmt: skip
# What can be built on a machine with CUDA's toolkit, and does no harm where it cannot.
BUILT = {"pycuda": "pycuda"}
# The machine has to bring these.
EXPECTED = ("numpy",)


def environment() -> dict[str, str]:
    """The variables under which the installed packages and this project are found."""
    before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(SITE), str(ROOT), *before])}


def missing(names: dict[str, str]) -> list[str]:
    """Distributions that cannot be imported."""
    return [name for name, module in names.items() if not _importable(module)]


def _importable(module: str) -> bool:
    command = (sys.executable, "-c", f"import {module}")
    return subprocess.run(command, env=environment(), capture_output=True, check=False).returncode == 0


def installed(*, build: bool) -> list[str]:
    """Install what is missing; sentences about what could not be had."""
    said: list[str] = []
    wanted = missing(NEEDED)
    for name in wanted:
        said += _with_pip(name)
    if build and missing(BUILT):
        for name in BUILT:
            said += _with_pip(name, "--no-build-isolation")
    lacking = [name for name in EXPECTED if name in missing(NEEDED)]
    return [*said, *(f"{name} is not there, and the bundle does not bring it" for name in lacking)]


def _with_pip(name: str, *flags: str) -> list[str]:
    if name in EXPECTED:
        return []
    if not BUNDLE.is_dir():
        return [f"{name} is missing and there is no bundle ({BUNDLE.name}): `make gpu-bundle` makes it"]
    command = (
        sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--no-cache-dir",
        "--disable-pip-version-check", "--upgrade", "--find-links", str(BUNDLE), "--target", str(SITE), *flags, name,
    )  # fmt: skip
    try:
        done = subprocess.run(command, env=_toolkit(), capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [f"{name} was still being built after {SECONDS} s"]
    lines = (done.stdout + done.stderr).strip().splitlines()
    return [] if done.returncode == 0 else [f"{name} could not be installed: {' / '.join(lines[-3:])[:500]}"]


def _toolkit() -> dict[str, str]:
    """The environment with CUDA's toolkit on the PATH, where PyCUDA's build looks for it."""
    found = environment()
    folder = Path(found.get("CUDA_HOME") or found.get("CUDA_PATH") or "/usr/local/cuda") / "bin"
    if folder.is_dir():
        found["PATH"] = f"{folder}{os.pathsep}{found.get('PATH', '')}"
    return found
