"""`autoschedule`: a schedule chosen by the workbench."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Literal

from workbench import poly
from workbench.dialects import DIALECTS
from workbench.errors import ScheduleError
from workbench.lang.operator import Operator
from workbench.poly.programs.binding import given_sizes
from workbench.poly.programs.program import Program
from workbench.schedules import steps
from workbench.schedules.scheduled_program import Schedule, as_program, naive_schedule
from workbench.schedules.transform import applied
from workbench.target import Target, unknown_target
from workbench.target_cpus import CPUS
from workbench.target_gpus import GPUS

Fusion = Literal["none", "default", "max"]


def autoschedule(
    op: Operator | Program,
    /,
    target: str | Target = "c",
    *,
    fusion: Fusion | None = None,
    sizes: Mapping[str, int] | None = None,
    **symbols: int,
) -> Schedule:
    """A schedule for an operator, chosen from its structure.

    With `fusion` the order is that of isl's scheduler ("none": one nest a statement group, "default", "max": fuse
    whatever is legal), said as named steps from the naive schedule, or as one `affine` step where no named steps are
    found; without, it is the default recipe of the target: "c", "cuda", a name ("neon", "h200") or a Target.
    """
    if isinstance(op, Schedule):
        raise ScheduleError("autoschedule takes an Operator or Program: of a schedule, autoschedule(schedule.original)")
    machine = _machine(target)
    language = DIALECTS["c"] if machine is None else machine.language
    program = as_program(op, given_sizes(sizes, symbols))
    if fusion is not None:
        if fusion not in ("none", "default", "max"):
            raise ScheduleError(f"unknown fusion {fusion!r}; known: none, default, max")
        tree = poly.isl_tree(program, fusion)
        named = import_module("workbench.schedules.explanation").explained(program, tree)  # many steps to load
        found = named or applied(naive_schedule(program), steps.affine(tree, origin=f"isl, fusion={fusion}"))
        return language.load("bound")(found, machine) if language.for_gpu else found
    return language.load("recipe")(program, machine)


def _machine(target: str | Target) -> Target | None:
    """The machine to schedule for; None for C on any."""
    if isinstance(target, Target):
        return target
    if target == "c":
        return None
    if not isinstance(target, str) or target not in (*DIALECTS, *CPUS, *GPUS):
        raise ScheduleError(unknown_target(target, DIALECTS))
    return Target(target)
