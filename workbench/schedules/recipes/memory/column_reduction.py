"""Column reduction: sums over columns, and what is computed with them, a block of columns at a time.

    for j: { for i: R(j) += Q(i) * A(i, j);  for i: A(i, j) -= Q(i) * R(j) }
    → for j_o: { for i: for j_i: R(j) += …;  for i: for j_i: A(i, j) -= … }

Rows of a block are read as they lie in memory, and a block stays in the second cache from the first sweep to the last.
"""

from __future__ import annotations

from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Sequence, Tree, statements
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.edit import at, leaf_path
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.try_steps import attempt, dim_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import distribute, reorder, split, vectorize
from workbench.schedules.transform import Transform
from workbench.target import Target

LEAST, MOST = 4, 32
"""Vectors of a strip, fewest and most."""


def with_column_blocks(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """A reduction and its neighbours in blocks of columns; unchanged if they are no such sweeps, or it is not legal."""
    place = leaf_path(schedule.tree, identifier)
    for depth in range(len(place) - 1, -1, -1):
        band = at(schedule.tree, place[:depth])
        if isinstance(band, Band) and isinstance(band.child, Sequence):
            return _in_blocks(schedule, band, target)
    return schedule


def _in_blocks(schedule: Schedule, band: Band, target: Target) -> Schedule:
    parts = band.child.children if isinstance(band.child, Sequence) else ()
    last = len(band.loops) - 1
    size = _size(schedule, band, target)
    swept = any(isinstance(part, Band) for part in parts) and all(map(_sweeps, parts))
    if not size or not swept or band.loops[last].kind != "serial":
        return schedule
    names = [schedule.program.statement(statements(part)[0]).name for part in parts]
    cut = split(loop_of(names[0], band.loops[last].name), size)
    steps: list[Transform] = [cut, *(distribute(name, loop=cut.inner.loop) for name in names[1:])]
    for name, part in zip(names, parts, strict=True):
        lanes = cut.inner.around(name)
        if isinstance(part, Band):
            steps.append(reorder(lanes.beside(part.loops[0].name), lanes))
        steps.append(vectorize(lanes))
    return attempt(schedule, *steps)


def _sweeps(part: Tree) -> bool:
    """Whether it is a statement, or one in a single loop."""
    if isinstance(part, Band):
        return isinstance(part.child, Leaf) and len(part.loops) == 1 and part.loops[0].kind == "serial"
    return isinstance(part, Leaf)


def _size(schedule: Schedule, band: Band, target: Target) -> int:
    """Columns of a block that half of the second cache holds; 0 where the accesses do not follow the columns.

    Where a cell is kept for one column only, none are taken together unless a tuner wants it so.
    """
    program, last = schedule.program, len(band.loops) - 1
    found = [(structure(program, s), dim_of(band, last, s)) for s in statements(band)]
    swept = [(shape, column) for shape, column in found if column and _along(program, shape, column)]
    if len(swept) < len(found):
        return 0
    widest = max(v.dtype.bytes for shape, _ in swept for v in shape.statement.values)
    lanes = target.lanes(8 * widest)
    vectors = target.cache_bytes[1] // 2 // max(1, lanes * max(_row_bytes(band, shape) for shape, _ in swept))
    single = any(w.along(column) == 0 for shape, column in swept for w in shape.writes)
    usual = 0 if single else max(LEAST, min(MOST, vectors))
    trips = [trip for shape, column in swept if (trip := shape.trip(column)) is not None]
    options = [n for n in (0, 1, 2, 4, 8, 16, 32, 64) if n * lanes <= min(trips, default=n * lanes)]
    return lanes * decide(f"{swept[0][0].statement.name}_strip_vectors", usual, options)


def _along(program: Program, shape: Structure, column: str) -> bool:
    """Whether a statement writes neighbouring columns, or a cell of one column's own, and reads nothing across."""
    cells = [w.along(column) == 1 or (w.along(column) == 0 and _local(program, w.array)) for w in shape.writes]
    return all(cells) and all(r.along(column) in (0, 1) for r in shape.reads)


def _local(program: Program, array: str) -> bool:
    return program.arrays[array].scope == "local"


def _row_bytes(band: Band, shape: Structure) -> int:
    """Bytes of a column that a statement sweeps."""
    around = [dim_of(band, n, shape.statement.id) for n in range(len(band.loops))]
    trips = [shape.trip(d) or 0 for d in shape.statement.dims if d not in around]
    return max(v.dtype.bytes for v in shape.statement.values) * max(trips, default=1)
