"""What a framework may know of a call without its data: the shapes of the results, also symbolic ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.export.dispatch.family import Family
from workbench.lang import bind
from workbench.lang.algebra.folding import fold
from workbench.lang.expr import Expr, Size
from workbench.lang.operator import Operator

NonNegative = Callable[[Any], Any]


def result_shapes(
    family: Family, given: Sequence[Any], named: Mapping[str, Any], non_negative: NonNegative
) -> tuple[Operator, list[list[Any]]]:
    """The operator for the element types of a call, and the shape of each of its results.

    `given` are the parameters, then what is updated; of arrays only shape and dtype are looked at.  `non_negative`
    makes an extent 0 that is less.  CallError as a call in Python raises it.
    """
    op = family.op
    updated = list(given[len(op.parameters) :])
    out = tuple(updated.pop(0) if op.tensors[o].role == "inout" else None for o in op.outputs)
    bound = bind(op, tuple(given[: len(op.parameters)]), named, out)
    extents = [bound.op.tensors[name].extent for name in op.outputs]
    return bound.op, [[_extent(e, bound.sizes, non_negative) for e in each] for each in extents]


def placeholder(kind: str) -> Any:
    """A number that every type of a kind has: what a number is does not change shapes."""
    return False if kind == "bool" else 0


def _extent(extent: Expr, sizes: dict[str, Any], non_negative: NonNegative) -> Any:
    return sizes[extent.name] if isinstance(extent, Size) else non_negative(fold(extent, sizes))
