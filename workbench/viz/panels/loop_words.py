"""What the loops of a panel say that they count: nothing that names itself, and that one iteration is one."""

from __future__ import annotations

import re
from dataclasses import replace

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Loop
from workbench.poly.regions.extents import first_values, runs_once
from workbench.schedules.schedule_text import loop_value

ONCE = ", one iteration"


def one_iteration(program: Program, outside: tuple[Loop, ...], loop: Loop) -> bool:
    """Whether a loop is known to have one iteration wherever it stands; False where there was no time to know."""
    try:
        return runs_once(program, outside, loop)
    except WorkbenchError:
        return False


def loop_words(program: Program, outside: tuple[Loop, ...], loop: Loop) -> str:
    """What follows the name of a loop; nothing for a plain dim.

    ` = m / 32`; ` counts i + t` where a dim has the loop's own name; `, 2 ahead` of a copy for a later iteration;
    `, from 0/1` of threads, whose first the code calls 0.
    """
    apart = _ahead(program, loop)
    early = {s for statements in apart.values() for s in statements}
    value = loop_value(program, replace(loop, rows=tuple(x for x in loop.rows if x[0] not in early)))
    counts = " counts " if re.search(rf"\b{re.escape(loop.name)}\b", value) else " = "
    told = f"{counts}{value}" if value else ""
    for distance, statements in apart.items():
        names = " and ".join(program.statement(s).name for s in statements)
        who = "" if len(statements) == len(loop.rows) else f"{names} "
        told += f", {who}{abs(distance)} {'ahead' if distance < 0 else 'behind'}"
    return told + _range_words(program, outside, loop, bool(early))


def _ahead(program: Program, loop: Loop) -> dict[int, list[str]]:
    """Distance → statements that a step made for this loop (their dim has its name) and that run so far from it."""
    written = {s.id for s in program.original.statements}
    found: dict[int, list[str]] = {}
    for statement, _ in loop.rows:
        text = loop_value(program, replace(loop, rows=((statement, loop.row(statement)),)))
        shifted = re.fullmatch(rf"{re.escape(loop.name)} ([+-]) (\d+)", text)
        if shifted and statement not in written:
            found.setdefault(int(shifted[1] + shifted[2]), []).append(statement)
    return found


def _range_words(program: Program, outside: tuple[Loop, ...], loop: Loop, early: bool) -> str:
    """What is before the first iteration of others, and where first threads are not everywhere the same."""
    try:
        limits = poly.row_range(program, loop) if early else None
        firsts = first_values(program, outside, loop) if loop.kind.startswith("thread.") else None
    except WorkbenchError:
        return ""
    if limits and limits[1] < 0:
        return f", from {limits[0]} to {limits[1]}"
    if firsts is None or firsts[0] == firsts[1]:
        return ""
    return f", from {firsts[0]}{'/' if firsts[1] == firsts[0] + 1 else ' … '}{firsts[1]}"
