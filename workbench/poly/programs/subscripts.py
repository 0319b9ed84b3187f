"""Subscripts that known sizes make simpler: `(d·b) % s` is `b` for `d = 1` and `b < s`, `y + k` is `y` for `k < 1`."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound as written
from workbench.lang.algebra.normal_form import is_index_arithmetic, polynomial, simplify
from workbench.lang.algebra.polynomial import number
from workbench.lang.expr import Binary, Const, Expr, Index, Read, substitute, transform
from workbench.lang.operator import Statement, Target
from workbench.lang.ranges.intervals import Interval, highest, lowest
from workbench.poly.programs.binding import Bound
from workbench.poly.programs.program import Array

Spans = dict[str, Interval]


def settled(bound: Bound, arrays: dict[str, Array], statement: Statement) -> Statement:
    """The statement with known sizes in its subscripts, which have no divisions whose quotient is 0 for all indices.

    An index that has one value is that number where a read adds it to others.  A target of which `!` sets every cell
    keeps its subscripts unless its indices reach every cell.
    """
    if not bound.sizes:
        return statement
    spans = {
        r.index: Interval(polynomial(bound.shape(r.lower)), polynomial(bound.shape(r.upper))) for r in statement.ranges
    }
    single = {name: written(each.lower) for name, each in spans.items() if each.upper - each.lower == number(1)}

    def read(node: Expr) -> Expr:
        if not isinstance(node, Read):
            return node
        parts = (bound.bind(e) if isinstance(e, Index) else substitute(bound.bind(e), single) for e in node.subscripts)
        return replace(node, subscripts=tuple(_settled(e, spans) for e in parts))

    targets = tuple(
        Target(t.tensor, tuple(_settled(bound.bind(e), spans) for e in t.subscripts)) for t in statement.targets
    )
    if statement.initialise and not all(_covers(arrays[t.tensor], t, spans) for t in targets):
        targets = statement.targets
    return replace(statement, targets=targets, values=tuple(transform(e, read) for e in statement.values))


def _settled(subscript: Expr, spans: Spans) -> Expr:
    def change(node: Expr) -> Expr:
        if not (isinstance(node, Binary) and node.op in ("/", "%") and _is_below(node.left, node.right, spans)):
            return node
        return node.left if node.op == "%" else Const(0, node.dtype)

    changed = transform(subscript, change)
    return simplify(changed, subscript.dtype) if is_index_arithmetic(changed) else changed


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
