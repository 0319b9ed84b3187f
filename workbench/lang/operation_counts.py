"""How many operations on data one instance of a statement performs: the one definition of a flop here."""

from __future__ import annotations

from functools import lru_cache

from workbench.lang.expr import Binary, Call, Expr, Read, Unary, children, reads
from workbench.lang.operator import Monoid


def instance_operations(values: tuple[Expr, ...], reduction: str | Monoid | None = None) -> int:
    """Operations that compute the values of one instance and combine them with their cells.

    One for each `+ - * / %`, bit operation, min, max and function whose result is a number and depends on
    data; two for `fma`; one for each combination of a reduction (for a monoid, what its `combine` says).
    Nothing for what gives a truth value (comparisons, `&&`, `isnan`), for selections and casts, and for
    arithmetic on indices and sizes.  Both branches of `?:` count.  Equal subexpressions, such as the uses of
    a let, count once.
    """
    own = _count(values)
    if isinstance(reduction, Monoid):
        return own + _count(reduction.combine)
    return own + (reduction is not None)


@lru_cache(maxsize=1 << 12)
def _count(roots: tuple[Expr, ...]) -> int:
    visited: set[int] = set()
    distinct: set[Expr] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if id(node) not in visited and not isinstance(node, Read):
            visited.add(id(node))
            distinct.add(node)
            stack.extend(children(node))
    return sum(_cost(node) for node in distinct)


def _cost(node: Expr) -> int:
    if node.dtype.kind == "bool" or not any(reads(node)):
        return 0
    match node:
        case Binary() | Unary():
            return 1
        case Call("min" | "max", arguments, _):
            return len(arguments) - 1
        case Call(function, _, _):
            return 2 if function == "fma" else 1
        case _:
            return 0
