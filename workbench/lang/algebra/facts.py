"""What is known of the sizes, and what follows: proofs by lower bounds on polynomials.

Sizes that come from shapes are at least 0; a scalar that multiplies an index is assumed to be at least 1
(and that assumption becomes a condition of the call).
"""

from __future__ import annotations

from dataclasses import field

from workbench.lang.algebra.normal_form import extreme, polynomial
from workbench.lang.algebra.polynomial import Monomial, Polynomial, without
from workbench.lang.expr import Binary, Call, Const, Expr, Size
from workbench.records import record

_DEEPEST = 6


@record(frozen=False)
class Facts:
    """Known lower bounds of size symbols, by name; a name that is missing may be anything."""

    lowest: dict[str, int] = field(default_factory=dict)

    def least(self, a: Polynomial, depth: int = 0) -> int | None:
        """A number that `a` is never below, or None."""
        if depth > _DEEPEST:
            return None
        for monomial, coefficient in a.terms:
            for part in monomial:
                if not isinstance(part, Size):
                    rest = a - Polynomial({monomial: coefficient})
                    return self._opaque(rest, monomial, part, coefficient, depth + 1)
        total = 0
        for monomial, coefficient in a.terms:
            low = self._product(monomial)
            if monomial and (coefficient < 0 or low is None):
                return None
            total += coefficient * (low or 0)
        return total

    def _product(self, monomial: Monomial) -> int | None:
        product = 1
        for part in monomial:
            low = self.lowest.get(part.name) if isinstance(part, Size) else None
            if low is None or low < 0:
                return None
            product *= low
        return product

    def _opaque(self, rest: Polynomial, monomial: Monomial, part: Expr, factor: int, depth: int) -> int | None:
        if len(monomial) > 1:
            return self._opaque_product(rest, monomial, part, factor, depth)
        match part:
            case Call("min" | "max" as which, arguments, _):
                options = [self.least(rest + polynomial(each) * factor, depth) for each in arguments]
                any_will_do = (which == "max") == (factor > 0)
                return _best(options) if any_will_do else _worst(options)
            case Binary("/", numerator, Const(divisor, _), _) if divisor > 0:
                slack = factor * (int(divisor) - 1) if factor > 0 else 0
                scaled = rest * int(divisor) + polynomial(numerator) * factor
                low = self.least(scaled - slack, depth)
                return None if low is None else -(-low // int(divisor))
            case Binary("/", numerator, divisor, _) if factor > 0:
                positive = self.at_least(polynomial(divisor), 0) and self.at_least(polynomial(numerator), 0)
                return self.least(rest, depth) if positive else None
            case Binary("%", _, Const(divisor, _), _) if divisor > 0:
                return self.least(rest + min(0, factor * (int(divisor) - 1)), depth)
            case _:
                return None

    def _opaque_product(self, rest: Polynomial, monomial: Monomial, part: Expr, x: int, depth: int) -> int | None:
        factors = (Polynomial({(part,): 1}), Polynomial({without(monomial, part): 1}))
        if x > 0 and all(self.at_least(factor, 0, depth) for factor in factors):
            return self.least(rest, depth)
        return None

    def at_least(self, a: Polynomial, value: int, depth: int = 0) -> bool:
        """Whether `a >= value` is proved."""
        low = self.least(a, depth)
        return low is not None and low >= value

    def smallest(self, candidates: list[Polynomial]) -> Polynomial:
        """min of several, without those that are proved never to win."""
        return extreme("min", self._contenders(candidates, -1))

    def largest(self, candidates: list[Polynomial]) -> Polynomial:
        """max of several, without those that are proved never to win."""
        return extreme("max", self._contenders(candidates, 1))

    def _contenders(self, candidates: list[Polynomial], sign: int) -> list[Polynomial]:
        numbers = [candidate.constant for candidate in candidates]
        known = [number * sign for number in numbers if number is not None]
        if len(known) == len(candidates) > 0:
            return [candidates[known.index(max(known))]]
        kept: list[Polynomial] = []
        for at, candidate in enumerate(candidates):
            rivals = kept + candidates[at + 1 :]
            if not any(self.at_least((rival - candidate) * sign, 0) for rival in rivals):
                kept.append(candidate)
        return kept

    def sign(self, a: Polynomial) -> int:
        """1 if `a` is a positive sum of products, -1 if a negative one, 0 if its sign is not that plain."""
        if a and all(coefficient > 0 for _, coefficient in a.terms):
            return 1
        if a and all(coefficient < 0 for _, coefficient in a.terms):
            return -1
        return 0


def _best(options: list[int | None]) -> int | None:
    known = [option for option in options if option is not None]
    return max(known) if known else None


def _worst(options: list[int | None]) -> int | None:
    known = [option for option in options if option is not None]
    return min(known) if len(known) == len(options) else None
