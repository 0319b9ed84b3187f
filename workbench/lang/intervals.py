"""Least and greatest values of integer expressions while indices run through their ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, index_names
from workbench.lang.polynomial import (
    ONE,
    ZERO,
    Poly,
    add,
    atom,
    constant,
    divide,
    extreme,
    indices_of,
    multiply,
    polynomial,
    scale,
)

Sign = Callable[[Poly], int]


@dataclass(frozen=True)
class Interval:
    """`lower <= index < upper`; the bounds may use other indices (triangular)."""

    lower: Poly
    upper: Poly


def lowest(form: Poly, ranges: dict[str, Interval], sign: Sign) -> Poly | None:
    """The least value of `form` over the ranges (a lower bound of it where terms interact).

    Indices without a range stay; None if an indexed term is not monotone in a known direction.
    """
    current: Poly | None = form
    while current is not None:
        current, done = _open_terms(current, ranges, sign)
        if current is None or done:
            return current
    return None


def highest(form: Poly, ranges: dict[str, Interval], sign: Sign) -> Poly | None:
    """The greatest value of `form` over the ranges."""
    low = lowest(scale(form, -1), ranges, sign)
    return None if low is None else scale(low, -1)


def _open_terms(form: Poly, ranges: dict[str, Interval], sign: Sign) -> tuple[Poly | None, bool]:
    """One step of elimination: an opaque term, else the innermost index; and whether all was done."""
    for monomial, coefficient in form.items():
        for part in monomial:
            if not isinstance(part, Index) and index_names(part) & ranges.keys():
                return _replace_opaque(form, monomial, coefficient, part, ranges, sign), False
    present = indices_of(form) & ranges.keys()
    if not present:
        return form, True
    index = _innermost(present, ranges)
    return _replace_index(form, index, ranges[index], sign), False


def _innermost(present: set[str], ranges: dict[str, Interval]) -> str:
    """An index on which the range of no other present index depends."""
    used = {
        name for index in present for bound in (ranges[index].lower, ranges[index].upper) for name in indices_of(bound)
    }
    return min(present - used or present)


def _replace_index(form: Poly, index: str, interval: Interval, sign: Sign) -> Poly | None:
    factor: Poly = {}
    rest: Poly = {}
    for monomial, coefficient in form.items():
        here = [part for part in monomial if isinstance(part, Index) and part.name == index]
        if here:
            others = list(monomial)
            others.remove(here[0])
            factor[tuple(others)] = coefficient
        else:
            rest[monomial] = coefficient
    if indices_of(factor):
        return None
    direction = sign(factor)
    if direction == 0:
        return None
    extremal = interval.lower if direction > 0 else add(interval.upper, ONE, -1)
    return add(rest, multiply(factor, extremal))


def _replace_opaque(
    form: Poly,
    monomial: tuple[Expr, ...],
    coefficient: int,
    part: Expr,
    ranges: dict[str, Interval],
    sign: Sign,
) -> Poly | None:
    others = list(monomial)
    others.remove(part)
    factor: Poly = {tuple(others): coefficient}
    direction = 0 if indices_of(factor) else sign(factor)
    bound = _opaque_bound(part, direction < 0, ranges, sign) if direction else None
    if bound is None:
        return None
    return add(add(form, {monomial: coefficient}, -1), multiply(factor, bound))


def _opaque_bound(part: Expr, greatest: bool, ranges: dict[str, Interval], sign: Sign) -> Poly | None:
    def bound(expr: Expr) -> Poly | None:
        return (highest if greatest else lowest)(polynomial(expr), ranges, sign)

    match part:
        case Call("min" | "max" as which, arguments, _):
            bounds = [bound(argument) for argument in arguments]
            known = [each for each in bounds if each is not None]
            return extreme(which, known) if len(known) == len(bounds) else None
        case Binary("/", numerator, Const() | Size() as divisor, _) if sign(polynomial(divisor)) > 0:
            low = bound(numerator)
            return None if low is None else divide(low, polynomial(divisor))
        case Binary("%", _, Const(divisor, _), _) if divisor > 0:
            return constant(int(divisor) - 1) if greatest else ZERO
        case Binary("%", _, Size() as divisor, _):
            return add(atom(divisor), ONE, -1) if greatest else ZERO
        case _:
            return None
