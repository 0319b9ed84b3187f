"""Expressions as Python functions: what subscripts, bounds, rows and conditions are worth at a point.

Nothing here comes from `workbench/poly` or `workbench/schedules`; only the nodes of an expression are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary, reads

Env = Mapping[str, Any]
Contents = Callable[[str, tuple[int, ...]], int]  # what a cell of an integer input holds

WORDS = {"&&": "and", "||": "or"}


class Unknown(Exception):
    """A value that depends on data nobody gave."""


def nothing(tensor: str, cell: tuple[int, ...]) -> int:
    """The contents of arrays of which nothing is known."""
    raise Unknown(f"{tensor}{cell}")


@lru_cache(maxsize=20_000)
def number(expr: Expr) -> Callable[[Env, Contents], int]:
    """The function of an integer or boolean expression: names and contents → value."""
    return _compiled(_source(expr))


@lru_cache(maxsize=20_000)
def column(expr: Expr) -> Callable[[Env], Any]:
    """The same for many points at once: names stand for NumPy arrays; no data may be read."""
    return eval(f"lambda v: {_columns(expr)}", {"np": np})


@lru_cache(maxsize=20_000)
def reads_data(expr: Expr) -> bool:
    """Whether the expression reads a tensor."""
    return any(True for _ in reads(expr))


def _compiled(source: str) -> Callable[[Env, Contents], int]:
    return eval(f"lambda v, c: {source}", {"divided": divided, "rest": rest})


def divided(a: int, b: int) -> int:
    """Floor division; by 0 it gives 0."""
    return a // b if b else 0


def rest(a: int, b: int) -> int:
    """What floor division leaves; by 0 it gives 0."""
    return a % b if b else 0


def _source(expr: Expr) -> str:
    match expr:
        case Const(value, _):
            return repr(int(value))
        case Size(name, _) | Index(name, _):
            return f"v[{name!r}]"
        case Read(tensor, subscripts, _):
            return f"c({tensor!r}, ({''.join(_source(s) + ',' for s in subscripts)}))"
        case Unary("-", a, _):
            return f"(-{_source(a)})"
        case Unary("!", a, _):
            return f"(not {_source(a)})"
        case Unary("~", a, _):
            return f"(~{_source(a)})"
        case Cast(a, dtype):
            return _source(a) if dtype.kind in ("int", "uint", "bool") else "c('a float', ())"
        case Select(c, a, b, _):
            return f"({_source(a)} if {_source(c)} else {_source(b)})"
        case Call(name, arguments, _) if name in ("min", "max", "abs"):
            return f"{name}({', '.join(map(_source, arguments))})"
        case Binary("/" | "%" as op, a, b, _):
            return f"{'divided' if op == '/' else 'rest'}({_source(a)}, {_source(b)})"
        case Binary(op, a, b, _):
            return f"({_source(a)} {WORDS.get(op, op)} {_source(b)})"
    return "c('a value', ())"


def _columns(expr: Expr) -> str:
    match expr:
        case Const(value, _):
            return repr(int(value))
        case Size(name, _) | Index(name, _):
            return f"v[{name!r}]"
        case Unary("-", a, _):
            return f"(-{_columns(a)})"
        case Unary("!", a, _):
            return f"(1 - {_columns(a)})"
        case Cast(a, _):
            return _columns(a)
        case Select(c, a, b, _):
            return f"np.where({', '.join(map(_columns, (c, a, b)))})"
        case Call("min" | "max" as name, arguments, _):
            text = _columns(arguments[0])
            for argument in arguments[1:]:
                text = f"np.{name}imum({text}, {_columns(argument)})"
            return text
        case Binary("/" | "%" as op, a, b, _):
            return f"({_columns(a)} {'//' if op == '/' else '%'} {_columns(b)})"
        case Binary("&&" | "||" as op, a, b, _):
            return f"(({_columns(a)} != 0) {'&' if op == '&&' else '|'} ({_columns(b)} != 0))"
        case Binary(op, a, b, _):
            return f"({_columns(a)} {op} {_columns(b)})"
    raise Unknown(str(expr))
