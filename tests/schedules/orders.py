"""Random steps that change only the order, legal or not."""

from __future__ import annotations

from random import Random

from tests.poly.trees import scramble
from workbench import schedules
from workbench.errors import ScheduleError
from workbench.poly.programs.tree import loops
from workbench.schedules import Schedule, Transform

ORDER = ("interchange", "merge", "distribute", "parallelize", "tile", "vectorize", "skew", "reverse", "shift")


def order_step(schedule: Schedule, random: Random) -> Transform | None:
    """What is offered, tiles of loops wherever they stand, or any tree."""
    match random.choice("ccca" + "t"):
        case "a":
            return schedules.affine(scramble(schedule.tree, random, schedule.program), "scrambled")
        case "t":
            names = list(dict.fromkeys(loop.name for loop in loops(schedule.tree)))
            chosen = random.sample(names, min(len(names), random.randint(1, 3)))
            return schedules.tile({name: random.choice((1, 2, 3)) for name in chosen}) if chosen else None
    offered = list(Transform.known[random.choice(ORDER)].choices(schedule))
    return random.choice(offered) if offered else None


def wild_order(schedule: Schedule, random: Random) -> Schedule:
    """The schedule after one to three steps, whatever they break."""
    for _ in range(random.choice((1, 1, 2, 3))):
        step = order_step(schedule, random)
        try:
            schedule = schedule if step is None else step.on(schedule)
        except ScheduleError:
            continue
    return schedule
