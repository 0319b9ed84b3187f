"""Quotients and remainders that known sizes settle: `(d·b) % s` is `b` for `d = 1` where `b < s`."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.expr import Binary, Const, Expr, Index, Read, transform, walk
from workbench.lang.facts import Facts
from workbench.lang.intervals import Interval, highest, lowest
from workbench.lang.normal_form import is_index_arithmetic, polynomial, simplify
from workbench.lang.operator import Statement, Target
from workbench.poly.binding import Bound
from workbench.poly.program import Array

Spans = dict[str, Interval]


def settled(bound: Bound, arrays: dict[str, Array], statement: Statement) -> Statement:
    """The statement with subscripts without divisions whose quotient is 0 for all its indices.

    A target of which `!` sets every cell keeps its subscripts unless its indices reach every cell.
    """
    every = (*(e for t in statement.targets for e in t.subscripts), *statement.values)
    if not any(_divides(node) for e in every for node in walk(e)):
        return statement
    spans = {
        r.index: Interval(polynomial(bound.shape(r.lower)), polynomial(bound.shape(r.upper))) for r in statement.ranges
    }

    def read(node: Expr) -> Expr:
        if not isinstance(node, Read):
            return node
        return replace(node, subscripts=tuple(_settled(e, bound, spans) for e in node.subscripts))

    targets = tuple(Target(t.tensor, tuple(_settled(e, bound, spans) for e in t.subscripts)) for t in statement.targets)
    if statement.initialise and not all(_covers(arrays[t.tensor], t, spans) for t in targets):
        targets = statement.targets
    return replace(statement, targets=targets, values=tuple(transform(e, read) for e in statement.values))


def _divides(node: Expr) -> bool:
    return isinstance(node, Binary) and node.op in ("/", "%") and node.dtype.kind == "int"


def _settled(subscript: Expr, bound: Bound, spans: Spans) -> Expr:
    def change(node: Expr) -> Expr:
        if not (isinstance(node, Binary) and _divides(node)):
            return node
        if _is_below(bound.bind(node.left), bound.bind(node.right), spans):
            return node.left if node.op == "%" else Const(0, node.dtype)
        return node

    changed = transform(subscript, change)
    return subscript if changed == subscript else simplify(bound.bind(changed), subscript.dtype)


def _is_below(dividend: Expr, divisor: Expr, spans: Spans) -> bool:
    """Whether `0 <= dividend < divisor` for all indices, as far as intervals tell."""
    most = polynomial(divisor).constant
    if most is None or not is_index_arithmetic(dividend):
        return False
    form, sign = polynomial(dividend), Facts().sign
    low, high = lowest(form, spans, sign), highest(form, spans, sign)
    if low is None or high is None or low.constant is None or high.constant is None:
        return False
    return low.constant >= 0 and high.constant < most


def _covers(array: Array, target: Target, spans: Spans) -> bool:
    """Whether the subscripts are indices of their own, each of which runs over a whole dimension."""
    names = [e.name for e in target.subscripts if isinstance(e, Index)]
    if len({*names}) < len(target.subscripts):
        return False
    box = zip(names, array.lower, array.extent, strict=True)
    return all(spans[n] == Interval(polynomial(a), polynomial(a) + polynomial(b)) for n, a, b in box)
