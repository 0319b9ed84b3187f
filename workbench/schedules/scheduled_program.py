"""A Schedule is its trace: the program, and the steps that changed the order a person would write."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

from workbench import poly
from workbench.errors import BudgetExceeded, IllegalSchedule, ScheduleError, UnknownLoop, shown
from workbench.lang.operator import Operator
from workbench.poly.lowering import bound
from workbench.poly.programs.binding import given_sizes
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.records import record
from workbench.schedules.legality import Verdict, verdict_on
from workbench.schedules.normal_form import normal_text
from workbench.schedules.recording import read_record, write_record, write_script
from workbench.schedules.replaying import replay_record, undo, with_history, without
from workbench.schedules.schedule_text import schedule_sheet
from workbench.schedules.transform import Recipe, Transform, as_step, singles

if TYPE_CHECKING:
    from workbench.schedules.choices import Choice
    from workbench.schedules.sketches.sketch import Sketch


@record(eq=False)
class Schedule:
    """A scheduled program.

    `program` is what the steps so far made of the operator's: statement instances and the storage they touch; `tree` is
    the time map with each loop's execution kind; `trace` the steps that led to it from the naive order.  `differences`
    is what instance and storage steps broke, if they did.  Two schedules are equal if their programs and traces are.
    """

    program: Program
    tree: Tree
    trace: tuple[Transform, ...] = ()
    differences: tuple[poly.Difference, ...] = ()

    @property
    def original(self) -> Program:
        """The operator's program, before any step."""
        return self.program.original

    @overload
    def __or__(self, step: Choice) -> Sketch: ...
    @overload
    def __or__(self, step: Transform) -> Schedule: ...
    def __or__(self, step: Any) -> Schedule | Sketch:
        """Apply a step, or a recipe of steps; IllegalSchedule with a witness if the result would change.

        A step in which a `choose(...)` stands, or one in its place, makes a Sketch.  A schedule that is not legal
        already (a `preview`) takes any step that fits; its verdict says when it is legal again.
        """
        if getattr(step, "leaves_open", False) or getattr(step, "among_steps", False):
            from workbench.schedules.sketches.sketch import Sketch  # which makes schedules

            return Sketch(self) | step
        after = self._after(step)
        if after.verdict or not self.verdict:
            return after
        raise IllegalSchedule(None, after.verdict, schedule=self, step=step)

    def _after(self, step: Transform) -> Schedule:
        """The step applied and not judged; an unknown loop comes with what became of it, and what was too much work
        with the step.
        """
        try:
            return as_step(step).on(self)
        except UnknownLoop as error:
            raise with_history(error, self) from None
        except BudgetExceeded as error:
            raise error if type(step) is Recipe else BudgetExceeded(f"{step}: {error}") from None

    def can(self, step: Transform) -> Verdict:
        """The verdict on this schedule after a step, and no exception: its `reason` says why a step does not fit."""
        step = as_step(step)
        try:
            after = step.on(self)
            found = after.verdict
            if found.outcome == "unknown":
                vars(after).pop("verdict", None)  # who asks again with more time is answered anew
            return found
        except BudgetExceeded as error:
            return Verdict("unknown", (), self.program, self.tree, str(error))
        except ScheduleError as error:
            judged = getattr(error, "verdict", None)
            return Verdict("illegal", (), self.program, self.tree, str(error)) if judged is None else judged

    @property
    def start(self) -> Schedule:
        """The naive schedule of the operator, where the trace begins."""
        return naive_schedule(self.program.original)

    def undo(self, count: int = 1) -> Schedule:
        """The schedule before its last step, or the last few."""
        return undo(self, count)

    def without(self, which: int | Transform) -> Schedule:
        """The schedule as if one step of its trace (a place, or the step itself) had not been taken.

        The steps after it are taken again.  The first that no longer applies is named: ScheduleError where it does not
        fit, IllegalSchedule where it would change the result.
        """
        return without(self, which)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether this order computes what the operator says; the order a person would write does by definition."""
        if not self.trace and self.tree == poly.naive_tree(self.program):
            return Verdict("legal", (), self.program, self.tree)
        return verdict_on(self.program, self.tree, self.differences)

    @cached_property
    def key(self) -> str:
        """A hash of the scheduled program in normal form: schedules with one key are one computation, whatever the
        steps that led to it and the names of its loops.
        """
        return hashlib.sha256(normal_text(self.program, self.tree).encode()).hexdigest()[:24]

    def with_tree(self, tree: Tree, step: Transform) -> Schedule:
        """The schedule after `step` produced `tree` (not judged here)."""
        return replace(self, tree=tree, trace=(*self.trace, step))

    def with_program(self, program: Program, tree: Tree, step: Transform) -> Schedule:
        """The schedule after `step` changed instances or storage; what differs is found here."""
        found = poly.differences(self.program, program)
        return replace(
            self, program=program, tree=tree, trace=(*self.trace, step), differences=(*self.differences, *found)
        )

    def to_json(self) -> str:
        """The schedule as JSON: format version, operator with a fingerprint, sizes, steps.  `from_json` reads it."""
        return write_record(self)

    @classmethod
    def from_json(cls, operator: Operator | Program, text: str, /) -> Schedule:
        """The schedule that `to_json` wrote; ScheduleError says what does not fit (damaged text, a newer format,
        another operator, a step that does not apply).
        """
        program, steps, previewed = read_record(operator, text)
        return replay_record(naive_schedule(program), steps, previewed=previewed)

    def to_python(self) -> str:
        """A script that builds an equal schedule: the operator, its sizes, the steps."""
        return write_script(self)

    def python(self) -> str:
        """The trace as the Python that produces it."""
        return " | ".join(["naive", *(step.python() for step in self.trace)])

    def steps(self) -> str:
        """The trace in one line, for a person: `naive | tile(m=64) | affine(isl)`."""
        return " | ".join(["naive", *(str(step) for step in self.trace)])

    def __str__(self) -> str:
        return schedule_sheet(self)

    def __repr__(self) -> str:
        return f"<Schedule of {self.program.name}: {self.steps()}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and (self.program, self.trace) == (other.program, other.trace)

    def __hash__(self) -> int:
        return hash((self.program, self.trace))


def schedule(
    program: Operator | Program, /, sizes: Mapping[str, int] | None = None, **symbols: int
) -> Schedule:
    """The naive schedule: the loops a person would write by hand.

    `sizes` (or keywords) bind size symbols and integer scalars; what is left out stays symbolic.
    """
    return naive_schedule(as_program(program, given_sizes(sizes, symbols)))


def naive_schedule(program: Program) -> Schedule:
    """The schedule with an empty trace."""
    return Schedule(program, poly.naive_tree(program))


def as_program(value: Operator | Program, sizes: Mapping[str, int]) -> Program:
    """Lower an operator; of a program, the sizes are bound."""
    if isinstance(value, Program):
        return bound(value, sizes)
    return poly.lower(value, sizes)


def check(schedule: Schedule, /) -> Verdict:
    """The verdict on a schedule: legal, or illegal with the instances that prove it."""
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"check takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    return schedule.verdict


def preview(schedule: Schedule, step: Transform, /) -> Schedule:
    """The schedule after a step (or a recipe), whether that is legal or not; its `verdict` says.

    More steps may follow with `|`: none of them is refused for its legality as long as the schedule they are applied
    to is not legal.  `generate` and `build` refuse such a schedule unless told `unsafe=True`.
    """
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"preview takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    for single in singles(as_step(step)):
        schedule = schedule._after(single)
    return schedule
