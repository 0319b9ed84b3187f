"""What the views must show, computed from the program and its schedule without the panel's code."""

from __future__ import annotations

from typing import Any

import workbench as wb
from tests.viz.panels.traced_c import order_in_c
from workbench.lang.algebra.folding import fold
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import loops, path

Instance = tuple[str, tuple[int, ...]]


def own(program: Program, name: str) -> ProgramStatement:
    """The statement of a name."""
    return next(s for s in program.statements if s.name == name)


def touched(program: Program, at: Instance) -> dict[str, set[str]]:
    """The cells that an instance reads and writes, as the panel names them."""
    statement = own(program, at[0])
    known = {**program.sizes, **dict(zip(statement.dims, at[1], strict=True))}
    found: dict[str, set[str]] = {"read": set(), "write": set()}
    for access in statement.accesses:
        found[access.kind].add(f"{access.array}({', '.join(str(fold(e, known)) for e in access.subscripts)})")
    return found


def around(schedule: wb.Schedule, statement: str) -> list[str]:
    """The loops around a statement, from the outside."""
    return [loop.name for loop in path(schedule.tree, own(schedule.program, statement).id)]


def in_order(schedule: wb.Schedule, sizes: dict[str, int]) -> list[Instance]:
    """Every instance in the order in which the generated and compiled C comes by it, at small sizes."""
    bound = wb.schedule(schedule.program.definition, sizes)
    for step in schedule.trace:
        bound = bound | step
    names = {s.id: s.name for s in bound.program.statements}
    return [(names[statement], instance) for statement, instance in order_in_c(bound)]


def depend(program: Program, a: Instance, b: Instance, array: str) -> bool:
    """Whether both touch one cell of an array and one of them writes it."""
    cells = []
    for at in (a, b):
        found = touched(program, at)
        cells.append({kind: {c for c in found[kind] if c.startswith(f"{array}(")} for kind in found})
    one, other = cells
    return bool(one["write"] & (other["read"] | other["write"]) or one["read"] & other["write"])


def date(schedule: wb.Schedule, at: Instance) -> dict[str, int]:
    """Loop → the time of an instance there, from the outside in."""
    statement = own(schedule.program, at[0])
    known = {**schedule.program.sizes, **dict(zip(statement.dims, at[1], strict=True))}
    return {loop.name: fold(loop.row(statement.id), known) for loop in path(schedule.tree, statement.id)}


def goes_wrong(schedule: wb.Schedule, wrong: dict[str, Any]) -> bool:
    """Whether a told pair runs at once or the wrong way round in a schedule."""
    source, target = ((wrong[end], tuple(p)) for end, p in zip(("source", "target"), wrong["pairs"][0], strict=True))
    first, second = date(schedule, source), date(schedule, target)
    shared = [name for name in first if name in second]
    kinds = {loop.name: loop.kind for loop in loops(schedule.tree)}
    for name in shared:
        if first[name] != second[name]:
            return first[name] > second[name] or kinds[name] != "serial"
    return wrong["source"] != wrong["target"]
