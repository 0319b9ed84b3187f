"""Random steps, legal or not: what the transforms offer, and what they accept beyond that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.poly.trees import scramble
from tests.properties.ways import resized
from tests.properties.wild_orders import ORDERS
from tests.properties.wild_threads import THREADS
from workbench import schedules
from workbench.errors import ScheduleError
from workbench.poly.derive.buffers import is_read_at
from workbench.poly.programs.tree import loops, path
from workbench.schedules import Schedule, Transform
from workbench.schedules.steps import Stage
from workbench.schedules.steps.storage.stage import spelt_read

HARMLESS = ("split", "unroll", "add_unit_loop", "fuse", "tile", "prefetch")  # these break little
DARING = ("parallelize", "vectorize", "interchange", "merge", "arrange", "distribute", "shift")  # these break most
BUFFERS = ("double_buffer", "fold_storage", "inline", "pad", "pipeline", "storage_align", "transform_layout")
KINDS = dict.fromkeys(HARMLESS, 0.4) | dict.fromkeys(DARING, 8) | dict.fromkeys(BUFFERS, 5)
WEIGHTS = KINDS | {"affine": 28, "arrange": 12, "unroll_jam": 2, "skew": 2, "fuse": 2, "reverse": 2}
WEIGHTS |= {"atomic": 3, "barrier": 12, "bind": 5}


def wild_step(schedule: Schedule, random: Random) -> Transform | None:
    """A step that nobody judged, of any kind that fits: a choice, or arguments that nothing offers."""
    kinds = sorted(Transform.known)
    weights = [WEIGHTS.get(k, 1) for k in kinds]  # what fits seldom is tried often
    for kind in random.choices(kinds, weights, k=8):
        step = wild(kind, schedule, random)
        if step is not None:
            return step
    return None


def wild(kind: str, schedule: Schedule, random: Random) -> Transform | None:
    """A step of one kind; None if there is none."""
    names = list(dict.fromkeys(loop.name for loop in loops(schedule.tree)))
    if kind in WILD and random.random() < (0.9 if kind.startswith("affine") else 0.5):
        return WILD[kind](schedule, names, random)
    offered = list(Transform.known[kind].choices(schedule))
    return resized(random.choice(offered), random) if offered else None


def _scrambled(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    return schedules.affine(scramble(schedule.tree, random, schedule.program), "scrambled")


def _interchange(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    if len(names) < 2:
        return None
    return schedules.reorder(*random.sample(names, random.randint(2, min(4, len(names)))))


def _tile(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    chosen = random.sample(names, random.randint(min(1, len(names)), min(3, len(names))))
    return schedules.tile({n: random.choice((1, 2, 2, 2, 3)) for n in chosen}) if chosen else None


def _stage(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """A buffer that begins as somebody chose, not as is right."""
    offered = list(Stage.choices(schedule))
    if not offered:
        return None
    step = random.choice(offered)
    if random.random() < 0.3:
        return one_read(schedule, step, random)
    return replace(step, filling=random.choice(("load", "none", "neutral")))


def one_read(schedule: Schedule, step: Stage, random: Random) -> Stage:
    """The buffer for one read of the array alone."""
    accesses = [a for s in schedule.program.statements for a in s.accesses if a.array == step.array]
    found = sorted({spelt_read(step.array, a.subscripts) for a in accesses if is_read_at(a, a.subscripts)})
    return replace(step, array=random.choice(found), filling=None) if found else step


def _partition(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """A condition with one or two dims, at any loop around."""
    own = random.choice(schedule.program.statements)
    if not own.dims:
        return None
    left, right = random.choice(own.dims), random.choice((*own.dims, "0", "1", "2", "3"))
    test = random.choice(("{} < {}", "{} >= {}", "{} % 2 == {} % 2", "{} == {}", "{} + 1 > {}", "!({} < {})"))
    around = [loop.name for loop in path(schedule.tree, own.id)]
    at = random.choice(around) if around and random.random() < 0.4 else ""
    return schedules.partition(own.name, test.format(left, right), at=at)


def _fold_storage(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any size for any dimension."""
    found = [a for a in schedule.program.arrays.values() if a.role == "temporary" and a.rank > a.times]
    if not found:
        return None
    array = random.choice(found)
    return schedules.fold_storage(array.name, random.randrange(array.rank - array.times), random.randint(1, 3))


def _transform_layout(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Coordinates that do or do not tell every cell from every other."""
    found = [a for a in schedule.program.arrays.values() if a.role == "temporary" and a.rank > a.times]
    if not found:
        return None
    array = random.choice(found)
    old = [f"x{i}" for i in range(array.rank - array.times)]
    forms = ("{0}", "{0} / 2", "{0} % 2", "{0} - {1}", "2 * {0}", "3 - {0}", "{0} % 3", "{0} / 3")
    new = [random.choice(forms).format(random.choice(old), random.choice(old)) for _ in range(len(old) + 1)]
    return schedules.transform_layout(array.name, f"({', '.join(old)}) -> ({', '.join((*old[1:], *new))})")


def _computed(schedule: Schedule, random: Random) -> str:
    return random.choice([t for s in schedule.program.statements for t, _ in s.targets])


def _compute_at(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any array that is computed in any loop, whoever reads it."""
    if not names:
        return None
    array, loop = _computed(schedule, random), random.choice(names)
    match random.randrange(4):
        case 0:
            return schedules.reverse_compute_at(array, loop)
        case 1:
            return schedules.compute_at(array, loop, recompute=False)
    return schedules.compute_at(array, loop, keep=random.random() < 0.5)


def _inline(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any array, or out of any nest."""
    return random.choice((schedules.inline, schedules.root))(_computed(schedule, random))


def _split_reduction(schedule: Schedule, names: list[str], random: Random) -> Transform | None:
    """Any loop, in blocks of any size."""
    return schedules.split_reduction(random.choice(names), random.choice((None, 1, 2, 3))) if names else None


WILD: dict[str, Callable[[Schedule, list[str], Random], Transform | None]] = {
    "affine": _scrambled,
    "compute_at": _compute_at,
    "fold_storage": _fold_storage,
    "inline": _inline,
    "interchange": _interchange,
    "partition": _partition,
    "split_reduction": _split_reduction,
    "stage": _stage,
    "tile": _tile,
    "transform_layout": _transform_layout,
    **ORDERS,
    **THREADS,
}


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
