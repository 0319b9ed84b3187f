"""Software prefetching: while a row is computed with, the cache is asked for one that comes later.

    for m: { for n: top max= X(m, n);  for n: Y(m, n) = exp(X(m, n) - top) }

reads each row of X from memory, then computes with it and reads nothing from there, so that memory and arithmetic take
turns.  Asking for a later row in the last loop lets them work at the same time.  Lines that are written come from
memory, too, unless they are written past the caches: a later row of Y is asked for where this one is written first.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.expr import Binary, Const, Expr, Index
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Loop, Sequence, Tree, loops, marked, statements
from workbench.schedules import steps
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import children
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.try_steps import attempt
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

ROWS = 2
"""How many rows ahead: one more than that on which the next loop begins."""

LEAST = 1 << 10
"""Bytes of a row below which the processor looks far enough ahead itself."""

NEAR = 16
"""The part of the second cache that a row may take: what is read and what is written are there three times each (this
row and two to come), beside a buffer, and other things.  Rows of an eighth pushed one another out: a softmax over
30522 words took 1.10 of its time without requests, in the last cache and beyond it.
"""


def with_row_prefetch(schedule: Schedule, target: Target) -> Schedule:
    """Requests for later rows in every nest that takes several passes over the rows of a large array."""
    past = {t for s in marked(schedule.tree, NontemporalStores) for t, _ in schedule.program.statement(s).targets}
    for outer, parts in _passes(schedule.tree):
        found: dict[str, tuple[str, Loop, int]] = {}
        seen: set[str] = set()
        for part in parts:
            inner = list(loops(part))
            if len(inner) != 1 or not isinstance(part, Band):
                continue
            rows = list(_rows(schedule.program, outer, inner[0], statements(part), target))
            name = schedule.program.statement(statements(part)[0]).name
            again = {array: cells for array, cells, role in rows if role == "input" and array in seen}
            fresh = {array: cells for array, cells, role in rows if role == "output" and array not in seen | past}
            found |= {array: (name, inner[0], cells) for array, cells in (again | fresh).items()}
            seen |= {array for array, _, _ in rows}
        if not any(schedule.program.arrays[array].role == "input" for array in found):
            continue
        for array, (name, loop, cells) in found.items():
            lanes = target.lanes(32) if loop.kind == "vector" else 1
            rows = decide(f"{name}_{array}_rows_ahead", ROWS, (0, 1, 2, 3, 4, 8))
            if rows:
                request = steps.prefetch(array, loop_of(name, loop.name), max(1, rows * cells // lanes))
                schedule = attempt(schedule, request)
    return schedule


def _passes(tree: Tree) -> Iterator[tuple[Loop, tuple[Tree, ...]]]:
    """(the loop around, what stands one after another in it) for every nest of several parts."""
    if isinstance(tree, Band) and isinstance(tree.child, Sequence):
        yield tree.loops[-1], tree.child.children
    for child in children(tree):
        yield from _passes(child)


def _dim(row: Expr) -> str:
    """The dim that a loop walks along, also inside a block of it."""
    match row:
        case Index(name, _) | Binary("%", Index(name, _), Const(), _):
            return name
    return ""


def _rows(
    program: Program, outer: Loop, inner: Loop, identifiers: tuple[str, ...], target: Target
) -> Iterator[tuple[str, int, str]]:
    """(array, cells of a row, role) for each one of which the inner loop reads or writes a row, the outer one the next.

    Only what does not stay in the second cache anyway, and of which some rows fit there.
    """
    for s in identifiers:
        shape, across, along = structure(program, s), outer.row(s), inner.row(s)
        dims = [_dim(across), getattr(along, "name", "")]
        trips = [shape.trip(d) for d in dims] if all(d in shape.statement.dims for d in dims) else [None]
        for touch, role in (*((t, "input") for t in shape.reads), *((t, "output") for t in shape.writes)):
            array = program.arrays[touch.array]
            if None in trips or array.role != role or touch.along(dims[1]) != 1:
                continue
            rows, cells = trips[0] or 0, trips[1] or 0
            size = cells * array.dtype.bytes
            near = LEAST <= size <= target.cache_bytes[1] // NEAR
            if touch.along(dims[0]) == cells and near and rows * size > target.cache_bytes[1]:
                yield touch.array, cells, role
