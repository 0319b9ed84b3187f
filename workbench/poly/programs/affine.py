"""Language expressions as isl text: quasi-affine subscripts, guards as conditions.

`pieces` gives an integer expression as `(condition, affine text)` cases (a `?:` inside makes several);
`guard` gives a boolean expression, or its negation, as a condition that is never too small: the second
result says whether it is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import product

from workbench.lang.algebra.normal_form import constant, is_index_arithmetic
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    Unary,
    size_names,
    walk,
)
from workbench.lang.ranges.reaches import reach
from workbench.poly.sets.names import to_isl

Pieces = tuple[tuple[str, str], ...]

ALWAYS = ""
NEVER = "false"
MAX_PIECES = 16
USUAL = 1 << 30  # no index of an array is further from 0: abs(i - j) does not wrap around
NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "="}


class NotAffine(Exception):
    """An expression isl cannot say; `blame` names the symbols that would make it affine if bound."""

    def __init__(self, expr: Expr, blame: frozenset[str] = frozenset()) -> None:
        super().__init__(str(expr))
        self.expr = expr
        self.blame = blame


def affine_text(expr: Expr) -> str:
    """isl text of a quasi-affine expression without cases; raises `NotAffine`."""
    cases = pieces(expr)
    if len(cases) != 1 or cases[0][0] != ALWAYS:
        raise NotAffine(expr)
    return cases[0][1]


def isl_conjunction(*conditions: str) -> str:
    """Conjunction of isl conditions (an empty text is always true)."""
    kept = [c for c in dict.fromkeys(conditions) if c != ALWAYS]
    return NEVER if NEVER in kept else " and ".join(kept)


def isl_disjunction(*conditions: str) -> str:
    """Disjunction of isl conditions."""
    kept = [c for c in dict.fromkeys(conditions) if c != NEVER]
    if ALWAYS in kept:
        return ALWAYS
    if len(kept) < 2:
        return kept[0] if kept else NEVER
    return f"({' or '.join(f'({c})' for c in kept)})"


@lru_cache(maxsize=20_000)
def pieces(expr: Expr) -> Pieces:
    """Cases of an integer expression; raises `NotAffine`."""
    value = constant(expr) if expr.dtype.kind in ("int", "uint", "bool") else None
    if value is not None:
        return ((ALWAYS, str(value)),)
    match expr:
        case Size(name, _) | Index(name, _):
            return ((ALWAYS, to_isl(name)),)
        case Unary() | Binary() | Call("abs") if expr.dtype.kind == "uint":
            raise NotAffine(expr)  # it wraps around
        case Unary("-", operand, _):
            return _map1("-({})".format, operand)
        case Unary("~", operand, _) if operand.dtype.is_integral:
            return _map1("-1 - ({})".format, operand)
        case Cast(operand, dtype) if (
            dtype.kind == "int"
            and dtype.bits >= 32
            and operand.dtype.kind != "float"
            and (operand.dtype.kind != "uint" or operand.dtype.bits < dtype.bits)
        ):
            return pieces(operand)
        case Binary("+" | "-" as op, left, right, _):
            return _map2(lambda a, b: f"{a} {op} {_term(b)}", left, right)
        case Binary("*" | "/" | "%" | "<<" | ">>", _, _, _):
            return _scaled(expr)
        case Call("min" | "max" as name, arguments, _):
            return _extremum(name, arguments)
        case Call("abs", (operand,), _):
            return _map1("max({0}, -({0}))".format, operand)
        case Select(condition, then, otherwise, _):
            return _cases(condition, then, otherwise, expr)
    if expr.dtype.kind == "bool":
        return _truth(expr)
    raise NotAffine(expr)


def _term(text: str) -> str:
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _map1(write: Callable[[str], str], operand: Expr) -> Pieces:
    return tuple((c, write(a)) for c, a in pieces(operand))


def _map2(write: Callable[[str, str], str], left: Expr, right: Expr) -> Pieces:
    cases = tuple((isl_conjunction(c, d), write(a, b)) for (c, a), (d, b) in product(pieces(left), pieces(right)))
    if len(cases) > MAX_PIECES:
        raise NotAffine(left)
    return cases


def _extremum(name: str, arguments: tuple[Expr, ...]) -> Pieces:
    cases = pieces(arguments[0])
    for argument in arguments[1:]:
        cases = tuple(
            (isl_conjunction(c, d), f"{name}({a}, {b})") for (c, a), (d, b) in product(cases, pieces(argument))
        )
    if len(cases) > MAX_PIECES:
        raise NotAffine(arguments[0])
    return cases


def _scaled(expr: Binary) -> Pieces:
    """Products with, and floor divisions by, a constant."""
    left, right = expr.left, expr.right
    factor = constant(right)
    if factor is None and expr.op == "*":
        left, right, factor = right, left, constant(left)
    if factor is None:
        raise NotAffine(expr, _blame(expr))
    match expr.op:
        case "*":
            return _map1(f"{factor}*({{}})".format, left)
        case "<<" if 0 <= factor < 31:
            return _map1(f"{1 << factor}*({{}})".format, left)
        case ">>" if 0 <= factor < 31:
            return _map1(f"floor(({{}})/{1 << factor})".format, left)
        case "/" if factor > 0:
            return _map1(f"floor(({{}})/{factor})".format, left)
        case "/" if factor < 0:
            return _map1(f"floor((-({{}}))/{-factor})".format, left)
        case "%" if factor > 0:
            return _map1(f"(({{}}) mod {factor})".format, left)
        case "%" if factor < 0:
            return _map1(f"-((-({{}})) mod {-factor})".format, left)
    raise NotAffine(expr)


def _blame(expr: Binary) -> frozenset[str]:
    """Symbols to bind so that a product or division gets a constant factor."""
    sides = [expr.right] if expr.op != "*" else [expr.left, expr.right]
    symbols = [size_names(side) for side in sides if not any(isinstance(n, Index | Read) for n in walk(side))]
    return frozenset(min(symbols, key=len)) if symbols else frozenset()


def _cases(condition: Expr, then: Expr, otherwise: Expr, expr: Expr) -> Pieces:
    yes, exact = guard(condition)
    no, _ = guard(condition, holds=False)
    if not exact:
        raise NotAffine(expr)
    cases = tuple((isl_conjunction(yes, c), a) for c, a in pieces(then)) + tuple(
        (isl_conjunction(no, c), a) for c, a in pieces(otherwise)
    )
    if len(cases) > MAX_PIECES:
        raise NotAffine(expr)
    return cases


def _truth(expr: Expr) -> Pieces:
    """A condition used as a number: 1 or 0."""
    yes, exact = guard(expr)
    if not exact:
        raise NotAffine(expr)
    return ((yes, "1"), (guard(expr, holds=False)[0], "0"))


@lru_cache(maxsize=20_000)
def guard(expr: Expr, *, holds: bool = True) -> tuple[str, bool]:
    """(condition, exact): where `expr` is true (false when not `holds`), never too few instances.

    Comparisons of data, and what isl cannot say, count as possibly true and possibly false.
    """
    match expr:
        case Const(value, _):
            return (ALWAYS if bool(value) == holds else NEVER, True)
        case Unary("!", operand, _):
            return guard(operand, holds=not holds)
        case Binary("&&" | "||" as op, left, right, _):
            return _connective(op, left, right, holds)
        case Binary("&" | "|" as op, left, right, dtype) if dtype.kind == "bool":
            return _connective(op * 2, left, right, holds)
        case Select(condition, then, otherwise, _):
            return _selected(condition, then, otherwise, holds)
        case Binary(op, left, right, _) if op in COMPARISONS:
            return _comparison(op, left, right, holds)
        case Cast(operand, dtype) if dtype.kind == "bool" and operand.dtype.kind == "bool":
            return guard(operand, holds=holds)
        case Cast(operand, dtype) if dtype.kind == "bool":
            return _comparison("!=", operand, Const(0, operand.dtype), holds)
    return (ALWAYS, False)


def _connective(op: str, left: Expr, right: Expr, holds: bool) -> tuple[str, bool]:
    a, a_exact = guard(left, holds=holds)
    b, b_exact = guard(right, holds=holds)
    join = isl_conjunction if (op == "&&") == holds else isl_disjunction
    return join(a, b), a_exact and b_exact


def _selected(condition: Expr, then: Expr, otherwise: Expr, holds: bool) -> tuple[str, bool]:
    yes, exact = guard(condition)
    no, _ = guard(condition, holds=False)
    a, a_exact = guard(then, holds=holds)
    b, b_exact = guard(otherwise, holds=holds)
    return isl_disjunction(isl_conjunction(yes, a), isl_conjunction(no, b)), exact and a_exact and b_exact


def _comparison(op: str, left: Expr, right: Expr, holds: bool) -> tuple[str, bool]:
    if left.dtype.kind == "float" or right.dtype.kind == "float":
        return (ALWAYS, False)
    whole = is_index_arithmetic(left) and is_index_arithmetic(right)
    if not whole and any(_may_wrap(side) for side in (left, right)):
        return (ALWAYS, False)
    sign = ("=" if op == "==" else op) if holds else NEGATED[op]
    try:
        cases = product(pieces(left), pieces(right))
        return isl_disjunction(*(isl_conjunction(c, d, f"{a} {sign} {b}") for (c, a), (d, b) in cases)), True
    except NotAffine:
        return (ALWAYS, False)


def _may_wrap(side: Expr) -> bool:
    """Whether a number that is compared as a value of its type may not be the whole number that its text says."""
    return side.dtype.is_integral and reach(side, most=USUAL) is None
