"""Range inference: from the accesses of a statement to `lower <= index < upper` (docs/language.md §4).

Symbolic affine arithmetic over the sizes; the polyhedral layer re-derives every precondition exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.lang.expr import Binary, Const, Expr, Index, Size
from workbench.lang.facts import Facts
from workbench.lang.intervals import Interval, lowest
from workbench.lang.polynomial import (
    ONE,
    Poly,
    add,
    as_constant,
    atom,
    constant,
    divide,
    exact_quotient,
    expression,
    indices_of,
    is_plain,
    multiply,
    polynomial,
    scale,
)
from workbench.lang.printer import show

UNCONDITIONAL, ANNOTATED, GUARDED = 0, 1, 2


@dataclass(frozen=True)
class Constraint:
    """`form >= 0`, which the access `reason` needs; `tier` says how strongly it binds (0 first)."""

    form: Poly
    reason: str
    tier: int


@dataclass
class Inference:
    """The state of one statement: what is solved, what is not, and the words for it."""

    constraints: list[Constraint]
    unsolved: list[str]
    solved: dict[str, Interval]
    facts: Facts
    derivations: dict[str, str] = field(default_factory=dict)
    positive: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Rounds until nothing is left to solve or a round solves nothing."""
        number = 1
        while self.unsolved and self._round(number):
            number += 1

    def _round(self, number: int) -> bool:
        for tier in (UNCONDITIONAL, ANNOTATED, GUARDED):
            found = self._solve(tier)
            if found:
                for index, (interval, reasons) in found.items():
                    self.solved[index] = interval
                    self.derivations[index] = f"{'; '.join(reasons)} (round {number})"
                    self.unsolved.remove(index)
                return True
        return False

    def _solve(self, tier: int) -> dict[str, tuple[Interval, list[str]]]:
        bounds = [(c, self.eliminate(c.form)) for c in self.constraints if c.tier <= tier]
        return {
            index: solution
            for index in self.unsolved
            if (solution := self._intersect(index, [(c, form) for c, form in bounds if form is not None]))
        }

    def eliminate(self, form: Poly) -> Poly | None:
        """The least value of `form` over all solved indices, or None if it has none that is plain."""
        return lowest(form, self.solved, self._sign)

    def _sign(self, coefficient: Poly) -> int:
        sign = self.facts.sign(coefficient)
        for monomial in coefficient if sign else ():
            for part in monomial:
                if not isinstance(part, Size):
                    return 0
                if part.name not in self.facts.lowest:
                    self.facts.lowest[part.name] = 1
                    self.positive[part.name] = f"{part.name} multiplies an index"
        return sign

    def _intersect(self, index: str, bounds: list[tuple[Constraint, Poly]]) -> tuple[Interval, list[str]] | None:
        lowers: list[Poly] = []
        uppers: list[Poly] = []
        reasons: list[str] = []
        for constraint, form in bounds:
            if indices_of(form) == {index} and (split := split_linear(form, index)):
                factor, rest = split
                sign = self._sign(factor)
                if sign > 0:
                    lowers.append(scale(self._floor(rest, factor), -1))
                elif sign < 0:
                    uppers.append(add(self._floor(rest, scale(factor, -1)), ONE))
                if sign and constraint.reason not in reasons:
                    reasons.append(constraint.reason)
        if not lowers or not uppers:
            return None
        return Interval(self.facts.largest(lowers), self.facts.smallest(uppers)), reasons

    def _floor(self, a: Poly, divisor: Poly) -> Poly:
        number = as_constant(divisor)
        if number is not None:
            return divide(a, constant(number))
        if len(divisor) != 1:
            return divide(a, divisor)
        quotient, rest = exact_quotient(a, divisor)
        return add(quotient, divide(rest, divisor)) if rest else quotient


def split_linear(form: Poly, index: str) -> tuple[Poly, Poly] | None:
    """`(factor, rest)` with `form == factor * index + rest`, if the form is linear in the index."""
    factor: Poly = {}
    rest: Poly = {}
    for monomial, coefficient in form.items():
        here = [part for part in monomial if isinstance(part, Index) and part.name == index]
        if not here:
            if index in indices_of({monomial: 1}):
                return None
            rest[monomial] = coefficient
        else:
            others = list(monomial)
            others.remove(here[0])
            if index in indices_of({tuple(others): 1}):
                return None
            factor[tuple(others)] = coefficient
    return (factor, rest) if factor else None


def access_constraints(subscript: Expr, lower: Poly, upper: Poly, reason: str, tier: int) -> list[Constraint]:
    """`lower <= subscript < upper` as constraints; a floor division on top is opened first."""
    if not is_plain(subscript):
        return []
    form = polynomial(subscript)
    opened = _open_division(form)
    if opened:
        numerator, divisor, rest = opened
        low = add(numerator, multiply(divisor, add(lower, rest, -1)), -1)
        high = add(add(multiply(divisor, add(upper, rest, -1)), ONE, -1), numerator, -1)
    else:
        low, high = add(form, lower, -1), add(add(upper, ONE, -1), form, -1)
    return [Constraint(low, reason, tier), Constraint(high, reason, tier)]


def _open_division(form: Poly) -> tuple[Poly, Poly, Poly] | None:
    """Numerator, divisor and rest of `numerator / divisor + rest`, where only the numerator has indices."""
    moving = {monomial: x for monomial, x in form.items() if indices_of({monomial: 1})}
    if len(moving) != 1:
        return None
    ((monomial, coefficient),) = moving.items()
    if coefficient != 1 or len(monomial) != 1:
        return None
    match monomial[0]:
        case Binary("/", numerator, Const() | Size() as divisor, _):
            return polynomial(numerator), polynomial(divisor), add(form, atom(monomial[0]), -1)
    return None


def reason_for(read: Expr, subscript: Expr, dimension: int, lower: Poly, upper: Poly) -> str:
    """Words for the bounds of one access."""
    bounds = f"{show(expression(lower))} <= {show(subscript)} < {show(expression(upper))}"
    return f"{show(read)} needs {bounds} in dimension {dimension}"
