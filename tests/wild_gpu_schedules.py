"""Random legal schedules for a GPU: a few random steps, then loops bound wherever that is legal."""

from __future__ import annotations

from itertools import islice
from random import Random

import workbench as wb
from tests.gpu_schedules import bound
from tests.small_sizes import small_sizes
from workbench.errors import WorkbenchError
from workbench.poly.programs.tree import path
from workbench.schedules import Schedule
from workbench.schedules.transform import Transform

SHAPES = (
    "merge", "merge", "stage", "stage", "tile", "split", "compute_at", "reverse_compute_at", "split_reduction",
    "double_buffer", "pipeline", "interchange", "distribute", "fuse", "unroll", "vectorize", "reverse", "shift", "skew",
    "atomic", "transform_layout", "storage_align", "inline", "decompose_reduction",
)  # fmt: skip
OFFERED, STATEMENTS = 40, 12  # choices looked at, statements that a schedule may have


def wild_gpu_schedule(seed: int) -> Schedule | None:
    """A legal schedule whose statements all stand in bound loops; None where that cannot be had without thought."""
    random = Random(seed)
    op = wb.ops.load(random.choice(wb.ops.list()))
    schedule = wb.schedule(op, sizes=small_sizes(op))
    for _ in range(random.randint(1, 6)):
        schedule = _stepped(schedule, random)
    if random.random() < 0.8:
        schedule = _blocks(schedule)
    try:
        return bound(_threads(schedule, random), split=random.choice((2, 3, 4)))
    except AssertionError:
        return None


def _stepped(schedule: Schedule, random: Random) -> Schedule:
    """The schedule after a random step that is offered and legal."""
    kind = Transform.known[random.choice(SHAPES)]
    try:
        offered = list(islice(kind.choices(schedule), OFFERED))
        after = schedule | random.choice(offered) if offered else schedule
    except WorkbenchError:
        return schedule
    return after if len(after.program.statements) <= STATEMENTS else schedule


def _blocks(schedule: Schedule) -> Schedule:
    """The outermost loops bound to blocks."""
    for own in schedule.program.statements:
        outer = path(schedule.tree, own.id)[:1]
        if outer and outer[0].kind == "serial":
            schedule = _bound(schedule, f"{own.name}/{outer[0].name}", "block.x")
    return schedule


def _threads(schedule: Schedule, random: Random) -> Schedule:
    """Some of the other loops bound to threads, the inner ones first."""
    for own in schedule.program.statements:
        for loop in reversed(path(schedule.tree, own.id)):
            if loop.kind == "serial" and random.random() < 0.5:
                axis = random.choice(("thread.x", "thread.x", "thread.y"))
                schedule = _bound(schedule, f"{own.name}/{loop.name}", axis)
    return schedule


def _bound(schedule: Schedule, loop: str, axis: str) -> Schedule:
    try:
        return schedule | wb.bind(loop, axis)
    except WorkbenchError:
        return schedule
