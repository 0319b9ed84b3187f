"""Range inference: from the accesses of a statement to `lower <= index < upper` (docs/language.md §4).

Symbolic affine arithmetic over the sizes; the polyhedral layer re-derives every precondition exactly.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, divide, exact_quotient, is_plain, polynomial
from workbench.lang.algebra.polynomial import Monomial, Polynomial, split_linear
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Size
from workbench.lang.printing.printer import show
from workbench.lang.ranges.intervals import Interval, lowest
from workbench.records import record

UNCONDITIONAL, ANNOTATED, GUARDED = 0, 1, 2
Terms = tuple[tuple[Monomial, int], ...]
"""Of a polynomial, in their order: equal polynomials may read differently."""


@record
class Constraint:
    """`form >= 0`, which the access `reason` needs; `tier` says how strongly it binds (0 first)."""

    form: Polynomial
    reason: str
    tier: int


@record(frozen=False)
class Inference:
    """The state of one statement: what is solved, what is not, and the words for it.

    `apart` has the indices that only accesses under conditions bind, with what each of these allows where that differs.
    """

    constraints: list[Constraint]
    unsolved: list[str]
    solved: dict[str, Interval]
    facts: Facts
    derivations: dict[str, str] = field(default_factory=dict)
    positive: dict[str, str] = field(default_factory=dict)
    apart: dict[str, dict[str, Interval]] = field(default_factory=dict)

    def run(self) -> None:
        """Rounds until nothing is left to solve or a round solves nothing."""
        number = 1
        while self.unsolved and self._round(number):
            number += 1

    def _round(self, number: int) -> bool:
        for tier in (UNCONDITIONAL, ANNOTATED, GUARDED):
            found = self._solve(tier)
            if found:
                if tier == GUARDED:
                    self._note_apart(found)
                for index, (interval, reasons) in found.items():
                    self.solved[index] = interval
                    self.derivations[index] = f"{'; '.join(reasons)} (round {number})"
                    self.unsolved.remove(index)
                return True
        return False

    def _solve(self, tier: int) -> dict[str, tuple[Interval, list[str]]]:
        least = [(c, self.eliminate(c.form)) for c in self.constraints if c.tier <= tier]
        bounds = [(c, form, form.indices) for c, form in least if form is not None]
        return {
            index: solution
            for index in self.unsolved
            if (solution := self._intersect(index, [(c, form) for c, form, own in bounds if own == {index}]))
        }

    def _note_apart(self, found: dict[str, tuple[Interval, list[str]]]) -> None:
        least = [(c, form) for c in self.constraints if (form := self.eliminate(c.form)) is not None]
        for index, (_, reasons) in found.items():
            own = [(c, form) for c, form in least if form.indices == {index}]
            each = {reason: self._intersect(index, [b for b in own if b[0].reason == reason]) for reason in reasons}
            alone = {reason: allowed[0] for reason, allowed in each.items() if allowed}
            if any(interval != found[index][0] for interval in alone.values()):
                self.apart[index] = alone

    def eliminate(self, form: Polynomial) -> Polynomial | None:
        """The least value of `form` over all solved indices, or None if it has none that is plain."""
        return lowest(form, self.solved, self._sign)

    def _sign(self, coefficient: Polynomial) -> int:
        sign = self.facts.sign(coefficient)
        for part in coefficient.atoms if sign else ():
            if not isinstance(part, Size):
                return 0
            if part.name not in self.facts.lowest:
                self.facts.lowest[part.name] = 1
                self.positive[part.name] = f"{part.name} multiplies an index"
        return sign

    def _intersect(self, index: str, bounds: list[tuple[Constraint, Polynomial]]) -> tuple[Interval, list[str]] | None:
        lowers: list[Polynomial] = []
        uppers: list[Polynomial] = []
        reasons: list[str] = []
        for constraint, form in bounds:
            if parts := split_linear(form, Index(index, INT64)):
                factor, rest = parts
                sign = self._sign(factor)
                if sign > 0:
                    lowers.append(-self._floor(rest, factor))
                elif sign < 0:
                    uppers.append(self._floor(rest, -factor) + 1)
                if sign and constraint.reason not in reasons:
                    reasons.append(constraint.reason)
        if not lowers or not uppers:
            return None
        return Interval(self.facts.largest(lowers), self.facts.smallest(uppers)), reasons

    def _floor(self, a: Polynomial, divisor: Polynomial) -> Polynomial:
        if divisor.constant is not None or len(divisor.terms) != 1:
            return divide(a, divisor)
        quotient, rest = exact_quotient(a, divisor)
        return quotient + divide(rest, divisor) if rest else quotient


def access_constraints(
    subscript: Expr, lower: Polynomial, upper: Polynomial, reason: str, tier: int
) -> list[Constraint]:
    """`lower <= subscript < upper` as constraints; a floor division on top is opened first."""
    if not is_plain(subscript):
        return []
    form = polynomial(subscript)
    opened = _open_division(form)
    if opened:
        numerator, divisor, rest = opened
        low = numerator - divisor * (lower - rest)
        high = divisor * (upper - rest) - 1 - numerator
    else:
        low, high = form - lower, upper - 1 - form
    return [Constraint(low, reason, tier), Constraint(high, reason, tier)]


def _open_division(form: Polynomial) -> tuple[Polynomial, Polynomial, Polynomial] | None:
    """Numerator, divisor and rest of `numerator / divisor + rest`, where only the numerator has indices."""
    moving = Polynomial({monomial: x for monomial, x in form.terms if Polynomial({monomial: x}).indices})
    match moving.only_atom():
        case Binary("/", numerator, Const() | Size() as divisor, _):
            return polynomial(numerator), polynomial(divisor), form - moving
    return None


def reason_for(read: Expr, subscript: Expr, dimension: int, lower: Polynomial, upper: Polynomial) -> str:
    """Words for the bounds of one access."""
    return _reason(read, subscript, dimension, tuple(lower.terms), tuple(upper.terms))


@lru_cache(maxsize=1 << 14)
def _reason(read: Expr, subscript: Expr, dimension: int, lower: Terms, upper: Terms) -> str:
    low, high = (show(bound(Polynomial(dict(terms)))) for terms in (lower, upper))
    return f"{show(read)} needs {low} <= {show(subscript)} < {high} in dimension {dimension}"
