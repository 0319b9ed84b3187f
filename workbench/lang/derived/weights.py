"""What one contribution to a statement's result, and one read of it, gets of the adjoint of the result."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lang.derived.building import Building
from workbench.lang.derived.calculus.algebra import ONE, ZERO, both, compared_by, if_then_else, over, times
from workbench.lang.derived.calculus.products import is_costly
from workbench.lang.derived.calculus.pullback import Guard
from workbench.lang.derived.forward.replay import Replay
from workbench.lang.derived.forward.stepping import read
from workbench.lang.derived.placing.contributions import Shares
from workbench.lang.derived.systems import intervals
from workbench.lang.derived.text.source import walked
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Cast, Const, Expr, Index, Read, transform
from workbench.lang.operator import Statement


@dataclass
class Weights:
    """Derivatives of reductions, over values as they were at a statement."""

    building: Building
    replay: Replay

    def seeded(self, statement: Statement, shares: dict[Guard, Expr], weights: Shares) -> Shares:
        found: Shares = []
        if self._is_worth_reading(statement):
            shares = {guard: self._known(statement, factor) for guard, factor in shares.items()}
        for own, weight in weights:
            for guard, factor in shares.items():
                conditions_ = tuple(self.replay.values(each, statement) for each in guard)
                found.append(((*own, *conditions_), times(weight, self.replay.values(factor, statement))))
        return found

    def _is_worth_reading(self, statement: Statement) -> bool:
        """Whether the value that was stored costs less than computing it again: something else needs it as well."""
        if statement.reduction is not None or self.building.axes or not is_costly(statement.values[0]):
            return False
        name, (at, _) = statement.targets[0].tensor, self.replay.place[id(statement)]
        if (name, at) in self.replay.given:
            return True
        later = self.replay.steps[at + 1 :]
        return any(name in read(s) for s, _ in walked(later) if self.replay.reaches(name, at, s))

    def _known(self, statement: Statement, factor: Expr) -> Expr:
        """The factor with the stored value for the expression that computes it."""
        target, value = statement.targets[0], statement.values[0]
        stored = self.replay.values(self.building.read(target.tensor, target.subscripts), statement, after=True)
        return transform(factor, lambda node: stored if node == value else node)

    # --- what a reduction makes of the adjoint of its result

    def of(self, statement: Statement, at: int, seed: Read) -> Shares:
        """The derivative of the result by one contribution, times the adjoint of the result."""
        match statement.reduction:
            case None | "+":
                return [((), seed)]
            case "*":
                return self._of_product(statement, seed)
            case _:
                return self._of_choice(statement, seed)

    def _of_choice(self, statement: Statement, seed: Read) -> Shares:
        """min, max, and monoids that select: what equals the result has its share."""
        wins: Expr = Const(True, BOOL)
        for target, value in zip(statement.targets, statement.values, strict=True):
            result = Read(target.tensor, target.subscripts, self.building.tensors[target.tensor].dtype)
            own = self.replay.values(value, statement)
            wins = both(wins, compared_by("==", own, self.replay.values(result, statement, after=True)))
        count = self.building.reduced(statement, "count", "+", if_then_else(wins, Cast(ONE, seed.dtype)), seed.dtype)
        return [((wins,), self._per_cell(statement, "share", over(seed, count)))]

    def _of_product(self, statement: Statement, seed: Read) -> Shares:
        """The product of the others, also where one of them is 0."""
        value = self.replay.values(statement.values[0], statement)
        is_null = compared_by("==", value, ZERO)
        others = self.building.reduced(statement, "others", "*", if_then_else(is_null, ONE, value), seed.dtype)
        nulls = self.building.reduced(statement, "nulls", "+", if_then_else(is_null, Cast(ONE, seed.dtype)), seed.dtype)
        none, one = compared_by("==", nulls, ZERO), compared_by("==", nulls, ONE)
        return [((none,), over(times(seed, others), value)), ((one, is_null), times(seed, others))]

    def _per_cell(self, statement: Statement, wanted: str, value: Expr) -> Read:
        building = self.building
        free = tuple(r for r in statement.ranges if r.kind == "free")
        name = building.make(wanted, value.dtype, intervals(free))
        building.assign(name, [Index(r.index) for r in free], value, free)
        return building.read_named(name, [r.index for r in free])
