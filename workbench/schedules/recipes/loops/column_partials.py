"""Partial column sums: those of a large array are taken where its rows are walked, one for each block of rows.

    for m: for n: X(m, n) = …;   for n: for m: g(n) += X(m, n)
    →   for m_o: { for n: part(m_o, n) = 0;  for m_i: for n: { X(m, n) = …;  part(m_o, n) += X(m, n) } }
        for m_o: for n: g(n) += part(m_o, n)

A row comes from memory once, and blocks of rows go to threads; the parts are a small fraction of the rows.  The
backward operators of whatever adds a bias or scales columns have this shape.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from workbench import poly
from workbench.errors import ScheduleError
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Tree, statements
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.loops.fusion import heavy
from workbench.schedules.recipes.memory.row_fusion import is_large
from workbench.schedules.recipes.try_steps import attempt, dim_of, ordered, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import decompose_reduction, merge, split, split_reduction
from workbench.target import Target

FEWEST, MOST = 32, 256
"""Rows of a block: the parts are written and read once for so many rows."""

BLOCKS = 8
"""Blocks for each core, at least: what one core lacks another takes."""


def with_partial_column_sums(schedule: Schedule, target: Target) -> Schedule:
    """Sums over columns taken beside the rows they are of; unchanged where there are none, or it is not legal."""
    for nest in top(schedule.tree):
        sums = _columns_of(schedule, nest, target)
        if isinstance(nest, Band) and sums:
            after = _beside(schedule, nest, sums, target)
            if after is not None and after.verdict:
                return after
    return schedule


def _columns_of(schedule: Schedule, nest: Tree, target: Target) -> list[Structure]:
    """Sums over columns, each in a nest of its own further on, that read what the nest walks by rows."""
    program, nests = schedule.program, top(schedule.tree)
    if not isinstance(nest, Band) or heavy(program, nest, target) or nest.loops[0].kind != "serial":
        return []
    later = nests[nests.index(nest) + 1 :]
    alone = [own[-1] for own in map(statements, later) if len(own) == 2 and program.statement(own[-1]).kind == "update"]
    shapes = [shape for s in alone if _is_column_sum(shape := structure(program, s))]
    found = [shape for shape in shapes if _walks_rows(program, nest, shape, target)]
    found = [shape for shape in found if _alike(program, found[0], shape)]
    cells = sum((shape.trip(shape.free[0]) or 0) * shape.statement.values[0].dtype.bytes for shape in found)
    return found if cells <= target.cache_bytes[0] // 2 else []


def _is_column_sum(shape: Structure) -> bool:
    """Whether it adds rows up: one dim runs along memory, the other from row to row."""
    if len(shape.free) != 1 or len(shape.reduced) != 1 or None in (shape.trip(d) for d in shape.statement.dims):
        return False
    (column,) = shape.free
    return all(w.along(column) == 1 for w in shape.writes) and all(r.along(column) in (0, 1) for r in shape.reads)


def _walks_rows(program: Program, nest: Band, shape: Structure, target: Target) -> bool:
    """Whether the outermost loop of a nest walks, row by row, a large array that is summed up."""
    (column,), (row,) = shape.free, shape.reduced
    rows = {r.array: r.along(row) for r in shape.reads if r.along(column) == 1 and r.along(row)}
    rows = {array: step for array, step in rows.items() if is_large(program, array, target)}
    return any(
        rows.get(touch.array) == touch.along(dim)
        for s, dim in _outermost(program, nest, shape)
        for touch in (*structure(program, s).reads, *structure(program, s).writes)
        if touch.array in rows
    )


def _outermost(program: Program, nest: Band, shape: Structure) -> Iterator[tuple[str, str]]:
    """The statements of a nest whose outermost dim has the range of the rows, with that dim."""
    for s in statements(nest):
        dim = dim_of(nest, 0, s)
        if dim and poly.same_range(program, (shape.statement.id, shape.reduced[0]), (s, dim)):
            yield s, dim


def _alike(program: Program, one: Structure, other: Structure) -> bool:
    """Whether two sums run over the same rows and columns."""
    pairs = zip((*one.free, *one.reduced), (*other.free, *other.reduced), strict=True)
    return all(poly.same_range(program, (one.statement.id, a), (other.statement.id, b)) for a, b in pairs)


def _beside(schedule: Schedule, nest: Band, sums: list[Structure], target: Target) -> Schedule | None:
    first, names = sums[0], [shape.statement.name for shape in sums]
    (column,), (row,) = first.free, first.reduced
    size = _block(first.trip(row) or 0, target)
    own = [schedule.program.statement(s).name for s in statements(nest)]
    if not size:
        return None
    try:
        for name in names:
            schedule = decompose_reduction(name).on(schedule)
        for one, other in pairwise(names):
            schedule = merge(one, other, depth=2).on(schedule)
        schedule = ordered(schedule, names[0], (row, column))
        schedule = split_reduction(loop_of(names[0], row), size).on(schedule)
        schedule = split(loop_of(own[0], nest.loops[0].name), size).on(schedule)
        parts = next(nest for nest in top(schedule.tree) if first.statement.id in statements(nest))
        begins = schedule.program.statement(statements(parts)[0]).name
        schedule = merge(own[-1], begins).on(schedule)
        schedule = merge(own[-1], names[0]).on(schedule)
    except ScheduleError:
        return None
    return attempt(schedule, merge(own[-1], names[0]))


def _block(rows: int, target: Target) -> int:
    """Rows of a block, a power of two; 0 where there are too few rows for blocks."""
    most = min(MOST, rows // (BLOCKS * target.cores))
    return 1 << (most.bit_length() - 1) if most >= FEWEST else 0
