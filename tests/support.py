"""Small helpers that tests of several rooms share (`from tests.support import examples`)."""

from __future__ import annotations

import ast
import os
import zlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import workbench

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(workbench.__file__).parent

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "ci")


def examples(*, quick: int, ci: int, full: int) -> int:
    """How many examples a property deserves in this run: `@settings(max_examples=examples(...))`."""
    return {"quick": quick, "ci": ci, "full": full}[PROFILE]


BROWSER = "tests/browser"


def place(test: str) -> str:
    """What one worker runs: a file, whose tests share what they build, or the folder that shares a browser.

    >>> place("tests/poly/programs/test_sheet.py::test_sheet[matmul]"), place("tests/browser/test_panel.py::test_undo")
    ('tests/poly/programs/test_sheet.py', 'tests/browser')
    """
    file = test.partition("::")[0]
    return BROWSER if file.startswith(f"{BROWSER}/") else file


LONG_TESTS, TURNS = ROOT / "tests" / "long_tests.txt", 4
"""The tests that are long, longest first, and in how many turns each of them runs once."""


def long_tests(text: str) -> dict[str, float]:
    """Test → seconds, as a list of them says.

    >>> long_tests("# seconds\\n  7.5 tests/a.py::test_a\\n")
    {'tests/a.py::test_a': 7.5}
    """
    rows = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    return {test: float(took) for took, test in rows}


def turn_taker(test: str) -> str:
    """What takes turns together: the cases of a test function; in the browser, where tests follow one another on a
    page, those of a file.

    >>> turn_taker("tests/a.py::test_a[3]"), turn_taker("tests/browser/test_b.py::test_c")
    ('tests/a.py::test_a', 'tests/browser/test_b.py')
    """
    return test.partition("::" if place(test) == BROWSER else "[")[0]


def sampled(tests: Sequence[str], one_in: int, turn: int = 0, long: Sequence[str] = ()) -> set[str]:
    """One in so many of the cases of each test function, and at least one; which, its name says, and whose turn it is.

    So many turns one after another have had every case.  Those of the browser follow one another on a page, case by
    case: whose turn it is there, only the turn says.  `TURNS` turns one after another have each of the `long` ones
    once: those that follow one another in the list in different turns.

    >>> sorted(sampled([f"tests/a.py::test_a[{n}]" for n in range(24)] + ["tests/a.py::test_b"], 12))
    ['tests/a.py::test_a[11]', 'tests/a.py::test_a[23]', 'tests/a.py::test_b']
    >>> sorted(sampled([f"tests/a.py::test_a[{n}]" for n in range(24)] + ["tests/a.py::test_b"], 12, turn=1))
    ['tests/a.py::test_a[0]', 'tests/a.py::test_a[12]', 'tests/a.py::test_b']
    >>> pages = [f"tests/browser/test_a.py::{test}[{name}]" for name in ("mm", "lu") for test in ("test_a", "test_b")]
    >>> sorted(sampled(pages, 2, turn=1))
    ['tests/browser/test_a.py::test_a[lu]', 'tests/browser/test_a.py::test_b[lu]']
    >>> sampled(["tests/a.py::test_a", "tests/a.py::test_b"], 2, turn=5, long=["tests/a.py::test_b"])
    {'tests/a.py::test_a'}
    """
    rank = {taker: n for n, taker in enumerate(long)}
    cases: dict[str, list[str]] = {}
    for test in tests:
        cases.setdefault(test.partition("[")[0], []).append(test)
    kept: set[str] = set()
    for function, own in cases.items():
        number, own_turn = rank.get(turn_taker(function)), turn
        if number is not None:
            if (number - turn) % TURNS:
                continue
            own_turn = turn // TURNS
        shift = 0 if place(function) == BROWSER else zlib.crc32(function.encode())
        first = (shift + own_turn) % min(len(own), one_in)
        kept.update(own[first::one_in])
    return kept


def sources(*folders: str) -> list[Path]:
    """Every Python file below the given folders of the tree, sorted."""
    return sorted(p for folder in folders for p in (ROOT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """`workbench/poly/sets/isl.py` → `workbench.poly.sets.isl`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every statement of a module, those inside others too; expressions hold none."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += reversed(getattr(node, block, ()))


def imports(text: str) -> Iterator[tuple[int, int, str]]:
    """(line, relative level, dotted name) of every import of a module's text, also those inside functions.

    `from a import b` counts as `a.b`, because b may be a module.
    """
    for node in statements(ast.parse(text)):
        match node:
            case ast.Import(names):
                yield from ((node.lineno, 0, alias.name) for alias in names)
            case ast.ImportFrom(module, names, level):
                yield from ((node.lineno, level, f"{module or ''}.{alias.name}") for alias in names)


def imported_packages(*folders: str) -> set[str]:
    """Top-level names that the Python files of some folders import."""
    found = (imports(path.read_text(encoding="utf-8")) for path in sources(*folders))
    return {name.partition(".")[0] for names in found for _, level, name in names if not level}


def allowed_skips(text: str) -> list[str]:
    """The patterns of tests/allowed_skips.txt: one a line, `*` matches anything, `#` starts a comment."""
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def unexpected_skips(skips: dict[str, str], patterns: list[str]) -> dict[str, str]:
    """Test → reason, of the skips whose reason matches no pattern."""
    return {t: reason for t, reason in skips.items() if not any(fnmatchcase(reason, p) for p in patterns)}
