"""Random steps, legal or not: what the transforms offer, and what they accept beyond that."""

from __future__ import annotations

from random import Random

from tests.poly.trees import scramble
from tests.properties.ways import random_step
from workbench import schedules
from workbench.errors import ScheduleError
from workbench.poly.tree import loops
from workbench.schedules import Schedule, Transform


def wild_step(schedule: Schedule, random: Random) -> Transform | None:
    """A step that nobody judged: a choice, loops in any order, a wild tree."""
    names = list(dict.fromkeys(loop.name for loop in loops(schedule.tree)))
    match random.choice("cccciat"):
        case "a":
            return schedules.affine(scramble(schedule.tree, random, schedule.program), "scrambled")
        case "i" if len(names) > 1:
            return schedules.interchange(*random.sample(names, random.randint(2, min(4, len(names)))))
        case "t" if names:
            chosen = random.sample(names, random.randint(1, min(3, len(names))))
            return schedules.tile({n: random.choice((1, 2, 3)) for n in chosen})
    return random_step(schedule, random)


def wild_schedule(schedule: Schedule, random: Random) -> tuple[Schedule, list[Transform]]:
    """One to three steps, whatever they break; those that do not fit are left out."""
    taken: list[Transform] = []
    for _ in range(random.choice((1, 1, 2, 3))):
        step = wild_step(schedule, random)
        if step is None:
            continue
        try:
            schedule = step.on(schedule)
            taken.append(step)
        except ScheduleError:
            continue
    return schedule, taken
