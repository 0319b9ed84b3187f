"""Operators that are `a · x + b` of one argument, cell by cell, where a and b vary along some axes only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.graph.evaluation.operators import inputs_of
from workbench.lang.dtypes import FLOAT64
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Size, Unary, reads, walk
from workbench.lang.operator import Operator, Statement
from workbench.lang.oracle.evaluation import evaluate
from workbench.lang.resolve.generics import instantiate

Found = tuple[int, frozenset[str]] | None


@lru_cache(maxsize=512)
def affine_in(op: Operator, argument: str) -> frozenset[int] | None:
    """The axes along which a and b vary, if the definition says that the one result is `a · argument + b`; else None.

    The other arguments are read at plain indices, and sizes are no part of what is computed.
    """
    if len(op.outputs) != 1 or op.tensors[op.outputs[0]].role != "output":
        return None
    if op.tensors[op.outputs[0]].extent != op.tensors[argument].extent:
        return None
    known: dict[str, tuple[int, frozenset[int]]] = {}
    for step in op.body:
        if not isinstance(step, Statement) or not _is_simple(step):
            return None
        found = _statement(step, argument, known)
        if found is None:
            return None
        known[step.targets[0].tensor] = found
    degree, axes = known[op.outputs[0]]
    return axes if degree == 1 else None


def _is_simple(step: Statement) -> bool:
    names = [each.name for each in step.targets[0].subscripts if isinstance(each, Index)]
    return len(step.targets) == 1 and step.condition is None and len(set(names)) == len(step.targets[0].subscripts)


def _statement(
    step: Statement, argument: str, known: Mapping[str, tuple[int, frozenset[int]]]
) -> tuple[int, frozenset[int]] | None:
    target = step.targets[0]
    found = _degree(step.values[0], target.subscripts, argument, known)
    if found is None or (found[0] and step.reduction is not None):
        return None
    names = [each.name for each in target.subscripts if isinstance(each, Index)]
    axes = frozenset(at for at, name in enumerate(names) if name in found[1])
    return found[0], axes | (known[target.tensor][1] if target.tensor in known else frozenset())


def _degree(
    node: Expr, own: tuple[Expr, ...], argument: str, known: Mapping[str, tuple[int, frozenset[int]]]
) -> Found:
    """The degree of a value in the argument, and the indices along which its coefficients vary."""

    def of(inner: Expr) -> Found:
        return _degree(inner, own, argument, known)

    match node:
        case Read(tensor, subscripts) if tensor == argument:
            return (1, frozenset()) if subscripts == own else None
        case Read(tensor, subscripts):
            return _read(tensor, subscripts, own, known)
        case Unary("-", operand):
            return of(operand)
        case Cast(operand, dtype) if dtype == operand.dtype:
            return of(operand)
        case Binary("+" | "-" | "*", left, right):
            return _joined(of(left), of(right), node.op == "*")
        case Binary("/", left, right) if node.dtype.is_float:
            below = of(right)
            return _joined(of(left), below, True) if below is not None and below[0] == 0 else None
        case Const():
            return 0, frozenset()
        case _:
            return _constant(node, own, argument, known)


def _joined(a: Found, b: Found, is_product: bool) -> Found:
    if a is None or b is None or (is_product and a[0] + b[0] > 1):
        return None
    return max(a[0], b[0]), a[1] | b[1]


def _read(
    tensor: str, subscripts: tuple[Expr, ...], own: tuple[Expr, ...], known: Mapping[str, tuple[int, frozenset[int]]]
) -> Found:
    if not all(isinstance(each, Index | Const) for each in subscripts):
        return None
    degree, axes = known.get(tensor, (0, frozenset(range(len(subscripts)))))
    if degree and subscripts != own:
        return None
    names = [each.name for at, each in enumerate(subscripts) if at in axes and isinstance(each, Index)]
    return degree, frozenset(names)


def _constant(
    node: Expr, own: tuple[Expr, ...], argument: str, known: Mapping[str, tuple[int, frozenset[int]]]
) -> Found:
    """A value that the argument has no part in, whatever it is otherwise."""
    inside = list(reads(node))
    values = [each for each in walk(node) if isinstance(each, Size | Index)]
    subscripts = [each for read in inside for each in read.subscripts if isinstance(each, Index)]
    if any(isinstance(each, Size) for each in values) or len(values) > len(subscripts):
        return None
    found = [_degree(each, own, argument, known) for each in inside]
    if any(each is None or each[0] for each in found):
        return None
    return 0, frozenset(name for each in found if each is not None for name in each[1])


def coefficients(
    op: Operator, argument: str, axis: int, length: int, others: Mapping[str, Any], sizes: Mapping[str, Any]
) -> tuple[Any, Any] | None:
    """(a, b) along an axis of so many cells, as float64 vectors; None where the operator refuses.

    They are what its oracle makes of 0 and of 1 in double precision, one cell in every other direction; of both at once
    where the argument has an axis of a length of its own.
    """
    extents = op.tensors[argument].extent
    own = extents[axis]
    shape = [length if each == own else int(each.value) if isinstance(each, Const) else 1 for each in extents]
    made = {name: each.astype(np.float64) if each.dtype.kind == "f" else each for name, each in others.items()}
    beside = _free_axis(op, argument, axis)
    try:
        wide = instantiate(op, dict.fromkeys(op.generic, FLOAT64)) if op.generic else op
        if beside is None:
            found = [_evaluated(wide, {**made, argument: np.full(shape, value)}, sizes) for value in (0.0, 1.0)]
        else:
            both = np.stack([np.zeros(shape), np.ones(shape)], beside).take(0, beside + 1)
            found = np.split(_evaluated(wide, {**made, argument: both}, sizes), 2, beside)
    except WorkbenchError:
        return None
    zero, one = (np.moveaxis(each, axis, 0).reshape(length, -1)[:, 0] for each in found)
    return one - zero, zero


def _free_axis(op: Operator, argument: str, axis: int) -> int | None:
    """Another axis of an argument with a length that no other argument has, none of its own, and no scalar tells."""
    extents = op.tensors[argument].extent
    others = [each for name in inputs_of(op) if name != argument for each in op.tensors[name].extent]
    for at, extent in enumerate(extents):
        alone = [*extents[:at], *extents[at + 1 :], *others]
        if at != axis and isinstance(extent, Size) and not any(extent in walk(each) for each in alone):
            return at if extent.name not in op.scalars else None
    return None


def _evaluated(op: Operator, given: Mapping[str, Any], sizes: Mapping[str, Any]) -> Any:
    typed = {name: np.asarray(given[name]).astype(op.tensors[name].dtype.numpy) for name in inputs_of(op)}
    return np.asarray(evaluate(op, **typed, **sizes), np.float64)
