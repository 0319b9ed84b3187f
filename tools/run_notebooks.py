"""Execute every notebook of a folder and of those in it, from first cell to last; fail at the first error.

    python tools/run_notebooks.py notebooks [--write]

Results are kept in `docs/_build/executed` for the documentation; with `--write` each notebook is saved with its fresh
outputs.  A notebook whose metadata name modules that it `needs` is skipped, with a word, where they are missing.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SECONDS_PER_CELL = 600
ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "_build" / "executed"
# What a notebook's outputs depend on beside its own text.
LIBRARY = (".py", ".lark", ".c", ".h", ".js", ".css")


def missing(path: Path) -> list[str]:
    """Modules that a notebook needs and that are not installed."""
    needed = nbformat.read(path, as_version=4).metadata.get("workbench", {}).get("needs", [])
    return [name for name in needed if find_spec(name) is None]


def notebooks(folder: Path) -> list[Path]:
    """Every notebook of a folder, sorted."""
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run in its own folder; raises CellExecutionError."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": path.parent}}
    client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", resources=resources)
    return client.execute()


@cache
def library() -> str:
    """A fingerprint of the library's sources."""
    files = sorted(p for p in (ROOT / "workbench").rglob("*") if p.suffix in LIBRARY)
    return sha256(b"".join(sha256(p.read_bytes()).digest() for p in files)).hexdigest()


def place(path: Path) -> Path:
    """Where the outputs of a notebook are kept: the name says of which text and which library they are."""
    key = sha256(path.read_bytes() + library().encode()).hexdigest()[:16]
    return KEPT / f"{path.stem}-{key}.ipynb"


def keep(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Keep what came of a notebook, in place of what came of it before."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    nbformat.write(notebook, place(path))


def executed(path: Path) -> nbformat.NotebookNode:
    """A notebook with its outputs, executed now unless they are kept; raises CellExecutionError."""
    if not place(path).exists():
        keep(path, execute(path))
    return nbformat.read(place(path), as_version=4)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="save the outputs into the notebooks")
    options = parser.parse_args()
    failed = 0
    for path in notebooks(options.folder):
        if lacking := missing(path):
            print(f"{path}: skipped, install {', '.join(lacking)}")
            continue
        started = time.perf_counter()
        try:
            notebook = execute(path)
        except CellExecutionError as error:
            failed += 1
            print(f"FAILED {path}\n{error}", file=sys.stderr)
            continue
        print(f"{path}: {len(notebook.cells)} cells in {time.perf_counter() - started:.1f} s", flush=True)
        keep(path, notebook)
        if options.write:
            nbformat.write(notebook, path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
