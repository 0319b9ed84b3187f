"""Row fusion: sums over rows of a large array that other nests walk by rows too stay beside them.

    for m: for n: s(m) += g(n) * D(m, n);   for m: for n: X(m, n) = s(m) * D(m, n)
    →   for m: { for n: s(m) += …;  for n: X(m, n) = … }

Blocks of rows would read `g` less often, which is in the first cache anyway; beside the others a row of `D` comes from
memory once.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from workbench import poly
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import statements
from workbench.poly.regions.storage import array_bytes
from workbench.schedules.analysis.blocking import blocking
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.try_steps import top
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target


@lru_cache(maxsize=256)
def row_sums(program: Program, target: Target) -> frozenset[str]:
    """The sums over rows (by id) that read a large array which other statements walk in the same way."""
    shapes = [structure(program, s.id) for s in program.statements]
    return frozenset(
        shape.statement.id
        for shape in shapes
        if _is_row_sum(program, shape, target)
        and any(_walks_alike(program, shape, other, target) for other in shapes if other is not shape)
    )


def shares_its_nest(schedule: Schedule, identifier: str) -> bool:
    """Whether the nest of a statement holds others than those that write its cells."""
    program = schedule.program
    own = {array for array, _ in program.statement(identifier).targets}
    nest = next(nest for nest in top(schedule.tree) if identifier in statements(nest))
    return any(not own & {a for a, _ in program.statement(s).targets} for s in statements(nest))


def _is_row_sum(program: Program, shape: Structure, target: Target) -> bool:
    """Whether all cells it is made for are rows: free dims outside, and what the rows share is small."""
    if shape.statement.kind != "update" or not shape.free or shape.statement.dims[: len(shape.free)] != shape.free:
        return False
    plan = blocking(shape, target)
    if plan is None or plan.form != "along":
        return False
    shared = [program.arrays[r.array].dtype.bytes for r in shape.reads if any(r.along(d) == 0 for d in shape.free)]
    return sum(shared) * prod(shape.trip(d) or 1 for d in shape.reduced) <= target.cache_bytes[0] // 2


def _walks_alike(program: Program, shape: Structure, other: Structure, target: Target) -> bool:
    """Whether both walk rows of one array that is larger than the second cache, the same rows in the same loops."""
    rows = shape.free
    dims = other.statement.dims[: len(rows)]
    if len(dims) < len(rows) or not all(
        poly.same_range(program, (shape.statement.id, a), (other.statement.id, b))
        for a, b in zip(rows, dims, strict=True)
    ):
        return False
    return any(
        mine.array == theirs.array
        and is_large(program, mine.array, target)
        and [mine.along(d) for d in rows] == [theirs.along(d) for d in dims]
        for mine in shape.reads
        if all(mine.along(d) for d in rows)
        for theirs in (*other.reads, *other.writes)
    )


def is_large(program: Program, array: str, target: Target) -> bool:
    """Whether an array does not stay in the second cache; one whose extents are symbols is taken not to."""
    size = array_bytes(program.arrays[array])
    return size is None or size > target.cache_bytes[1]

