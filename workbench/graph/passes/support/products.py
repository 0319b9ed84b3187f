"""Operators that are sums of products of their arguments, as their definitions say: matrix products, convolutions."""

from __future__ import annotations

from functools import lru_cache

from workbench.lang.expr import Binary, Cast, Const, Expr, Read, Select, reads
from workbench.lang.operator import Operator, Statement

Term = tuple[str, ...]
"""The float arguments that are the factors of one term, in alphabetical order, each as often as it occurs."""
Terms = frozenset[Term]

_NOTHING: Terms = frozenset()


@lru_cache(maxsize=512)
def terms_of(op: Operator) -> Terms | None:
    """The kinds of terms that the one result sums up; None if it is no sum of products with positive signs.

    A matrix product has one kind, of both its arguments; with a bias it has two.
    """
    if len(op.outputs) != 1 or op.tensors[op.outputs[0]].role != "output":
        return None
    known: dict[str, Terms] = {
        name: frozenset({(name,)}) for name in op.parameters if name in op.tensors and op.tensors[name].dtype.is_float
    }
    for step in op.body:
        if not isinstance(step, Statement) or len(step.targets) != 1 or step.reduction not in (None, "+"):
            return None
        found = _terms(step.values[0], known)
        target = step.targets[0].tensor
        if found is None:
            return None
        known[target] = found | known.get(target, _NOTHING)
    return known[op.outputs[0]]


def sums_products(op: Operator) -> bool:
    """Whether some statement sums products of several factors over an index: what is worth a narrower type."""
    found = terms_of(op)
    return (
        found is not None
        and any(len(each) > 1 for each in found)
        and any(each.reduction == "+" and each.indices("reduction") for each in op.statements())
    )


def _terms(node: Expr, known: dict[str, Terms]) -> Terms | None:
    match node:
        case Const(value):
            return _NOTHING if value == 0 else frozenset({()}) if value > 0 else None
        case Read(tensor, _):
            return known.get(tensor)
        case Cast(operand, _):
            return _terms(operand, known)
        case Binary("+", left, right):
            a, b = _terms(left, known), _terms(right, known)
            return None if a is None or b is None else a | b
        case Binary("*", left, right):
            a, b = _terms(left, known), _terms(right, known)
            return None if a is None or b is None else frozenset(tuple(sorted(x + y)) for x in a for y in b)
        case Select(condition, then, otherwise) if not any(read.tensor in known for read in reads(condition)):
            a, b = _terms(then, known), _terms(otherwise, known)
            return None if a is None or b is None else a | b
        case _:
            return None
