"""A virtual environment of its own, with some of the packages that are installed here; nothing is fetched."""

from __future__ import annotations

import subprocess
import sys
import venv
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def environment(folder: Path, *packages: str) -> Path:
    """The Python of a new environment in which these packages, and what they require, stand as links."""
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    site = Path(_said(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    for package in sorted(_closure(packages)):
        for top in {str(f).split("/")[0] for f in distribution(package).files or () if not str(f).startswith("..")}:
            source = Path(str(distribution(package).locate_file(top)))
            if source.exists() and top not in ("__pycache__", "bin") and not (site / top).exists():
                (site / top).symlink_to(source)
    return python


def installed(python: Path, wheel: Path) -> None:
    """Install a wheel as pip does, without looking for anything else."""
    command = ("-m", "pip", "--python", str(python), "install", "--no-index", "--no-deps", "--quiet", str(wheel))
    _said(Path(sys.executable), *command)


def _closure(packages: tuple[str, ...]) -> set[str]:
    found: set[str] = set()
    pending = list(packages)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        try:
            requires = distribution(name).requires or ()
        except PackageNotFoundError:
            continue
        found.add(name)
        parsed = [Requirement(text) for text in requires]
        pending += [r.name for r in parsed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def _said(python: Path, *arguments: str) -> str:
    done = subprocess.run([str(python), *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
