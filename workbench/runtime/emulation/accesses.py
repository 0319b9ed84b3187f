"""What each line of a text touches, against what the statement that stands there may touch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from workbench.codegen.kernel import Kernel
from workbench.errors import WorkbenchError
from workbench.poly.count.enumeration import touched_elements
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.emulation.findings import Finding
from workbench.schedules import Schedule

METHOD = "executor, against the accesses of the schedule"
COMMENT = re.compile(r"^(\s*)/\* ([\w.]+): .*\*/$")

Logged = Mapping[tuple[int, str], set[int]]


@record(slots=True)
class Part:
    """The lines of a text, first and last, that belong to a statement."""

    statement: str
    first: int
    last: int


def strangers(kernel: Kernel, sizes: dict[str, int], logged: Logged) -> list[Finding]:
    """Lines that touch an element which their statement never touches, wherever data might lead it.

    `logged` has the elements of the arguments by line and array.
    """
    schedule = kernel.schedule
    if not isinstance(schedule, Schedule):
        return []
    found: list[Finding] = []
    for part in statement_parts(kernel.source):
        for (line, array), elements in logged.items():
            if part.first <= line <= part.last:
                allowed = _allowed(schedule.program, part.statement, array, tuple(sorted(sizes.items())))
                if allowed is not None and not elements <= allowed:
                    found.append(_stranger(kernel, part, line, array, min(elements - allowed)))
    return found


def _stranger(kernel: Kernel, part: Part, line: int, array: str, element: int) -> Finding:
    text = kernel.source.split("\n")[line - 1].strip()
    what = f"{part.statement} has nothing to do with this element of {array}"
    return Finding(
        "wrong element", kernel.name, line, text, (None, None), 0, "", array, element, METHOD, what
    )  # fmt: skip


@lru_cache(maxsize=128)
def _allowed(program: Program, statement: str, array: str, sizes: tuple[tuple[str, int], ...]) -> frozenset[int] | None:
    """The elements that a statement (by name) may touch; None if it is not known here."""
    own = next((s for s in program.statements if s.name == statement), None)
    if own is None or array not in program.arrays or program.arrays[array].scope == "local":
        return None
    try:
        return touched_elements(program, own.id, array, {name: dict(sizes)[name] for name in program.symbols})
    except (WorkbenchError, KeyError):
        return None


def statement_parts(source: str) -> list[Part]:
    """The statements of a text: what stands below a comment that names one, to its semicolon or closing brace.

    >>> statement_parts("  /* C: C(m) = A(m) */\\n  C[m] =\\n      A[m];\\n  D[m] = 0;")
    [Part(statement='C', first=2, last=3)]
    """
    lines = source.split("\n")
    found: list[Part] = []
    for n, line in enumerate(lines):
        comment = COMMENT.match(line)
        if comment and comment[1] and n + 1 < len(lines):
            found.append(Part(comment[2], n + 2, _end(lines, n + 1, comment[1])))
    return found


def _end(lines: list[str], start: int, indent: str) -> int:
    """The number of the line in which a statement ends that begins in line `start` (from 0)."""
    for n in range(start, len(lines)):
        own = lines[n].startswith(indent) and not lines[n].startswith(f"{indent} ")
        if lines[n].endswith("{") and own:
            return next((k + 1 for k in range(n, len(lines)) if lines[k] == f"{indent}}}"), n + 1)
        if lines[n].endswith(";"):
            return n + 1
    return start + 1


def elements_by_line(
    log: np.ndarray, line_of: Callable[[int], int], names: tuple[str, ...]
) -> dict[tuple[int, str], set[int]]:
    """(line, array) → elements, of a launch's log: rows of site, region, element."""
    found: dict[tuple[int, str], set[int]] = {}
    for site, region in {(int(s), int(r)) for s, r in np.unique(log[:, :2], axis=0)}:
        rows = log[(log[:, 0] == site) & (log[:, 1] == region), 2]
        found.setdefault((line_of(site), names[region]), set()).update(np.unique(rows).tolist())
    return found
