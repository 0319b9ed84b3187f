"""Least and greatest values of integer expressions while indices run through their ranges."""

from __future__ import annotations

from collections.abc import Callable

from workbench.lang.algebra.normal_form import divide, extreme, polynomial
from workbench.lang.algebra.polynomial import ZERO, Monomial, Polynomial, atom, number, split_linear, without
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Size, index_names
from workbench.records import record

Sign = Callable[[Polynomial], int]


@record
class Interval:
    """`lower <= index < upper`; the bounds may use other indices (triangular)."""

    lower: Polynomial
    upper: Polynomial

    @property
    def indices(self) -> set[str]:
        """Other indices that the bounds use."""
        return self.lower.indices | self.upper.indices


def lowest(form: Polynomial, ranges: dict[str, Interval], sign: Sign) -> Polynomial | None:
    """The least value of `form` over the ranges (a lower bound of it where terms interact).

    Indices without a range stay; None if an indexed term is not monotone in a known direction.
    """
    current: Polynomial | None = form
    while current is not None:
        current, done = _open_terms(current, ranges, sign)
        if current is None or done:
            return current
    return None


def highest(form: Polynomial, ranges: dict[str, Interval], sign: Sign) -> Polynomial | None:
    """The greatest value of `form` over the ranges."""
    low = lowest(-form, ranges, sign)
    return None if low is None else -low


def _open_terms(form: Polynomial, ranges: dict[str, Interval], sign: Sign) -> tuple[Polynomial | None, bool]:
    """One step of elimination: an opaque term, else the innermost index; and whether all was done."""
    for monomial, coefficient in form.terms:
        for part in monomial:
            if not isinstance(part, Index | Size) and index_names(part) & ranges.keys():
                return _replace_opaque(form, monomial, coefficient, part, ranges, sign), False
    present = form.indices & ranges.keys()
    if not present:
        return form, True
    index = _innermost(present, ranges)
    return _replace_index(form, index, ranges[index], sign), False


def _innermost(present: set[str], ranges: dict[str, Interval]) -> str:
    """An index on which the range of no other present index depends."""
    used = {name for index in present for name in ranges[index].indices}
    return min(present - used or present)


def _replace_index(form: Polynomial, index: str, interval: Interval, sign: Sign) -> Polynomial | None:
    factor, rest = split_linear(form, Index(index, INT64)) or (ZERO, form)
    direction = 0 if factor.indices else sign(factor)
    if direction == 0:
        return None
    return rest + factor * (interval.lower if direction > 0 else interval.upper - 1)


def _replace_opaque(
    form: Polynomial, monomial: Monomial, coefficient: int, part: Expr, ranges: dict[str, Interval], sign: Sign
) -> Polynomial | None:
    factor = Polynomial({without(monomial, part): coefficient})
    direction = 0 if factor.indices else sign(factor)
    bound = _opaque_bound(part, direction < 0, ranges, sign) if direction else None
    return None if bound is None else form + factor * (bound - atom(part))


def _opaque_bound(part: Expr, greatest: bool, ranges: dict[str, Interval], sign: Sign) -> Polynomial | None:
    def bound(expr: Expr) -> Polynomial | None:
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
            return number(int(divisor) - 1) if greatest else ZERO
        case Binary("%", _, Size() as divisor, _):
            return atom(divisor) - 1 if greatest else ZERO
        case _:
            return None
