"""Execute every notebook of a folder and of those in it, from first cell to last; fail at the first error.

    python tools/notebooks.py notebooks [--write]

Results go nowhere unless `--write` is given: then each notebook is saved with its fresh outputs.  A notebook whose
metadata name modules that it `needs` is skipped, with a word, where they are missing.
"""

from __future__ import annotations

import argparse
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SECONDS_PER_CELL = 600


def missing(path: Path) -> list[str]:
    """Modules that a notebook needs and that are not installed."""
    needed = nbformat.read(path, as_version=4).metadata.get("workbench", {}).get("needs", [])
    return [name for name in needed if find_spec(name) is None]


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run in its own folder; raises CellExecutionError."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": path.parent}}
    client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", resources=resources)
    return client.execute()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true", help="save the outputs into the notebooks")
    options = parser.parse_args()
    failed = 0
    for path in sorted(p for p in options.folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts):
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
        print(f"{path}: {len(notebook.cells)} cells in {time.perf_counter() - started:.1f} s")
        if options.write:
            nbformat.write(notebook, path)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
