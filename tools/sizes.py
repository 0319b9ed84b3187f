"""The size table: how long files and functions of the library are, and which are the longest.

Meant: files near 150 lines, functions under 10.  `tests/test_house.py` refuses what exceeds the limits.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

FILE_LINES = 300
FUNCTION_LINES = 50

Sized = tuple[int, str]


def files(folder: Path) -> Iterator[Sized]:
    """(lines, path) of every Python file below a folder."""
    for path in sorted(folder.rglob("*.py")):
        yield len(path.read_text(encoding="utf-8").splitlines()), str(path.relative_to(folder.parent))


def functions(folder: Path) -> Iterator[Sized]:
    """(lines without docstring, "path:line name") of every function below a folder."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield _length(node), f"{path.relative_to(folder.parent)}:{node.lineno} {node.name}"


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from `def` to the end, less the docstring."""
    first = function.body[0]
    described = ast.get_docstring(function, clean=False) is not None
    docstring = (first.end_lineno or 0) - first.lineno + 1 if described else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def _row(kind: str, sized: list[Sized]) -> str:
    lengths = sorted(length for length, _ in sized if length)
    tenth = lengths[int(0.9 * (len(lengths) - 1))]
    median = statistics.median(lengths)
    return f"{len(lengths):5} {kind:9}  median {median:4.0f}   p90 {tenth:4}   max {lengths[-1]:4}"


def main() -> int:
    folder = Path(__file__).resolve().parent.parent / "workbench"
    tables = {"files": list(files(folder)), "functions": list(functions(folder))}
    print(f"{sum(length for length, _ in tables['files']):5} lines in workbench/")
    for kind, sized in tables.items():
        print(_row(kind, sized))
        for length, where in sorted(sized, reverse=True)[:5]:
            print(f"        {length:4}  {where}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
