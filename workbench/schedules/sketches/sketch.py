"""`Sketch`: a schedule with decisions left open; a choice stands where an argument or a step would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.errors import BudgetExceeded, ScheduleError, UnchangedSchedule, shown
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules.choices import Choice, choices_of, map_choices
from workbench.schedules.legality import Verdict
from workbench.schedules.sketches.constraints import constraint
from workbench.schedules.sketches.space import Decision, Point, Space
from workbench.schedules.transform import Recipe, Transform, as_step
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule


@record(eq=False, repr=False)
class Sketch:
    """A schedule whose next steps leave something to choose.

    `schedule` is what stands before them, `steps` are they, in whose choices the decisions are named, `space` says what
    there is to decide.  `seen` remembers which choice became which decision: one that stands in two places is one.
    """

    schedule: Schedule
    steps: tuple[Transform, ...] = ()
    space: Space = Space(())
    seen: tuple[tuple[Choice, str], ...] = ()

    def __or__(self, step: Transform | Choice) -> Sketch:
        """One more step, with choices or without."""
        sketch = self
        for part in as_step(step).steps():
            sketch = sketch._with(part)
        return sketch

    def at(self, point: Point | None = None, /, **decisions: Any) -> Schedule:
        """The schedule with everything decided; what is not said takes its first option.

        ScheduleError for unknown names and options, for a point that a constraint excludes and for a step that does not
        fit, IllegalSchedule where the result would change.
        """
        return self.followed({**(point or {}), **decisions})[0]

    def followed(self, point: Point) -> tuple[Schedule, tuple[str, ...]]:
        """(the schedule of a point, the decisions that it follows from, in the order in which they are asked).

        A point that decides these alike gives the same schedule, whatever else it decides; which is asked next depends
        on nothing but the answers before.
        """
        whole = self.space.full(point)
        self.require(whole)
        schedule, asked = self._begun(whole)
        for step in self.decided(whole):
            schedule = _after(schedule, step)
        return schedule, asked

    def require(self, point: Point) -> None:
        """ScheduleError for a point that a constraint excludes."""
        for one in self.space.constraints:
            if not one.holds(point):
                given = ", ".join(f"{name}={shown(point[name])}" for name in sorted(one.names))
                raise ScheduleError(f"the sketch excludes {given}: {one} does not hold")

    def can(self, point: Point | None = None, /, **decisions: Any) -> Verdict:
        """The verdict on a point, and no exception: its `reason` says why a step does not fit."""
        whole = self.space.full({**(point or {}), **decisions})
        schedule = self.schedule
        for step in self.decided(whole):
            try:
                schedule = _after(schedule, step)
            except (ScheduleError, BudgetExceeded):
                return schedule.can(step)
        return schedule.verdict

    def _begun(self, point: Point) -> tuple[Schedule, tuple[str, ...]]:
        """(what stands before the steps, the decisions that the whole follows from)."""
        return self.schedule, tuple(point)

    def decided(self, point: Point) -> list[Transform]:
        """The steps of a point."""
        made = (map_choices(step, lambda choice: point[choice.name or ""]) for step in self.steps)
        return [step for step in made if step is not None]

    def to_json(self) -> str:
        """The sketch as JSON, without pickles; ScheduleError where a constraint is a function, or an option no plain
        value.
        """
        from workbench.schedules.sketches.sketch_records import write_sketch

        return write_sketch(self)

    @classmethod
    def from_json(cls, operator: Operator | Program, text: str, /) -> Sketch:
        """The sketch that `to_json` wrote for this operator; ScheduleError says what does not fit."""
        from workbench.schedules.sketches.sketch_records import read_sketch

        schedule, steps, predicates = read_sketch(operator, text)
        sketch = cls(schedule)
        for step in steps:
            sketch = sketch | step
        for predicate in predicates:
            sketch = where(sketch, predicate)
        return sketch

    def to_python(self) -> str:
        """A script that builds an equal sketch."""
        from workbench.schedules.sketches.sketch_records import sketch_script

        return sketch_script(self)

    def _with(self, step: Transform) -> Sketch:
        decisions = {d.name: d for d in self.space.decisions}
        seen = list(self.seen)
        for usual, choice in choices_of(step):
            if not any(own is choice for own, _ in seen):
                name = _name(choice, usual, decisions)
                decisions.setdefault(name, Decision(name, ()))
                seen.append((choice, name))
        names = {id(choice): name for choice, name in seen}

        def named(choice: Choice) -> Choice:
            return Choice(tuple(map(_plain, choice.options)), names[id(choice)])

        after = map_choices(step, named)
        assert after is not None
        for _, choice in choices_of(after):
            _require_same(choice, decisions)
            decisions[choice.name or ""] = Decision(choice.name or "", choice.options)
        space = replace(self.space, decisions=tuple(decisions.values()))
        return replace(self, steps=(*self.steps, after), space=space, seen=tuple(seen))

    def python(self) -> str:
        """The steps as the Python that produces them."""
        return " | ".join([self.schedule.python(), *(step.python() for step in self.steps)])

    def __str__(self) -> str:
        steps = " | ".join([self.schedule.steps(), *map(str, self.steps)])
        return f"sketch of {self.schedule.program.name}: {steps}\n{self.space}"

    def __repr__(self) -> str:
        return f"<Sketch of {self.schedule.program.name}: {number_of(self.space.size, 'point')}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return (self.schedule, self.steps, self.space) == (other.schedule, other.steps, other.space)

    def __hash__(self) -> int:
        return hash((self.schedule, str(self)))


def _after(schedule: Schedule, step: Transform) -> Schedule:
    """The schedule after a decided step; where that changes nothing at this point, the schedule."""
    for part in step.steps():
        try:
            schedule = schedule | part
        except UnchangedSchedule:
            if isinstance(part, Recipe):
                raise
    return schedule


def where(sketch: Sketch, predicate: str | Callable[..., Any], /) -> Sketch:
    """The sketch with a constraint on its points: `wb.where(sketch, "tile_m * tile_n <= 4096")`.

    A function whose parameters are names of decisions does it too; but such a sketch cannot be stored.
    """
    if not isinstance(sketch, Sketch):
        raise ScheduleError(f"where takes a sketch, as schedule | tile(m=choose(16, 32)) makes it, not {shown(sketch)}")
    made = constraint(predicate, [d.name for d in sketch.space.decisions])
    return replace(sketch, space=replace(sketch.space, constraints=(*sketch.space.constraints, made)))


def _name(choice: Choice, usual: str, decisions: dict[str, Decision]) -> str:
    """What a new choice is called: as it says, else by its place, numbered where that is taken."""
    if choice.name is not None:
        return choice.name
    names = [usual, *(f"{usual}_{n}" for n in range(2, len(decisions) + 3))]
    return next(name for name in names if name not in decisions)


def _require_same(choice: Choice, decisions: dict[str, Decision]) -> None:
    known = decisions[choice.name or ""].options
    if known and known != choice.options:
        message = f"two choices are called {choice.name!r}: {Decision(choice.name or '', known)}; and {choice}"
        raise ScheduleError(f"{message}; give them different names, or use one choose(...) in both places")


def _plain(option: Any) -> Any:
    """Lists as tuples, so that options can be compared with those that come back from JSON."""
    return tuple(map(_plain, option)) if isinstance(option, list | tuple) else option
