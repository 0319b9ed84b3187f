"""Sums that are 0 by what is summed up: deviations from their own mean.

A variance hands a gradient to the mean, `Σ (x - mean)`, which is 0 but for rounding and costs a pass over the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from operator import mul

from workbench.lang.algebra.normal_form import is_plain, polynomial
from workbench.lang.algebra.polynomial import number
from workbench.lang.derived.calculus.products import product
from workbench.lang.derived.forward.replay import Replay
from workbench.lang.derived.placing.placement import renewed
from workbench.lang.expr import Binary, Cast, Expr, Index, Read, index_names
from workbench.lang.operator import Range, Statement

DEEP = 4  # statements that are followed to where a mean was summed up


@dataclass
class Deviations:
    """What is known of means in one program."""

    replay: Replay

    def vanish(self, value: Expr, sums: tuple[Range, ...]) -> bool:
        """Whether the sum of a value over some ranges is 0: it is a term less the mean of these terms."""
        wanted = set(self.replay.wanted)  # a question asks for no values
        try:
            match value:
                case Binary("-", one, other, _):
                    return self._is_mean(one, other, sums) or self._is_mean(other, one, sums)
            return False
        finally:
            self.replay.wanted = wanted

    def _is_mean(self, mean: Expr, term: Expr, sums: tuple[Range, ...]) -> bool:
        if index_names(mean) & {r.index for r in sums}:
            return False
        for _ in range(DEEP):
            quotient = product(mean)
            match quotient.above:
                case (Read() as total,):
                    below = quotient.below
                case _:
                    return False
            if below:
                return _count(sums, below) and self._sums_up(total, term, sums)
            following = self._definition(total)
            if following is None:
                return False
            mean = following
        return False

    def _definition(self, node: Read) -> Expr | None:
        """What a cell was assigned, over values as they were."""
        statement = self._writer(node)
        if statement is None or statement.reduction is not None:
            return None
        return renewed(self.replay.values(statement.values[0], statement), _called(statement, node))

    def _sums_up(self, total: Read, term: Expr, sums: tuple[Range, ...]) -> bool:
        """Whether a cell holds the sum of the terms over these ranges."""
        statement = self._writer(total)
        if statement is None or statement.reduction != "+" or not statement.initialise:
            return False
        called = _called(statement, total)
        own = [r for r in statement.ranges if r.kind == "reduction"]
        value = self.replay.values(statement.values[0], statement)
        for order in permutations(sums) if len(own) == len(sums) else ():
            names: dict[str, Expr] = {a.index: Index(b.index) for a, b in zip(own, order, strict=True)}
            same = all(_same(a, b, called | names) for a, b in zip(own, order, strict=True))
            if same and renewed(value, called | names) == term:
                return True
        return False

    def _writer(self, node: Read) -> Statement | None:
        """The only statement that gave a tensor its values by then, each cell under indices of its own."""
        name, _, at = node.tensor.partition("@")
        step = self.replay.steps[int(at)] if at and int(at) >= 0 else None
        if not isinstance(step, Statement) or [target.tensor for target in step.targets] != [name]:
            return None
        subscripts = step.targets[0].subscripts
        own = {s.name for s in subscripts if isinstance(s, Index)}
        return step if len(own) == len(subscripts) else None


def _called(statement: Statement, node: Read) -> dict[str, Expr]:
    """What the indices of a statement's target are called where its cell is read."""
    pairs = zip(statement.targets[0].subscripts, node.subscripts, strict=True)
    return {own.name: given for own, given in pairs if isinstance(own, Index)}


def _same(own: Range, other: Range, called: dict[str, Expr]) -> bool:
    bounds = ((own.lower, other.lower), (own.upper, other.upper))
    return all(polynomial(renewed(a, called)) == polynomial(b) for a, b in bounds)


def _count(sums: tuple[Range, ...], below: tuple[Expr, ...]) -> bool:
    """Whether a divisor is the number of terms."""
    lengths = (polynomial(r.upper) - polynomial(r.lower) for r in sums)
    divisors = tuple(_integer(each) for each in below)
    if not all(map(is_plain, divisors)):
        return False
    return reduce(mul, lengths, number(1)) == reduce(mul, map(polynomial, divisors), number(1))


def _integer(divisor: Expr) -> Expr:
    return divisor.operand if isinstance(divisor, Cast) and not divisor.operand.dtype.is_float else divisor
