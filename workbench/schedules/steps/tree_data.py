"""Trees and their expressions as plain lists, for JSON."""

from __future__ import annotations

from typing import Any

from workbench.errors import ScheduleError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, Unary
from workbench.poly.tree import Band, Leaf, Loop, Mark, Sequence, Tree


def tree_to_data(tree: Tree) -> list[Any]:
    """A nested list that JSON can hold."""
    match tree:
        case Leaf(statement):
            return ["leaf", statement]
        case Sequence(children):
            return ["sequence", *map(tree_to_data, children)]
        case Mark(name, value, child):
            return ["mark", name, value, tree_to_data(child)]
        case Band(loops, child):
            own = [[x.name, x.kind, [[s, expr_to_data(row)] for s, row in x.rows]] for x in loops]
            return ["band", own, tree_to_data(child)]


def tree_from_data(data: Any) -> Tree:
    """The tree that `tree_to_data` described."""
    match list(data):
        case ["leaf", statement]:
            return Leaf(statement)
        case ["sequence", *children]:
            return Sequence(tuple(map(tree_from_data, children)))
        case ["mark", name, value, child]:
            return Mark(name, value, tree_from_data(child))
        case ["band", loops, child]:
            own = tuple(
                Loop(name, tuple((s, expr_from_data(row)) for s, row in rows), kind)
                for name, kind, rows in loops
            )
            return Band(own, tree_from_data(child))
    raise ScheduleError(f"not a schedule tree: {data!r}")


def expr_to_data(expr: Expr) -> Any:
    """Quasi-affine expressions: ints, names, `["+", a, b]`."""
    match expr:
        case Const(value, _):
            return int(value)
        case Index(name, _):
            return name
        case Size(name, _):
            return ["size", name]
        case Unary(op, a, _):
            return [op, expr_to_data(a)]
        case Binary(op, a, b, _):
            return [op, expr_to_data(a), expr_to_data(b)]
        case Call(function, arguments, _):
            return [function, *map(expr_to_data, arguments)]
    raise ScheduleError(f"a time component must be affine, not {expr}")


def expr_from_data(data: Any) -> Expr:
    """The expression that `expr_to_data` described."""
    match data:
        case int():
            return Const(data, INT32)
        case str():
            return Index(data)
        case ["size", name] | ("size", name):
            return Size(name)
        case ["-", a]:
            return Unary("-", expr_from_data(a), INT32)
        case ["min" | "max" as function, *arguments]:
            return Call(function, tuple(map(expr_from_data, arguments)), INT32)
        case ["+" | "-" | "*" | "/" | "%" as op, a, b]:
            return Binary(op, expr_from_data(a), expr_from_data(b), INT32)
    raise ScheduleError(f"not an affine expression: {data!r}")
