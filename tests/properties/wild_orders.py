"""Random order steps with arguments that nothing offers."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from workbench import schedules
from workbench.poly.programs.tree import path
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps import Merge


def _skew(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any loop by any other; half of the time the rows of one statement only."""
    if len(names) < 2:
        return None
    loop, by = random.sample(names, 2)
    return schedules.skew(_of_one(schedule, loop, random), by, factor=random.choice((-2, -1, 1, 1, 2, 3)))


def _shift(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    if not names:
        return None
    by = random.choice((-3, -1, 1, 2, *schedule.program.symbols, *schedule.program.sizes))
    return schedules.shift(_of_one(schedule, random.choice(names), random), by)


def _fuse(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    if len(names) < 2:
        return None
    start = random.randrange(len(names) - 1)
    return schedules.fuse(*names[start : start + random.choice((2, 2, 3))])


def _merge(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Nests with their loops paired in any way."""
    offered = list(Merge.choices(schedule))
    if not offered:
        return None
    chosen = random.choice(offered)
    first, second = (_around(schedule, name) for name in (chosen.first, chosen.second))
    depth = random.randint(1, max(1, min(2, len(first), len(second))))
    if min(len(first), len(second)) < depth:
        return None
    pairs = zip(random.sample(first, depth), random.sample(second, depth), strict=True)
    return schedules.merge(chosen.first, chosen.second, loops=dict(pairs))


def _distribute(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Before any statement, from any loop around it."""
    statement = random.choice(schedule.program.statements).name
    around = _around(schedule, statement)
    return schedules.distribute(statement, loop=random.choice(around)) if around else None


def _affine_rows(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """A matrix for one statement: a permutation with signs, then small changes that may make it singular."""
    own = random.choice(schedule.program.statements)
    rows = len(path(schedule.tree, own.id))
    if not rows or not own.dims:
        return None
    order = random.sample(range(max(rows, len(own.dims))), rows)
    matrix = [[random.choice((1, 1, -1)) * (c == o) for c in range(len(own.dims))] for o in order]
    for _ in range(random.choice((0, 1, 2))):
        matrix[random.randrange(rows)][random.randrange(len(own.dims))] = random.choice((-1, 0, 1, 2))
    dims = [f"d{n}" for n in range(len(own.dims))]
    coordinates = [" + ".join(f"{x} * {d}" for x, d in zip(row, dims, strict=True)) for row in matrix]
    return schedules.affine({own.name: f"({', '.join(dims)}) -> ({', '.join(coordinates)})"})


def _of_one(schedule: Schedule, loop: str, random: Random) -> str:
    """The loop for one statement only, or its plain name."""
    users = [s.name for s in schedule.program.statements if loop in _around(schedule, s.name)]
    return f"{random.choice(users)}/{loop}" if users and random.random() < 0.5 else loop


def _around(schedule: Schedule, statement: str) -> list[str]:
    return [loop.name for loop in path(schedule.tree, schedule.program.statement(statement).id)]


ORDERS: dict[str, Callable[[Schedule, list[str], Random], Transform | None]] = {
    "affine_rows": _affine_rows,
    "distribute": _distribute,
    "fuse": _fuse,
    "merge": _merge,
    "shift": _shift,
    "skew": _skew,
}
