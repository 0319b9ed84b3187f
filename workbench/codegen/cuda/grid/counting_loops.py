"""Loops inside kernels count from 0 by 1: what they address in a tile then depends on nothing outside of the tile.

    for n = 32*n_o + t to 32*n_o + 32 by 8: X(n - 32*n_o)        for n < 4: X(t + 8*n)

Threads of a block are numbered from 0, so that iteration i of a thread loop becomes thread i; and an array of a thread
is kept in registers only if a compiler sees the numbers of its elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.cuda.grid.launch_extents import iteration_count
from workbench.codegen.nest.nest import Cell, Define, For, If, Nest, Write, children, rebuild
from workbench.codegen.nest.ranges import Ranges, inside, interval
from workbench.lang.algebra.normal_form import constant, is_address, simplify
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, substitute, transform
from workbench.lang.expr import children as operands
from workbench.lang.expr import rebuild as rebuild_expr
from workbench.poly.programs.tree import at_once

ZERO = Const(0, INT64)


def counting(nest: Nest, outside: Callable[[For], bool]) -> Nest:
    """The nest with loops that count from 0; those for which `outside` holds stay as they are (the host's).

    So do serial loops that begin at another number, which says more than a shift of every subscript.
    """
    return _Counting(outside).visit(nest, {}, {})


class _Counting:
    def __init__(self, outside: Callable[[For], bool]) -> None:
        self.outside = outside

    def visit(self, nest: Nest, names: dict[str, Expr], ranges: Ranges) -> Nest:
        """`names` are variables in terms of the new ones, `ranges` the values of these."""
        match nest:
            case For():
                return self.loop(nest, names, ranges)
            case Define(_, value, body):
                own = replace(nest, value=_plain(value, names, ranges))
                return replace(own, body=self.visit(body, names, inside(own, ranges)))
            case If():
                parts = tuple(self.visit(child, names, ranges) for child in children(nest))
                return rebuild(replace(nest, condition=_value(nest.condition, names, ranges)), parts)
            case Write():
                return _write(nest, names, ranges)
        return rebuild(nest, tuple(self.visit(child, names, ranges) for child in children(nest)))

    def loop(self, loop: For, names: dict[str, Expr], ranges: Ranges) -> For:
        own = replace(loop, lower=_plain(loop.lower, names, ranges), upper=_plain(loop.upper, names, ranges))
        plain = own.step == 1 and constant(own.lower) is not None and not at_once(own.kind)
        if not plain and (own.step != 1 or own.lower != ZERO) and not self.outside(loop):
            upper = _iterations(own, ranges)
            if own.step == 1 or _ends(upper):
                scaled = Binary("*", Const(own.step, INT64), Index(loop.variable, INT64), INT64)
                names = {**names, loop.variable: simplify(Binary("+", own.lower, scaled, INT64))}
                own = replace(own, lower=ZERO, upper=upper, step=1)
        return replace(own, body=self.visit(loop.body, names, inside(own, ranges)))


def _iterations(loop: For, ranges: Ranges) -> Expr:
    """How often the body is executed, if at all."""

    def counted(upper: Expr) -> Expr:
        match upper:
            case Call("min" | "max" as which, arguments, dtype):
                return Call(which, tuple(map(counted, arguments)), dtype)
        return iteration_count(replace(loop, upper=upper))

    return _plain(counted(loop.upper), {}, ranges)


def _ends(upper: Expr) -> bool:
    """Whether a number of iterations has a constant bound."""
    arguments = upper.arguments if isinstance(upper, Call) and upper.function == "min" else (upper,)
    return any(constant(a) is not None for a in arguments)


def _write(write: Write, names: dict[str, Expr], ranges: Ranges) -> Write:
    cells = tuple(Cell(c.array, tuple(_plain(e, names, ranges) for e in c.subscripts), c.dtype) for c in write.cells)
    values = tuple(_value(v, names, ranges) for v in write.values)
    instance = tuple(_plain(e, names, ranges) for e in write.instance)
    return replace(write, cells=cells, values=values, instance=instance)


def _value(expr: Expr, names: dict[str, Expr], ranges: Ranges) -> Expr:
    """A value: only the subscripts of what it reads, and what it compares, are index arithmetic."""

    def visit(node: Expr) -> Expr:
        if is_address(node):
            return _plain(node, {}, ranges)
        parts = tuple(map(visit, operands(node)))
        if isinstance(node, Read):
            parts = tuple(_plain(e, {}, ranges) for e in parts)
        return rebuild_expr(node, parts) if parts else node

    return visit(substitute(expr, names))


def _plain(expr: Expr, names: dict[str, Expr], ranges: Ranges) -> Expr:
    """Index arithmetic, without the quotients, remainders and bounds that the ranges decide."""

    def change(node: Expr) -> Expr:
        match node:
            case Binary("/" | "%" as op, a, Const(int(size), _), dtype) if size > 0:
                low, high = interval(simplify(a), ranges)
                if low is not None and high is not None and low // size == high // size:
                    whole = low // size
                    return Const(whole, dtype) if op == "/" else Binary("-", a, Const(whole * size, dtype), dtype)
            case Call("min", arguments, dtype):
                return _least(arguments, ranges, dtype)
        return node

    first = simplify(substitute(expr, names)) if names else simplify(expr)
    return simplify(transform(first, change)) if constant(first) is None else first


def _least(arguments: tuple[Expr, ...], ranges: Ranges, dtype: DType) -> Expr:
    """The minimum without arguments that another one never exceeds."""
    kept = list(arguments)
    for own in arguments:
        low = interval(own, ranges)[0]
        others = [x for x in kept if x is not own]
        if low is not None and any((h := interval(x, ranges)[1]) is not None and h <= low for x in others):
            kept = others
    return kept[0] if len(kept) == 1 else Call("min", tuple(kept), dtype)
