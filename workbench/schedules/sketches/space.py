"""The points of a sketch: every decision with its options, and the constraints that a point has to meet."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.records import record
from workbench.schedules.sketches.constraints import Constraint
from workbench.schedules.transform import Transform
from workbench.wording import number_of

Point = dict[str, Any]
TRIES = 1000
"""Random points that are tried before those that meet the constraints are looked for one by one."""


@record
class Decision:
    """What is left open: a name, and the options, of which the first is the default."""

    name: str
    options: tuple[Any, ...]

    @cached_property
    def ordered(self) -> bool:
        """Whether the options are numbers, so that some are nearer to one another."""
        return all(isinstance(o, int | float) and not isinstance(o, bool) for o in self.options)

    @cached_property
    def ascending(self) -> tuple[int, ...]:
        """The places of the options in their order, the least first, where they are numbers."""
        return tuple(sorted(range(len(self.options)), key=self.options.__getitem__))

    @cached_property
    def places(self) -> dict[tuple[type, Any], int]:
        """Option, told apart by its type (1 is not True) → its place; without those that have no hash."""
        return {(type(o), o): n for n, o in reversed(list(enumerate(self.options))) if isinstance(o, Hashable)}

    def place(self, option: Any) -> int:
        """Where an option stands; ScheduleError for what is none."""
        try:
            return self.places[type(option), option]
        except (KeyError, TypeError):
            pass
        for place, own in enumerate(self.options):
            if type(own) is type(option) and own == option:
                return place
        raise ScheduleError(f"{self.name}={shown(option)} is no option; the options are {self._listed}")

    def restored(self, value: Any) -> Any:
        """The option that a value as JSON gives it back stands for (steps are texts there); itself where none does."""
        value = tuple(value) if isinstance(value, list) else value
        for option in self.options:
            if (type(option) is type(value) and option == value) or (isinstance(value, str) and str(option) == value):
                return option
        return value

    @property
    def _listed(self) -> str:
        return ", ".join(str(o) if isinstance(o, Transform) else repr(o) for o in self.options)

    def __str__(self) -> str:
        return f"{self.name} in {self._listed}"


@record
class Space:
    """The points of a sketch: one option of each decision, as a dict by name, that meets every constraint."""

    decisions: tuple[Decision, ...]
    constraints: tuple[Constraint, ...] = ()

    @property
    def default(self) -> Point:
        """The first option of every decision; it need not meet the constraints."""
        return {d.name: d.options[0] for d in self.decisions}

    @property
    def size(self) -> int:
        """How many points there are; those that are not legal schedules are among them."""
        if not self.constraints:
            return _product(len(d.options) for d in self.decisions)
        return _product(sum(1 for _ in self._walk(group)) for group in self._groups())

    def __contains__(self, point: Mapping[str, Any]) -> bool:
        return self.full(point) is not None and all(c.holds(point) for c in self.constraints)

    def __iter__(self) -> Iterator[Point]:
        """Every point, the last decision changing fastest."""
        return self._walk(self.decisions)

    def full(self, point: Mapping[str, Any]) -> Point:
        """The point with defaults for what it does not say; ScheduleError for names and options that are unknown."""
        known = {d.name: d for d in self.decisions}
        for name, option in point.items():
            if name not in known:
                raise ScheduleError(unknown_name("decision", name, list(known)))
            known[name].place(option)
        return {**self.default, **point}

    def restored(self, point: Mapping[str, Any]) -> Point:
        """A point as JSON gives it back, with the options of this space where they are among them."""
        known = {d.name: d for d in self.decisions}
        return {name: known[name].restored(value) if name in known else value for name, value in point.items()}

    def index(self, point: Mapping[str, Any]) -> tuple[int, ...]:
        """The place of each decision's option: a point as numbers."""
        try:
            return tuple([places[type(option := point[name]), option] for name, places in self._places])
        except (KeyError, TypeError):  # an option without a hash, or none at all
            return tuple(d.place(point[d.name]) for d in self.decisions)

    @cached_property
    def _places(self) -> tuple[tuple[str, dict[tuple[type, Any], int]], ...]:
        return tuple((d.name, d.places) for d in self.decisions)

    def at(self, index: Sequence[int]) -> Point:
        """The point of `index`."""
        return {d.name: d.options[place] for d, place in zip(self.decisions, index, strict=True)}

    def sample(self, count: int = 1, seed: int | None = None) -> list[Point]:
        """`count` random points, each as likely as any other, drawn one by one; ScheduleError for an empty space."""
        draw = random.Random(seed)
        return [self._one(draw) for _ in range(count)]

    def neighbours(self, point: Mapping[str, Any]) -> list[Point]:
        """The points that differ in one decision: in the next number to either side, or in any other option."""
        found = []
        for decision in self.decisions:
            place = decision.place(point[decision.name])
            order = sorted(decision.options) if decision.ordered else decision.options
            others = [o for n, o in enumerate(decision.options) if n != place]
            if decision.ordered:
                at = order.index(decision.options[place])
                others = [*order[max(0, at - 1) : at], *order[at + 1 : at + 2]]
            found += [{**point, decision.name: other} for other in others]
        return [p for p in found if all(c.holds(p) for c in self.constraints)]

    def _one(self, draw: random.Random) -> Point:
        for _ in range(TRIES):
            point = {d.name: draw.choice(d.options) for d in self.decisions}
            if all(c.holds(point) for c in self.constraints):
                return point
        parts = [list(self._walk(group)) for group in self._groups()]
        if not all(parts):
            said = "; ".join(map(str, self.constraints))
            raise ScheduleError(f"the space is empty: no options of the decisions meet the constraints ({said})")
        drawn = {name: option for part in parts for name, option in draw.choice(part).items()}
        return {d.name: drawn[d.name] for d in self.decisions}

    def _groups(self) -> list[tuple[Decision, ...]]:
        """The decisions that constraints bind together."""
        of = {d.name: {d.name} for d in self.decisions}
        for constraint in self.constraints:
            together = set().union(*(of[name] for name in constraint.names))
            for name in together:
                of[name] = together
        groups = {id(names): names for names in of.values()}.values()
        return [tuple(d for d in self.decisions if d.name in names) for names in groups]

    def _walk(self, decisions: tuple[Decision, ...], point: Point | None = None) -> Iterator[Point]:
        """All ways to decide that meet the constraints on what is decided."""
        point = point or {}
        if len(point) == len(decisions):
            yield dict(point)
            return
        decision = decisions[len(point)]
        decided = {*point, decision.name}
        asked = [c for c in self.constraints if decision.name in c.names and c.names <= decided]
        for option in decision.options:
            point[decision.name] = option
            if all(c.holds(point) for c in asked):
                yield from self._walk(decisions, point)
            del point[decision.name]

    def __str__(self) -> str:
        lines = [*map(str, self.decisions), *(f"where {c}" for c in self.constraints)]
        return "\n".join([f"space of {number_of(self.size, 'point')}", *(f"  {line}" for line in lines)])


def _product(factors: Any) -> int:
    found = 1
    for factor in factors:
        found *= factor
    return found
