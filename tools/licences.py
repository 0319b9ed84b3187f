"""Write docs/licences.md: the licence of every package that `make` or an extra installs.

    python tools/licences.py

Locked packages are read from the metadata of this environment; those of the extras, which are not locked, stand in
`EXTRAS`, those that only `make docs` installs in `SITE`.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageMetadata, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "licences.md"
BUNDLED = ROOT / "workbench" / "viz" / "panels" / "static" / "panel.licences.txt"

# Package of an extra → (extra, licence, note).
EXTRAS = {
    "cuda-bindings": ("cuda-bindings", "Apache-2.0", "calls NVIDIA's driver"),
    "jax": ("jax", "Apache-2.0", ""),
    "nvidia-cuda-nvrtc": (
        "cuda",
        "NVIDIA licence",
        "closed source, used where it is installed; nothing of it is distributed with the workbench",
    ),
    "onnx": ("onnx", "Apache-2.0", ""),
    "onnxruntime": ("onnx", "MIT", ""),
    "onnxscript": ("onnx", "MIT", "torch.onnx.export is written with it"),
    "pycuda": ("cuda", "MIT", "uses the CUDA toolkit, which is NVIDIA's own licence"),
    "torch": ("torch", "BSD-3-Clause", "its CUDA builds bring NVIDIA's libraries under NVIDIA's licence"),
    "xgboost": ("outside Linux", "Apache-2.0", "what xgboost-cpu is on Linux: the build without CUDA"),
}

# What only `make docs` installs, package → (licence, note).
SITE = {
    "accessible-pygments": ("BSD-3-Clause", ""),
    "alabaster": ("BSD-3-Clause", ""),
    "docutils": ("Public Domain, BSD-2-Clause", "its wheel is without the editor's mode that has another licence"),
    "imagesize": ("MIT", ""),
    "jupyter-cache": ("MIT", ""),
    "markdown-it-py": ("MIT", ""),
    "mdit-py-plugins": ("MIT", ""),
    "mdurl": ("MIT", ""),
    "myst-nb": ("BSD-3-Clause", ""),
    "myst-parser": ("MIT", ""),
    "pydata-sphinx-theme": (
        "BSD-3-Clause",
        "the built site contains Bootstrap (MIT) and Font Awesome (code MIT, fonts OFL-1.1, icons CC-BY-4.0)",
    ),
    "roman-numerals": ("0BSD OR CC0-1.0", ""),
    "snowballstemmer": ("BSD-3-Clause", ""),
    "sphinx": ("BSD-2-Clause", ""),
    "sphinx-copybutton": ("MIT", ""),
    "sphinx-design": ("MIT", ""),
    "sphinxcontrib-applehelp": ("BSD-2-Clause", ""),
    "sphinxcontrib-devhelp": ("BSD-2-Clause", ""),
    "sphinxcontrib-htmlhelp": ("BSD-2-Clause", ""),
    "sphinxcontrib-jsmath": ("BSD-2-Clause", ""),
    "sphinxcontrib-qthelp": ("BSD-2-Clause", ""),
    "sphinxcontrib-serializinghtml": ("BSD-2-Clause", ""),
    "tabulate": ("MIT", ""),
}

NOTES = {
    "certifi": "data only: certificate authorities",
    "islpy": "the wheel contains isl (MIT), built with imath (MIT) instead of GMP (LGPL)",
    "matplotlib": "compatible with BSD",
    "playwright": "contains node (MIT), which runs its driver",
    "tzdata": "data only: time zones",
    "ziglang": "contains LLVM and clang (Apache-2.0 with LLVM exception) and musl, glibc and MinGW headers",
}

HEAD = """# Licences

The Tensor Workbench is under the Apache License 2.0 (`LICENSE`).  It contains no code of other projects but that of
the editors in the panel's script, named at the end.
It is used with the packages below, which are installed beside it, each under its own licence.
Written by `tools/licences.py` from the packages' metadata; a test compares.
"""


def normal(name: str) -> str:
    """A package's name as the index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(file: str = "requirements.lock") -> dict[str, str]:
    """Package → version in a lock file."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    pairs = (line.partition("==") for line in lines if "==" in line and not line.startswith("#"))
    return {normal(name): version for name, _, version in pairs}


def licence(package: PackageMetadata) -> str:
    """What a package's metadata call its licence: the expression, else a short name, else the classifiers."""
    stated = [c for c in package.get_all("Classifier", []) if c.startswith("License")]
    classifiers = [c.rpartition(" :: ")[2] for c in stated]
    text = (_field(package, "License") or "").strip().splitlines()
    short = text[0] if len(text) == 1 and len(text[0]) < 50 and text[0] != "UNKNOWN" else ""
    return _field(package, "License-Expression") or short or ", ".join(sorted(classifiers)) or "not stated"


def _field(package: PackageMetadata, name: str) -> str:
    return (package.get_all(name) or [""])[0]


def page() -> str:
    """The text of docs/licences.md."""
    lock = [f"| {name} | {licence(metadata(name))} | {NOTES.get(name, '')} |" for name in sorted(locked())]
    extras = [f"| {name} | {extra} | {lic} | {note} |" for name, (extra, lic, note) in sorted(EXTRAS.items())]
    table = ["## Installed by `make`", "", "| package | licence | note |", "|---|---|---|", *lock]
    table += ["", "## Installed by `make docs`, to build the site", "", "| package | licence | note |", "|---|---|---|"]
    table += [f"| {name} | {SITE[name][0]} | {SITE[name][1]} |" for name in sorted(locked("requirements-docs.lock"))]
    table += ["", "## Installed by an extra, on request", ""]
    table += ["| package | extra | licence | note |", "|---|---|---|---|"]
    table += extras
    table += ["", "## Within the panel's script", "", f"With their licences in `{BUNDLED.relative_to(ROOT)}`:", ""]
    return "\n".join([HEAD, *table, *bundled(), ""])


def bundled() -> list[str]:
    """A line for each package whose code is part of the panel's script."""
    heads = re.findall(r"^# (\S+) (\S+), (.+)$", BUNDLED.read_text(encoding="utf-8"), re.MULTILINE)
    return [f"- {name} {version}: {licence}" for name, version, licence in heads]


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
