"""The values that variables of loops have, by intervals: around every node of a nest, and of an expression."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import ceil, floor, inf, isfinite

from workbench.codegen.nest.nest import Define, For, Nest, children
from workbench.lang.algebra.normal_form import constant, is_address, polynomial
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Size
from workbench.lang.unify import limits

Range = tuple[int | None, int | None]
"""Least and greatest value, None where unknown."""
Ranges = Mapping[str, Range]


def ranged(nest: Nest, ranges: Ranges | None = None) -> Iterator[tuple[Nest, Ranges]]:
    """Every node, parents first, with the values of the variables around it; `ranges` are those around the nest."""
    around = {} if ranges is None else ranges
    yield nest, around
    inner = inside(nest, around)
    for child in children(nest):
        yield from ranged(child, inner)


def inside(nest: Nest, ranges: Ranges) -> Ranges:
    """The values of variables around what stands inside a node."""
    match nest:
        case For():
            low, high = interval(nest.lower, ranges)[0], interval(nest.upper, ranges)[1]
            return {**ranges, nest.variable: (low, None if high is None else high - 1)}
        case Define():
            return {**ranges, nest.variable: interval(nest.value, ranges)}
    return ranges


def interval(expr: Expr, ranges: Ranges) -> Range:
    """The values an expression may have, by intervals."""
    match expr:
        case Const(int(value), _):
            return value, value
        case Index(name, _):
            return ranges.get(name, (None, None))
        case Call("min" | "max" as which, arguments, _):
            return _extreme(which, [interval(a, ranges) for a in arguments])
        case Binary("/", a, Const(int(by), _), _) if by > 0:
            low, high = interval(a, ranges)
            return None if low is None else low // by, None if high is None else high // by
        case Binary("%", _, Const(int(by), _), _) if by > 0:
            return 0, by - 1
    return _sum(expr, ranges)


def _extreme(which: str, each: list[Range]) -> Range:
    lows, highs = [low for low, _ in each], [high for _, high in each]
    known_low, known_high = [x for x in lows if x is not None], [x for x in highs if x is not None]
    if which == "min":
        low = min(known_low) if len(known_low) == len(lows) else None
        return low, min(known_high, default=None)
    high = max(known_high) if len(known_high) == len(highs) else None
    return max(known_low, default=None), high


def _sum(expr: Expr, ranges: Ranges) -> Range:
    """A sum of multiples, term by term; unknown where something else is multiplied."""
    low: int | None = 0
    high: int | None = 0
    for atoms, factor in polynomial(expr).terms:
        if len(atoms) > 1 or (atoms and atoms[0] == expr):
            return None, None
        least, most = interval(atoms[0], ranges) if atoms else (1, 1)
        if factor < 0:
            least, most = most, least
        low = None if low is None or least is None else low + factor * least
        high = None if high is None or most is None else high + factor * most
    return low, high


def is_nonnegative(expr: Expr, known: Collection[str], signed: Collection[str] = ()) -> bool:
    """Whether index arithmetic surely gives no negative value.

    `known` are the variables that are not negative, `signed` the symbols that may be: all others are sizes.
    """
    form = polynomial(expr)
    return all(factor > 0 for _, factor in form.terms) and all(_is_natural(part, known, signed) for part in form.atoms)


def _is_natural(atom: Expr, known: Collection[str], signed: Collection[str]) -> bool:
    match atom:
        case Index(name, _):
            return name in known
        case Size(name, _):
            return name not in signed
        case Binary("%", _, Const(by, _), _):
            return by >= 0
        case Binary("/", a, Const(by, _), _):
            return by >= 0 and is_nonnegative(a, known, signed)
        case Call("min" | "max" as f, arguments, _):
            each = [is_nonnegative(x, known, signed) for x in arguments]
            return all(each) if f == "min" else any(each)
    return False


def fits(expr: Expr, dtype: DType) -> bool:
    """Whether a float is surely between the ends of an integer type, or no number."""
    low, high = _float_ends(expr)
    least, most = limits(dtype)
    exact = 1 << (24 if expr.dtype.bits == 32 else 53)  # numbers beyond it may be rounded, out of the type
    return max(least, -exact) <= low and high <= min(most, exact)


def _float_ends(expr: Expr) -> tuple[float, float]:
    """The least and the greatest number that a float may be."""
    match expr:
        case Const(value, _):
            return float(value), float(value)
        case Cast(a, _) if a.dtype.is_integral:
            known = constant(a) if is_address(a) or isinstance(a, Const | Binary) else None
            low, high = (known, known) if known is not None else limits(a.dtype)
            return float(low), float(high)
        case Call("floor" | "ceil" | "round" | "trunc", (a,), _):
            low, high = _float_ends(a)
            return floor(low) if isfinite(low) else low, ceil(high) if isfinite(high) else high
        case Call("min" | "max" as name, arguments, _):
            pick = min if name == "min" else max
            ends = [_float_ends(a) for a in arguments]
            return pick(low for low, _ in ends), pick(high for _, high in ends)
    return -inf, inf
