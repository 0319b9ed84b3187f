"""The default recipe as a sketch: every decision that it takes is open, the recipe's own choice the default."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from workbench.errors import ScheduleError, shown
from workbench.lang.operator import Operator
from workbench.poly.programs.binding import given_sizes
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules.automatic import autoschedule
from workbench.schedules.choices import choices_of
from workbench.schedules.legality import Verdict
from workbench.schedules.recipes.decisions import Deciding, deciding
from workbench.schedules.recording import write_record
from workbench.schedules.scheduled_program import Schedule, as_program, naive_schedule
from workbench.schedules.sketches.sketch import Sketch
from workbench.schedules.sketches.space import Decision, Point, Space
from workbench.target import Target
from workbench.target_costs import QUANTITIES, Costs
from workbench.wording import number_of

MOST_RUNS = 48
"""Runs of the recipe that look for decisions behind decisions."""


@record(eq=False, repr=False)
class RecipeSketch(Sketch):
    """The default recipe for a machine with its decisions left open, then steps like those of any sketch.

    A point that the recipe finds illegal, or that does not fit, falls back to what does: points may give one schedule.
    """

    target: Target = Target()

    def at(self, point: Point | None = None, /, **decisions: Any) -> Schedule:
        """The recipe's schedule with these decisions; what is not said is as the recipe decides.

        ScheduleError for unknown names and options.
        """
        return super().at(point, **decisions)

    def _begun(self, point: Point) -> tuple[Schedule, tuple[str, ...]]:
        """(the recipe's schedule, the decisions that it asked for and those of the steps after it)."""
        with deciding(point) as recipe:
            schedule = autoschedule(self.schedule.program, self.target)
        later = (choice.name for step in self.steps for _, choice in choices_of(step))
        return schedule, tuple(dict.fromkeys(name for name in (*recipe.asked, *later) if name in point))

    def can(self, point: Point | None = None, /, **decisions: Any) -> Verdict:
        """The verdict on a point."""
        return self.at(point, **decisions).verdict

    def to_json(self) -> str:
        """The program and the machine; the decisions follow from them."""
        if self.steps or self.space.constraints:
            raise ScheduleError("to_json: steps and constraints on a recipe's sketch are not stored yet")
        machine = {f.name: getattr(self.target, f.name) for f in fields(self.target) if f.name not in ("gpu", "costs")}
        if self.target.costs != Costs():  # a machine that nobody calibrated is written as it was before there were any
            machine["costs"] = {name: getattr(self.target.costs, name) for name in QUANTITIES}
        return json.dumps({"recipe": 1, "schedule": json.loads(write_record(self.schedule)), "target": machine})

    def to_python(self) -> str:
        """A script that builds an equal sketch."""
        raise ScheduleError("to_python: a recipe's sketch is wb.sketch(operator, sizes=...)")

    def python(self) -> str:
        """The call that makes it, and the steps."""
        return " | ".join([f"sketch({self.schedule.program.name})", *(step.python() for step in self.steps)])

    def __repr__(self) -> str:
        return f"<Sketch of the default recipe for {self.schedule.program.name}: {number_of(self.space.size, 'point')}>"


def recipe_sketch(
    what: Operator | Program, target: Target, sizes: Mapping[str, int] | None = None, **symbols: int
) -> RecipeSketch:
    """The default recipe of a program for a machine, every decision open."""
    if not isinstance(what, Operator | Program):
        raise ScheduleError(f"sketch takes an operator, or its program, not {shown(what)}")
    program = as_program(what, given_sizes(sizes, symbols))
    return RecipeSketch(naive_schedule(program), (), recipe_space(program, target), (), target)


def recipe_space(program: Program, target: Target) -> Space:
    """The decisions that the recipe takes, also those that other answers lead to."""
    found: dict[str, tuple[Any, ...]] = {}
    first = _asked(program, target, {})
    _merge(found, first)
    waiting = _alternatives(first, {})
    for _ in range(MOST_RUNS):
        if not waiting:
            break
        chosen = waiting.pop(0)
        run = _asked(program, target, chosen)
        known = {*found}
        _merge(found, run)
        if fresh := {*run.opening} & ({*run.asked} - known):
            waiting += [c for c in _alternatives(run, chosen) if {*c} & fresh]
    return Space(tuple(Decision(name, options) for name, options in found.items() if len(options) > 1))


def _asked(program: Program, target: Target, chosen: Mapping[str, Any]) -> Deciding:
    with deciding(chosen) as asked:
        autoschedule(program, target)
    return asked


def _alternatives(run: Deciding, chosen: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What was chosen with one other answer to a question that may lead to others."""
    return [
        {**chosen, name: option} for name, options in run.asked.items() if name in run.opening and name not in chosen
        for option in options[1:]
    ]  # fmt: skip


def _merge(found: dict[str, tuple[Any, ...]], run: Deciding) -> None:
    for name, options in run.asked.items():
        found[name] = tuple(dict.fromkeys((*found.get(name, ()), *options)))
