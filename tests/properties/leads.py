"""Steps that fit only after others, with the others: a buffer and then its pipeline, tiles and then full ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from random import Random

from tests.properties.wild_steps import one_read, wild
from workbench import schedules
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.poly.programs.tree import loops, path
from workbench.schedules import MicroKernel, Schedule, Transform, register
from workbench.schedules.kernels import micro_kernels
from workbench.schedules.steps import Merge, Pipeline, Replace, Stage

Lead = Callable[[Schedule, Random], Transform | None]

KERNELS = {
    "copy": "(float(N) X) -> (Y) { Y(i) = X(i) }",
    "axpy": "(float(N) X, float A) -> (Y) { Y(i) += X(i) * A }",
    "dot": "(float(N) X, float(N) Z) -> (Y) { Y += X(i) * Z(i) }",
    "total": "(float(N) X) -> (Y) { Y += X(i) }",
    "largest": "(float(N) X) -> (Y) { Y max= X(i) }",
    "added": "(float(N) X, float(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }",
    "outer": "(float(M) X, float(N) Z) -> (Y) { Y(i,j) += X(i) * Z(j) }",
    "vectors": "(float(M,K) A, float(K) X) -> (Y) { Y(i) += A(i,k) * X(k) }",
    "product": "(float(M,K) A, float(K,N) B) -> (C) { C(m,n) += A(m,k) * B(k,n) }",
}


@contextmanager
def kernels() -> Iterator[None]:
    """These micro-kernels alone, whatever others this process knows: of them only the definition matters here."""
    before = dict(micro_kernels._known)
    micro_kernels._known.clear()
    for kernel in _made():
        register(kernel)
    try:
        yield
    finally:
        micro_kernels._known.clear()
        micro_kernels._known.update(before)


@cache
def _made() -> tuple[MicroKernel, ...]:
    return tuple(
        MicroKernel(f"campaign_{name}", f"def {name}{text}", f"void campaign_{name}(void) {{}}")
        for name, text in KERNELS.items()
    )


def _names(schedule: Schedule, end: str = "") -> list[str]:
    return [n for n in dict.fromkeys(loop.name for loop in loops(schedule.tree)) if n.endswith(end)]


def _decomposed(schedule: Schedule, random: Random) -> Transform | None:
    """Any reduction that has an initialisation before it."""
    found = [s.targets[0][0] for s in schedule.program.statements if s.kind == "initialise"]
    return schedules.decompose_reduction(random.choice(found)) if found else None


def _tiled(schedule: Schedule, random: Random) -> Transform | None:
    """Some or all loops around one statement."""
    own = random.choice(schedule.program.statements)
    around = [loop.name for loop in path(schedule.tree, own.id)]
    if not around:
        return None
    chosen = random.sample(around, random.choice((len(around), random.randint(1, len(around)))))
    return schedules.tile({f"{own.name}/{n}": random.choice((2, 2, 2, 3)) for n in chosen})


def _all_tiled(schedule: Schedule, random: Random) -> Transform | None:
    """Small tiles in all loops around one statement."""
    own = random.choice(schedule.program.statements)
    around = [loop.name for loop in path(schedule.tree, own.id)]
    return schedules.tile({f"{own.name}/{n}": 2 for n in around}) if around else None


def _one_tiled(schedule: Schedule, random: Random) -> Transform | None:
    """One loop around the statement that reads most."""
    own = max(schedule.program.statements, key=lambda s: len(list(s.reads)))
    around = [loop.name for loop in path(schedule.tree, own.id)]
    return schedules.tile({f"{own.name}/{random.choice(around)}": random.choice((2, 2, 3, 4))}) if around else None


def _staged(schedule: Schedule, random: Random) -> Transform | None:
    """What is read, often what is written by somebody else, too."""
    offered = list(Stage.choices(schedule))
    written = {t for s in schedule.program.statements for t, _ in s.targets}
    chosen = [x for x in offered if (x.array in written) == (random.random() < 0.5)] or offered
    if not chosen:
        return None
    step = random.choice(chosen)
    if random.random() < 0.3:
        return one_read(schedule, step, random)
    return replace(step, filling="load") if random.random() < 0.3 else step


def _operand(schedule: Schedule, random: Random) -> Transform | None:
    """A buffer in a loop over tiles."""
    there = schedule.program.arrays
    offered = [x for x in Stage.choices(schedule) if x.at.endswith("_o") and f"{x.array}_local" not in there]
    return random.choice(offered) if offered else None


def _padded(schedule: Schedule, random: Random) -> Transform | None:
    outer = _names(schedule, "_o")
    return schedules.pad(*random.sample(outer, random.randint(1, len(outer)))) if outer else None


def _isolated(schedule: Schedule, random: Random) -> Transform | None:
    outer = _names(schedule, "_o")
    if not outer:
        return None
    return schedules.isolate(*random.sample(outer, random.randint(1, len(outer))), inside=random.random() < 0.3)


def _doubled(schedule: Schedule, random: Random) -> Transform | None:
    found = [a.name for a in schedule.program.arrays.values() if a.scope == "local" and a.times]
    return schedules.double_buffer(random.choice(found)) if found else None


def _moved_load(schedule: Schedule, random: Random) -> Transform | None:
    """A load that comes early, or too early."""
    loads = [s for s in schedule.program.statements if s.name.endswith(".load") and path(schedule.tree, s.id)]
    if not loads:
        return None
    own = random.choice(loads)
    loop = random.choice(path(schedule.tree, own.id)).name
    return schedules.shift(f"{own.name}/{loop}", random.choice((-2, -1, -1, -1, 1)))


def _piped(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(Pipeline.choices(schedule))
    return replace(random.choice(offered), stages=random.choice((2, 2, 3))) if offered else None


def _replaced(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(Replace.choices(schedule))
    return random.choice(offered) if offered else None


def _merged(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(Merge.choices(schedule))
    return replace(random.choice(offered), depth=random.choice((1, 2))) if offered else None


def _kept(schedule: Schedule, random: Random) -> list[str]:
    """Arrays that the program keeps to itself, computed by one assignment; any others if there are none."""
    program = schedule.program
    made = [t for s in program.statements for t, _ in s.targets]
    found = [t for t in dict.fromkeys(made) if program.arrays[t].role == "temporary" and made.count(t) == 1]
    return found if found and random.random() < 0.9 else made


def _inlined(schedule: Schedule, random: Random) -> Transform | None:
    return schedules.inline(random.choice(_kept(schedule, random)))


def _rooted(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(schedules.steps.Root.choices(schedule))
    return random.choice(offered) if offered else None


def _computed_at(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(schedules.steps.ComputeAt.choices(schedule))
    return random.choice(offered) if offered else None


def _computed_after(schedule: Schedule, random: Random) -> Transform | None:
    offered = list(schedules.steps.ReverseComputeAt.choices(schedule))
    return random.choice(offered) if offered else None


def _concurrent(schedule: Schedule, random: Random) -> Transform | None:
    """A loop that belongs to a buffer, on threads or in lanes."""
    loads = [s for s in schedule.program.statements if ".load" in s.name and path(schedule.tree, s.id)]
    if not loads:
        return None
    own = random.choice(loads)
    around, times = path(schedule.tree, own.id), schedule.program.arrays[own.targets[0][0]].times
    loop = around[times - 1] if 0 < times <= len(around) and random.random() < 0.8 else random.choice(around)
    return random.choice((schedules.parallelize, schedules.parallelize, schedules.vectorize))(loop.name)


def _skewed(schedule: Schedule, random: Random) -> Transform | None:
    """One statement of several that share two loops moves against the others."""
    shared = [loop.name for loop in loops(schedule.tree) if len(loop.rows) > 1]
    own = random.choice(schedule.program.statements)
    around = [loop.name for loop in path(schedule.tree, own.id)]
    inner = [n for n in range(1, len(around)) if around[n] in shared] or list(range(1, len(around)))
    if not inner:
        return None
    place = random.choice(inner)
    return schedules.skew(f"{own.name}/{around[place]}", around[place - 1], factor=random.choice((-2, -1, -1, 1, 2)))


def _reduced_apart(schedule: Schedule, random: Random) -> Transform | None:
    """A loop that a reduction runs over, in blocks."""
    found = [(s, loop.name) for s in schedule.program.statements if s.kind == "update"
             for loop in path(schedule.tree, s.id)]  # fmt: skip
    if not found:
        return None
    own, loop = random.choice(found)
    return schedules.split_reduction(f"{own.name}/{loop}", random.choice((None, 2, 2, 3)))


PADDED = (_decomposed, _tiled, _operand, _operand, _padded)
ONE_PADDED = (_decomposed, _one_tiled, _operand, _operand, _operand, _padded)
ISOLATED = (_all_tiled, _isolated)
LEADS: tuple[Sequence[Lead], ...] = (
    PADDED,
    ONE_PADDED,
    ONE_PADDED,
    ISOLATED,
    (_tiled, _isolated),
    (_decomposed, _tiled, _isolated),
    (_staged, _doubled, _moved_load),
    (_staged, _concurrent, _doubled),
    (_decomposed, _tiled, _operand, _doubled, _moved_load),
    (_staged, _piped),
    (_staged, _concurrent, _piped),
    (_staged, _piped, _concurrent),
    (_decomposed, _tiled, _operand, _piped),
    (_decomposed, _replaced),
    (_inlined, _inlined),
    (_merged, _rooted),
    (_computed_at, _rooted),
    (_computed_at,),
    (_computed_after,),
    (_reduced_apart,),
    (_merged, _skewed),
    (_merged, _merged, _skewed),
)
FITTING: dict[str, tuple[Sequence[Lead], ...]] = {
    "product": (PADDED, *(ONE_PADDED,) * 5, (_decomposed, _tiled, _replaced), (_staged, _concurrent, _doubled)),
    "producers": ((_computed_at,), (_computed_after,), (_inlined,), (_merged, _skewed), (_merged, _rooted)),
    "recurrences": (ISOLATED, ISOLATED, ISOLATED, (_staged, _concurrent, _doubled), (_reduced_apart,), (_skewed,)),
}


def _of(kind: str) -> Lead:
    return lambda schedule, random: wild(kind, schedule, random)


SELDOM: tuple[Sequence[Lead], ...] = (  # the last step is of a kind seldom refused; the others make it likely
    *((_of("decompose_reduction"),),) * 4,
    (_merged, _of("decompose_reduction")),
    (_staged, _concurrent, _doubled),
    *((_staged, _concurrent, _piped),) * 3,
    *((_of("partition"),),) * 5,
    *((_of("stage"),),) * 3,
    *((_all_tiled, _isolated),) * 3,
    *((_of("reverse_compute_at"),),) * 3,
    *((_computed_after,),) * 3,
    *((_merged, _skewed),) * 6,
    *((_reduced_apart,),) * 5,
    (_merged, _reduced_apart),
    (_of("compute_at"),),
    (_computed_at,),
    *((_inlined,),) * 2,
    *((_of("unroll_jam"),),) * 2,
    (_of("reverse"),),
    *((_of("barrier"),),) * 3,
    *((_of("bind"), _of("barrier")),) * 5,
    *((_of("bind"), _of("bind"), _of("barrier")),) * 5,
)


def refused(schedule: Schedule, random: Random) -> list[Transform]:
    """Steps the last of which the product refuses, if some are found soon; whether that is right is judged afterwards.

    Chance alone finds too few refusals of the kinds that are nearly always right.
    """
    for _ in range(5):
        *first, make = random.choice(SELDOM)
        steps, here = [], schedule
        for each in first:
            after = _taken(each(here, random), here)
            if after is not None and after.verdict:
                here = after
                steps.append(after.trace[-1])
        for _ in range(5):
            after = _taken(make(here, random), here)
            if after is not None and not after.verdict:
                return [*steps, after.trace[-1]]
    return []


def _taken(step: Transform | None, schedule: Schedule) -> Schedule | None:
    try:
        return None if step is None else step.on(schedule)
    except (ScheduleError, BudgetExceeded):
        return None


def lead(program: str, random: Random) -> list[Lead]:
    """Steps that belong together, to be asked for one after another; often such as fit the kind of program."""
    return list(random.choice(FITTING[program] if program in FITTING and random.random() < 0.7 else LEADS))
