"""Execute every notebook of a folder and of those in it, from first cell to last; fail at the first error.

    python tools/run_notebooks.py notebooks [--store]

What is stored in a notebook must be what it gives now (`stored_outputs.py` says how far), else it fails; `--store`
stores it.  Results are kept in `docs/_build/executed` for the documentation.  A notebook whose metadata name modules
that it `needs` is skipped, with a word, where they are missing.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import nbformat
import stored_outputs
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

SECONDS_PER_CELL = 600
ROOT = Path(__file__).resolve().parent.parent
PROCESSOR = "WORKBENCH_PROCESSOR"
KEPT = ROOT / "docs" / "_build" / "executed"
# What a notebook's outputs depend on beside its own text.
LIBRARY = (".py", ".lark", ".c", ".h", ".js", ".css")


def missing(path: Path) -> list[str]:
    """Modules that a notebook needs and that are not installed."""
    needed = nbformat.read(path, as_version=4).metadata.get("workbench", {}).get("needs", [])
    return [name for name in needed if find_spec(name) is None]


def notebooks(folder: Path) -> list[Path]:
    """Every notebook of a folder, sorted; of a notebook itself."""
    if folder.is_file():
        return [folder]
    return sorted(p for p in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs, run in its own folder; raises CellExecutionError."""
    return _run(nbformat.read(path, as_version=4), path)


def _run(notebook: nbformat.NotebookNode, path: Path) -> nbformat.NotebookNode:
    resources = {"metadata": {"path": path.parent}}
    client = NotebookClient(notebook, timeout=SECONDS_PER_CELL, kernel_name="python3", resources=resources)
    return client.execute()


def execute_elsewhere(path: Path) -> nbformat.NotebookNode:
    """The same as if on a lesser processor with one core and, where the notebook does not need it, without PyTorch."""
    notebook = nbformat.read(path, as_version=4)
    needs = notebook.metadata.get("workbench", {}).get("needs", [])
    hidden = [name for name in ("torch", "jax", "onnxruntime") if name not in needs]
    first = nbformat.v4.new_code_cell(f"import sys\nsys.modules.update(dict.fromkeys({hidden}))")
    notebook.cells.insert(0, first)
    with _lesser_machine():
        _run(notebook, path)
    del notebook.cells[0]
    return notebook


@contextmanager
def _lesser_machine() -> Iterator[None]:
    """For kernels that are started meanwhile: one core, and a kind of processor that has no AVX-512."""
    usable = os.sched_getaffinity(0)
    os.environ[PROCESSOR] = "avx2"
    os.sched_setaffinity(0, {min(usable)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, usable)
        del os.environ[PROCESSOR]


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


def store(path: Path, fresh: nbformat.NotebookNode) -> str:
    """Store the outputs of a run in a notebook; what there is to say of it."""
    before = path.read_text(encoding="utf-8")
    made = stored_outputs.store(nbformat.read(path, as_version=4), fresh, execute_elsewhere(path))
    nbformat.write(made, path)
    return "stored" if path.read_text(encoding="utf-8") != before else "as it was"


def stale(path: Path, fresh: nbformat.NotebookNode) -> list[str]:
    """What is stored and is not what comes of a notebook now, as texts.

    A cell that gives something else is executed once more with all others: what changes between two runs on one machine
    (a search that a busy machine ended early) says nothing of what is stored.
    """
    kept = nbformat.read(path, as_version=4)
    if not (names := stored_outputs.stale(kept, fresh)):
        return []
    again = execute(path)
    cells = {cell.id: (cell, now, later) for cell, now, later in zip(kept.cells, fresh.cells, again.cells, strict=True)}
    found = []
    for name in names:
        cell, now, later = cells[name]
        if stored_outputs.same(now, later, stored_outputs.strictness_of(cell)):
            what = stored_outputs.difference(cell, now)
            found.append(f"{path}, cell {name}: stored outputs are not what it gives\n{what}")
        else:
            print(f"{path}, cell {name}: two runs gave two outputs, none of which is stored")
    return found


def ran(path: Path, *, storing: bool) -> bool:
    """Execute a notebook, compare or store what came of it; whether all was well."""
    started = time.perf_counter()
    try:
        notebook = execute(path)
        said, wrong = (store(path, notebook), []) if storing else ("", stale(path, notebook))
    except CellExecutionError as error:
        print(f"FAILED {path}\n{error}", file=sys.stderr)
        return False
    print(f"{path}: {len(notebook.cells)} cells in {time.perf_counter() - started:.1f} s {said}".rstrip(), flush=True)
    keep(path, notebook)
    for words in wrong:
        print(f"FAILED {words}\n  make outputs", file=sys.stderr)
    return not wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+", help="folders, or single notebooks")
    parser.add_argument("--store", action="store_true", help="store the outputs in the notebooks")
    options = parser.parse_args()
    if options.store and not find_spec("torch"):
        parser.error("install torch, as CI has it: what notebooks show beside it is stored too")
    well = True
    for path in (p for folder in options.folder for p in notebooks(folder)):
        if lacking := missing(path):
            print(f"{path}: skipped, install {', '.join(lacking)}")
            continue
        well &= ran(path, storing=options.store)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
