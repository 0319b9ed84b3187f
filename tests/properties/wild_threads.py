"""Random threads, barriers and atomic updates with arguments that nothing offers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from workbench import schedules
from workbench.poly.programs.tree import AXES, path
from workbench.schedules import Schedule, Transform


def _bind(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any loop and any axis, whatever stands around it; most of them threads, which can wait."""
    weights = [1 if axis.startswith("block") else 3 for axis in AXES]
    return schedules.bind(random.choice(names), random.choices(AXES, weights)[0]) if names else None


def _barrier(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Before any statement, in any loop around it."""
    own = random.choice(schedule.program.statements)
    around = [loop.name for loop in path(schedule.tree, own.id)]
    return schedules.barrier(own.name, random.choice(around) if around and random.random() < 0.5 else "")


def _atomic(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any statement that combines something with its cells."""
    found = [s.name for s in schedule.program.statements if s.kind == "update"]
    return schedules.atomic(random.choice(found)) if found else None


THREADS: dict[str, Callable[[Schedule, list[str], Random], Transform | None]] = {
    "atomic": _atomic,
    "barrier": _barrier,
    "bind": _bind,
}
