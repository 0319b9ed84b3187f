"""A Schedule is its trace: the program, and the steps that changed the order a person would write."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from workbench import poly
from workbench.errors import IllegalSchedule, ScheduleError, shown
from workbench.lang.operator import Operator
from workbench.poly.binding import given_sizes
from workbench.poly.program import Program
from workbench.poly.tree import Tree
from workbench.schedules.legality import Verdict, judge
from workbench.schedules.schedule_text import schedule_sheet
from workbench.schedules.transform import Transform, as_step


@dataclass(frozen=True, eq=False)
class Schedule:
    """A scheduled program.

    `tree` is the time map with each loop's execution kind; `trace` the steps that led to it from
    the naive order.  Two schedules are equal if their programs and traces are.
    """

    program: Program
    tree: Tree
    trace: tuple[Transform, ...] = ()

    def __or__(self, step: Transform) -> Schedule:
        """Apply a step, or a recipe of steps; IllegalSchedule with a witness if the result would change."""
        after = as_step(step).on(self)
        verdict = after.verdict
        if not verdict:
            raise IllegalSchedule(f"{step}: {verdict.explain(after.program)}", verdict)
        return after

    @cached_property
    def verdict(self) -> Verdict:
        """Whether this order computes what the operator says; the order a person would write does by definition."""
        if not self.trace and self.tree == poly.naive_tree(self.program):
            return Verdict("legal", (), self.program, self.tree)
        return judge(self.program, self.tree)

    @property
    def key(self) -> str:
        """A hash of the program and the time map: schedules with one key generate one kernel."""
        text = repr((self.program.key, self.tree))
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def with_tree(self, tree: Tree, step: Transform) -> Schedule:
        """The schedule after `step` produced `tree` (not judged here)."""
        return replace(self, tree=tree, trace=(*self.trace, step))

    def to_json(self) -> str:
        """The trace as JSON; `steps.replay` reads it back."""
        return json.dumps([step.to_json() for step in self.trace])

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
    """Lower an operator; a program is taken as it is."""
    if isinstance(value, Program):
        return value
    return poly.lower(value, sizes)


def check(schedule: Schedule, /) -> Verdict:
    """The verdict on a schedule: legal, or illegal with the instances that prove it."""
    if not isinstance(schedule, Schedule):
        raise ScheduleError(f"check takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
    return schedule.verdict


JsonStep = dict[str, Any]
