"""Typed expressions: seven frozen node classes that every room walks with `match`.

The parser's resolver produces them with names resolved and types inferred; the polyhedral layer
reads subscripts from them, the generator prints them, the oracle evaluates them.  Loop bounds and
addresses of generated code are the same nodes with dtype int64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from workbench.lang.dtypes import BOOL, INT32, DType
from workbench.records import Hashed, record


@record(slots=True)
class Const:
    """A literal.  Floats are kept as the exact Python float; `value` is int, float or bool."""

    value: int | float | bool
    dtype: DType


@record(slots=True)
class Size:
    """A size symbol (`M`), or an integer scalar parameter that shapes the program (a stride)."""

    name: str
    dtype: DType = INT32


@record(slots=True)
class Index:
    """An iteration variable of the statement (or, in generated code, a loop variable)."""

    name: str
    dtype: DType = INT32


@record(slots=True)
class Read(Hashed):
    """`tensor(subscripts)`; a scalar parameter that carries data is a read with no subscripts."""

    tensor: str
    subscripts: tuple[Expr, ...]
    dtype: DType


@record(slots=True)
class Unary(Hashed):
    """`op` is `-` (negate), `!` (logical not) or `~` (bitwise not)."""

    op: str
    operand: Expr
    dtype: DType


@record(slots=True)
class Binary(Hashed):
    """`op`: + - * / % << >> & | ^ && || < <= > >= == !=.

    Integer `/` and `%` round towards minus infinity; x/0 and x%0 are 0.  Operands of arithmetic
    have already been cast to the common type, so `left.dtype == right.dtype` except for shifts.
    """

    op: str
    left: Expr
    right: Expr
    dtype: DType


@record(slots=True)
class Select(Hashed):
    """`condition ? then : otherwise`; the branch not taken is not evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr
    dtype: DType


@record(slots=True)
class Call(Hashed):
    """A builtin: `min`, `max` (NaN propagates), `exp`, `sqrt`, ...  See `lang/builtins.py`."""

    function: str
    arguments: tuple[Expr, ...]
    dtype: DType


@record(slots=True)
class Cast(Hashed):
    """Conversion of `operand` to `dtype` (float to int truncates)."""

    operand: Expr
    dtype: DType


Expr = Const | Size | Index | Read | Unary | Binary | Select | Call | Cast

COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})


def children(expr: Expr) -> tuple[Expr, ...]:
    """Direct operands, in order of evaluation."""
    return _CHILDREN[type(expr)](expr)


# A table rather than a match: every walk asks every node.
_CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Const: lambda expr: (),
    Size: lambda expr: (),
    Index: lambda expr: (),
    Read: attrgetter("subscripts"),
    Unary: lambda expr: (expr.operand,),
    Binary: attrgetter("left", "right"),
    Select: attrgetter("condition", "then", "otherwise"),
    Call: attrgetter("arguments"),
    Cast: lambda expr: (expr.operand,),
}


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        if below := children(node):
            stack.extend(below[::-1])


def rebuild(expr: Expr, operands: tuple[Expr, ...]) -> Expr:
    """The same node over other operands."""
    match expr:
        case Const() | Size() | Index():
            return expr
        case Read(tensor, _, dtype):
            return Read(tensor, operands, dtype)
        case Unary(op, _, dtype):
            return Unary(op, operands[0], dtype)
        case Cast(_, dtype):
            return Cast(operands[0], dtype)
        case Binary(op, _, _, dtype):
            return Binary(op, operands[0], operands[1], dtype)
        case Select(_, _, _, dtype):
            return Select(operands[0], operands[1], operands[2], dtype)
        case Call(function, _, dtype):
            return Call(function, operands, dtype)


def operation(expr: Expr) -> str:
    """What a node computes of its operands, whatever they are: operator, type, number (-0.0 is not 0.0).

    >>> operation(Binary("+", Index("i"), Index("j"), INT32)) == operation(Binary("+", Size("N"), Size("M"), INT32))
    True
    """
    return repr(rebuild(expr, tuple(integer(0) for _ in children(expr))))


def transform(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Rewrite bottom-up: `change` sees every node after its operands were rewritten."""
    operands = tuple(transform(child, change) for child in children(expr))
    return change(rebuild(expr, operands) if operands else expr)


def substitute(expr: Expr, replacements: dict[str, Expr]) -> Expr:
    """Replace `Index` and `Size` nodes by name."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Index | Size):
            return replacements.get(node.name, node)
        return node

    return transform(expr, change)


def index_names(expr: Expr) -> set[str]:
    """Names of the iteration variables that occur."""
    if isinstance(expr, Index):  # rows of loops nearly always are: a walk takes ten times as long
        return {expr.name}
    return {node.name for node in walk(expr) if isinstance(node, Index)}


def size_names(expr: Expr) -> set[str]:
    """Names of the size symbols that occur."""
    return {node.name for node in walk(expr) if isinstance(node, Size)}


def reads(*exprs: Expr) -> Iterator[Read]:
    """Every read of the expressions, those inside subscripts included."""
    return (node for expr in exprs for node in walk(expr) if isinstance(node, Read))


def integer(value: int) -> Const:
    """An int32 literal."""
    return Const(value, INT32)


def conjunction(conditions: list[Expr]) -> Expr:
    """`a && b && ...`; true when the list is empty."""
    if not conditions:
        return Const(True, BOOL)
    result = conditions[0]
    for condition in conditions[1:]:
        result = Binary("&&", result, condition, BOOL)
    return result
