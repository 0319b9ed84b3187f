"""Sizes with which an operator can be called: for examples, and for tests of what was exported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.export.dispatch.family import Family
from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Const
from workbench.lang.operator import Operator
from workbench.ops import examples

MOST_CELLS = 1 << 24
TRIED = (8, 16, 12, 6, 4, 3, 2, 1, 32, 64, 5, 7)


def element_count(op: Operator, name: str, sizes: dict[str, int]) -> int:
    """How many elements an array has."""
    cells = 1
    for extent in op.tensors[name].extent:
        cells *= max(0, fold(extent, sizes))
    return cells


def example_sizes(family: Family) -> dict[str, int]:
    """Sizes that the operator takes and that are worth an example: small ones, or those of a variant."""
    return next(iter(sizes_taken(family, _candidates(family))), dict.fromkeys(family.symbols, 1))


def sizes_taken(
    family: Family, candidates: Iterable[dict[str, int]], most_cells: int = MOST_CELLS
) -> Iterator[dict[str, int]]:  # fmt: skip
    """Those of some sizes with which the operator can be called, and has something to do."""
    op, tensors = family.op, family.op.tensors
    named = [t for n, t in tensors.items() if n in family.inputs or n in op.outputs]
    for sizes in candidates:
        if set(sizes) != set(family.symbols) or not all(fold(c.expr, sizes) for c in op.conditions):
            continue
        extents = [fold(e, sizes) for t in named for e in t.extent if not isinstance(e, Const)]
        if all(e > 0 for e in extents) and sum(element_count(op, t.name, sizes) for t in named) <= most_cells:
            yield sizes


def _candidates(family: Family) -> Iterator[dict[str, int]]:
    yield from (v.sizes for v in family.every_variant)
    scalars = family.fallbacks[0].sizes
    for number in TRIED:
        for scalar in (1, 0, 2):
            yield {**dict.fromkeys(family.op.size_names, number), **dict.fromkeys(family.op.scalars, scalar), **scalars}
    yield from examples(family.op)
