"""The elements of an array that the instances of a statement may touch, one by one."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lang.folding import fold
from workbench.poly import isl, unpack
from workbench.poly.program import Program
from workbench.poly.witness import fix_sizes


@isl.guarded
def touched_elements(
    program: Program, statement: str, array: str, sizes: Mapping[str, int], limit: int = 300_000
) -> frozenset[int]:
    """Places, counted from the array's first element, that a statement (by id) may read or write at these sizes.

    Where data choose the element, every one they could choose is among them.  `sizes` binds the symbols of the
    program; WorkbenchError for more than `limit` places.
    """
    own, target = program.statement(statement), program.arrays[array]
    known = {**program.sizes, **sizes}
    lower = [fold(e, known) for e in target.lower]
    strides = [fold(e, known) for e in target.strides]
    domain = isl.parse_set(own.domain)
    found: set[int] = set()
    for access in own.accesses:
        if access.array == array:
            cells = fix_sizes(isl.parse_map(access.relation).intersect_domain(domain).range(), dict(sizes))
            for point in unpack.points(cells, limit):
                found.add(sum((x - low) * step for x, low, step in zip(point, lower, strides, strict=True)))
    return frozenset(found)
