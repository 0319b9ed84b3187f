"""The schedules that every random program goes through, and the memory its arrays lie in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from tests.properties import memory
from tests.properties.inputs import Problem, shape_of
from tests.support import PROFILE
from workbench import poly, schedules
from workbench.codegen import Kernel, generate
from workbench.errors import BudgetExceeded, CodegenError, IllegalSchedule, LoweringError, ScheduleError
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, loops
from workbench.poly.scheduling.scheduler import Fusion
from workbench.schedules import Schedule, Transform
from workbench.schedules.transform import applied
from workbench.target import Target

SECONDS = 2.0  # for isl's scheduler


@dataclass(frozen=True)
class Way:
    """One kernel of a problem: `name` says which schedule, `strides` where the arrays lie (in elements)."""

    name: str
    problem: Problem
    kernel: Kernel
    strides: dict[str, tuple[int, ...]]


def lowered(made: Problem, strides: dict[str, tuple[int, ...]], *, symbolic: bool) -> Program:
    """The program for the problem's sizes, or with its sizes left open."""
    sizes = made.scalars if symbolic else made.sizes
    return poly.lower(made.op, sizes, strides)


def strides(made: Problem, random: Random) -> dict[str, tuple[int, ...]]:
    """Layouts other than row after row for some of the arrays of a call."""
    found = {}
    for name in (*made.op.parameters, *made.op.outputs):
        if name in made.op.scalars or made.op.tensors[name].rank == 0 or random.random() < 0.4:
            continue
        found[name] = memory.layout(random, shape_of(made, name), made.repeated.get(name, ()))
    return found


Named = tuple[str, Schedule]


def scheduled(program: Program, target: Target, random: Random, refusals: Counter[str]) -> Iterator[Named]:
    """Naive, isl's, the default recipe's, and a random walk."""
    naive = schedules.schedule(program)
    yield "naive", naive
    fusion = random.choice(("none", "default", "max"))
    tree = from_isl(program, fusion, refusals)
    if tree is not None:
        yield f"isl {fusion}", applied(naive, schedules.affine(tree, f"isl, fusion={fusion}"))
    yield "default", schedules.default_schedule(program, target)
    yield "random", walk(naive, random, refusals)


def from_isl(program: Program, fusion: Fusion, refusals: Counter[str]) -> Tree | None:
    """The tree of isl's scheduler, if it finds one in time."""
    try:
        return poly.isl_tree(program, fusion, SECONDS)
    except BudgetExceeded:
        refusals["isl: budget"] += 1
    except ScheduleError:
        refusals["isl: no order"] += 1
    return None


def walk(schedule: Schedule, random: Random, refusals: Counter[str]) -> Schedule:
    """A few random steps; each, or two together, was found legal."""
    for _ in range(random.choice((2, 4, 6, 9))):
        step = random_step(schedule, random)
        if step is None:
            break
        try:
            if random.random() < 0.25 and (second := random_step(step.on(schedule), random)) is not None:
                schedule = schedule | schedules.together(step, second)
            else:
                schedule = schedule | step
        except IllegalSchedule:
            refusals[f"illegal: {step.name}"] += 1
        except ScheduleError:
            refusals[f"does not fit: {step.name}"] += 1
    return schedule


def random_step(schedule: Schedule, random: Random) -> Transform | None:
    """One of the choices of a random transform; block sizes are drawn anew, small ones too."""
    kinds = sorted(Transform.known)
    random.shuffle(kinds)
    for kind in kinds:
        offered = list(Transform.known[kind].choices(schedule))
        if offered:
            return resized(random.choice(offered), random)
    return None


def resized(step: Transform, random: Random) -> Transform:
    """The same step with block sizes that fit small loops."""
    match step:
        case schedules.steps.Split():
            return replace(step, size=random.choice((1, 2, 3, 4, 5, 8, 16)))
        case schedules.steps.Tile():
            return replace(step, sizes=tuple((n, random.choice((1, 2, 3, 4, 8))) for n, _ in step.sizes))
        case schedules.steps.Merge():
            return replace(step, depth=random.choice((1, 1, 2, 3)))
    return step


def written(name: str, schedule: Schedule, target: Target, *, unchecked: bool) -> Kernel:
    """The kernel of a schedule under a name of its own."""
    program = replace(schedule.program, name=name)
    return generate(replace(schedule, program=program), target, unchecked=unchecked)


def kinds(schedule: Schedule) -> set[str]:
    """The kinds of loops of a schedule."""
    return {loop.kind for loop in loops(schedule.tree)}


def ways(made: Problem, target: Target, random: Random, refusals: Counter[str], prefix: str) -> Iterator[Way]:
    """Every schedule for the sizes at hand and with the sizes open (in a short run often one of the two)."""
    both = ((False, True),)
    for symbolic in random.choice(both if PROFILE == "full" else (*both, (False,), (True,))):
        layout = strides(made, random) if random.random() < 0.6 else {}
        try:
            program = lowered(made, layout, symbolic=symbolic)
        except LoweringError:
            if not symbolic:
                raise
            refusals["not symbolic"] += 1
            continue
        for number, (name, schedule) in enumerate(scheduled(program, target, random, refusals)):
            function = f"{prefix}_{'s' if symbolic else 'b'}{number}"
            try:
                kernel = written(function, schedule, target, unchecked=random.random() < 0.2)
            except CodegenError:
                refusals[f"no code: {name}"] += 1
                continue
            yield Way(f"{name}{', symbolic' if symbolic else ''}", made, kernel, layout)
