"""Axes of an operator that may be cut: it computes a part of the results from a part of the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench.lang.expr import Const, Expr, Index, Read, Size, children, reads, size_names
from workbench.lang.operator import For, Operator, Range, Statement, Step

Axis = dict[str, int]
"""Tensor → which of its dimensions the axis is."""


def separable_axes(op: Operator) -> list[Axis]:
    """The axes that every output has, that nothing is summed over, and whose length and place no value depends on."""
    found = [_dimensions(op, size) for size in op.size_names]
    return [axis for size, axis in zip(op.size_names, found, strict=True) if axis and _separable(op, size, axis)]


def _dimensions(op: Operator, size: str) -> Axis | None:
    """Where the dimensions of a size are; None if one tensor has two, or a length is computed from it."""
    axis: Axis = {}
    for name, tensor in op.tensors.items():
        for dimension, extent in enumerate(tensor.extent):
            if size not in size_names(extent):
                continue
            if not _is_size(extent, size) or name in axis or not _is_zero(tensor.lower[dimension]):
                return None
            axis[name] = dimension
    return axis


def _separable(op: Operator, size: str, axis: Axis) -> bool:
    if not set(op.outputs) <= axis.keys() or any(size in size_names(c.expr) for c in op.conditions):
        return False
    for promise in op.promises:
        of_the_whole = promise.kind == "injective" and promise.tensor in axis
        if of_the_whole or any(size in size_names(e) for e in promise.arguments):
            return False
    if any(size in _range_sizes(loop.axis) for loop in _loops(op.body)):
        return False
    return all(_passes(statement, size, axis) for statement in op.statements())


def _passes(statement: Statement, size: str, axis: Axis) -> bool:
    """Whether a statement does to each place of the axis what it does to the others, and touches that place alone."""
    inside = [s for target in statement.targets for s in target.subscripts]
    values = [*statement.values, *([statement.condition] if statement.condition is not None else ())]
    touched = [*((t.tensor, t.subscripts) for t in statement.targets),
               *((r.tensor, r.subscripts) for r in reads(*values, *inside))]  # fmt: skip
    own = {subscripts[axis[tensor]] for tensor, subscripts in touched if tensor in axis}
    if not own:
        return all(size not in _range_sizes(r) for r in statement.ranges) and not _uses_size(values + inside, size)
    (first, *more) = own
    if more or not isinstance(first, Index) or not all(t.tensor in axis for t in statement.targets):
        return False
    along = next(r for r in statement.ranges if r.index == first.name)
    if along.kind != "free" or not _is_zero(along.lower) or not _is_size(along.upper, size):
        return False
    others = [r for r in statement.ranges if r is not along]
    if any(size in _range_sizes(r) or first.name in r.bounding for r in others) or _uses_size(values + inside, size):
        return False
    rest = [*_outside(touched, axis), *values]
    return all(first.name not in _index_names_but_along(e, axis) for e in rest)


def _outside(touched: Iterable[tuple[str, tuple[Expr, ...]]], axis: Mapping[str, int]) -> Iterator[Expr]:
    """The subscripts that are not those of the axis."""
    for tensor, subscripts in touched:
        yield from (s for d, s in enumerate(subscripts) if axis.get(tensor) != d)


def _index_names_but_along(expr: Expr, axis: Mapping[str, int]) -> set[str]:
    """The indices that a value depends on, but for those that say which place of the axis is read."""
    found: set[str] = set()
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Index):
            found.add(node.name)
        own = axis.get(node.tensor) if isinstance(node, Read) else None
        waiting += [child for d, child in enumerate(children(node)) if d != own]
    return found


def _is_size(expr: Expr, name: str) -> bool:
    return isinstance(expr, Size) and expr.name == name


def _is_zero(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.value == 0


def _uses_size(exprs: Iterable[Expr], size: str) -> bool:
    return any(size in size_names(e) for e in exprs)


def _range_sizes(r: Range) -> set[str]:
    return size_names(r.lower) | size_names(r.upper)


def _loops(body: Iterable[Step]) -> Iterator[For]:
    for step in body:
        if isinstance(step, For):
            yield step
            yield from _loops(step.body)
