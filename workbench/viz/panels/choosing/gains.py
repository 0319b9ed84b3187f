"""What a schedule is expected to take: bytes through caches, lanes of vectors, threads.  Modelled, never measured.

Seconds come from `Target.costs`: each instance is a multiply-add and reads its cells from the first cache, lanes and
threads divide that; what goes through a cache comes from the one below it.  It ranks steps, and says why; it is no
prediction of a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.count.counting import every_touch
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import AXES, Loop, path
from workbench.records import record
from workbench.schedules import Schedule, preview
from workbench.schedules.analysis.structure import structure
from workbench.schedules.transform import Transform
from workbench.target import Target
from workbench.viz.messages.stepping import LoopTraffic
from workbench.viz.panels.domain.boxes import Values, at_iteration, iterations
from workbench.viz.panels.domain.traffic import everywhere, node_rows
from workbench.wording import number_of

CACHES = ("L1", "L2", "L3")
NOTICED = 0.01
"""A smaller change of the bytes is not worth a word."""


@record
class Around:
    """A loop around a statement: how often it runs, how far each access walks with an iteration (None: it jumps)."""

    loop: Loop
    count: float
    strides: tuple[int | None, ...]


@record
class Work:
    """What one statement takes: seconds on one thread without memory, lanes, threads, beginnings of threads."""

    name: str
    seconds: float
    lanes: int
    threads: int
    regions: float
    jumps: bool


@record
class Estimate:
    """What a whole schedule takes on a target; `through` are the bytes through each cache."""

    works: tuple[Work, ...]
    through: tuple[int, ...]
    on_gpu: bool
    target: Target

    @property
    def seconds(self) -> float:
        """Modelled, for ranking only."""
        costs = self.target.costs
        threads = max((w.threads for w in self.works), default=1)
        memory = costs.memory_bytes_per_second if threads == 1 else costs.all_memory_bytes_per_second
        rates = (costs.l2_bytes_per_second * threads, costs.l3_bytes_per_second * threads, memory)
        moving = sum(amount / rate for amount, rate in zip(self.through, rates, strict=False))
        working = sum(w.seconds / (w.lanes * w.threads) + w.regions * costs.region_seconds for w in self.works)
        return moving + working


@record
class Gain:
    """How many times faster a step may make a schedule by the model, and why; 1 where the model sees no difference."""

    factor: float = 1.0
    reasons: tuple[str, ...] = ()


def unmodelled(now: Estimate | None) -> str:
    """Why no gain is known of what was estimated, or could not be; empty where the model has looked."""
    if now is None:
        return "gains are not modelled: the open sizes could not be assumed"
    return "gains on a GPU are not modelled" if now.on_gpu else ""


def gain(now: Estimate | None, base: Schedule | None, step: Transform) -> Gain:
    """What a step gains over what is estimated now; `base` is the schedule with sizes that are numbers."""
    if now is None or base is None:
        return Gain()
    try:
        after = estimate(preview(base, step), now.target)
    except (WorkbenchError, ArithmeticError):
        return Gain()
    if after.on_gpu:
        return Gain(1.0, ("for a GPU",))
    return Gain(now.seconds / max(after.seconds, 1e-300), tuple(_reasons(now, after)))


def _reasons(now: Estimate, after: Estimate) -> Iterator[str]:
    before = {w.name: w for w in now.works}
    pairs = [(before[w.name], w) for w in after.works if w.name in before]
    if any(w.jumps and not b.jumps for b, w in pairs):
        yield "its lanes are not neighbours in memory"
    elif wider := [w for b, w in pairs if w.lanes != b.lanes]:
        most = max(w.lanes for w in wider)
        yield number_of(most, "lane") if most > 1 else "one lane"
    if shared := [w for b, w in pairs if w.threads != b.threads]:
        often = max(w.regions for w in shared)
        begun = f", begun {often:.0f} times" if often > 1 else ""
        yield f"{number_of(max(w.threads for w in shared), 'thread')}{begun}"
    yield from _traffic(now, after)


def _traffic(now: Estimate, after: Estimate) -> Iterator[str]:
    """The cache whose bytes change most in seconds."""
    changes = [(name, b, a) for name, b, a in zip(CACHES, now.through, after.through, strict=False)]
    told = [(name, b, a) for name, b, a in changes if b and abs(a / b - 1) >= NOTICED]
    if told:
        name, b, a = max(told, key=lambda change: abs(change[1] - change[2]) / change[1])
        yield f"{'▼' if a < b else '▲'} {size(b)} → {size(a)} through {name}"


def size(amount: float) -> str:
    """`1.5 MiB`."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1000 or unit == "GiB":
            break
        amount /= 1024
    return f"{amount:.3g} {unit}"


# -- Estimates --

def estimate(schedule: Schedule, target: Target) -> Estimate:
    """What a schedule whose sizes are numbers takes; LoweringError while sizes are open."""
    program = schedule.program
    touches = [every_touch(program, s.id) for s in program.statements]
    nodes = node_rows(schedule)
    works = tuple(_work(schedule, s.id, touch, target) for s, touch in zip(program.statements, touches, strict=True))
    bound = any(loop.kind in AXES for s in program.statements for loop in path(schedule.tree, s.id))
    through = tuple(moved(nodes, touches, capacity) for capacity in target.cache_bytes if capacity)
    return Estimate(works, through, bound, target)


def moved(nodes: Sequence[LoopTraffic], touches: Sequence[int], capacity: int) -> int:
    """Bytes through a memory: the outermost iterations that fit are kept, what they leave is touched anew."""
    inside, covered, amount = [False] * len(nodes), set[int](), 0
    for i, (parent, held, bytes_moved, own) in enumerate(nodes):
        if parent >= 0 and inside[parent]:
            inside[i] = True
        elif held <= capacity:
            inside[i] = True
            covered.update(own)
            amount += bytes_moved
    return amount + sum(touch for i, touch in enumerate(touches) if i not in covered)


def _work(schedule: Schedule, statement: str, touch: int, target: Target) -> Work:
    program = schedule.program
    own, costs = program.statement(statement), target.costs
    levels = list(around(program, statement, path(schedule.tree, statement)))
    bits = max(8 * program.arrays[a.array].dtype.bytes for a in own.accesses) if own.accesses else 32
    shared = next((i for i, a in enumerate(levels) if a.loop.kind == "parallel"), None)
    vector = next((a for a in levels if a.loop.kind == "vector"), None)
    near = vector is not None and all(s in (0, 1) for s in vector.strides)
    return Work(
        name=own.name,
        seconds=poly.points(program, statement) * costs.multiply_add_seconds + touch / costs.l1_bytes_per_second,
        lanes=max(1, min(target.lanes(bits), int(vector.count))) if vector and near else 1,
        threads=1 if shared is None else max(1, min(target.cores, int(levels[shared].count))),
        regions=0 if shared is None else prod(a.count for a in levels[:shared]),
        jumps=vector is not None and not near,
    )


def around(program: Program, statement: str, loops: Sequence[Loop]) -> Iterator[Around]:
    """The loops around a statement, outer first, with what an iteration of each walks over."""
    values = everywhere(program, statement)
    touched = structure(program, statement)
    for loop in loops:
        row = loop.row(statement)
        first, second = (at_iteration(values, row, nth, program.sizes) for nth in (0, 1))
        inside = values if first is None else first
        walks = _walks(inside, second)
        strides = tuple(_stride(touch.along, walks) for touch in (*touched.writes, *touched.reads))
        yield Around(loop, iterations(values, inside), strides)
        values = inside


def _walks(first: Values, second: Values | None) -> Mapping[str, int]:
    """How far each dim moves from one iteration to the next."""
    if second is None:
        return {}
    return {d: int(second[d][0]) - int(first[d][0]) for d in first if int(second[d][0]) != int(first[d][0])}


def _stride(along: Callable[[str], int | None], walks: Mapping[str, int]) -> int | None:
    """Elements that an access moves by; None where that is not constant."""
    found = 0
    for dim, by in walks.items():
        stride = along(dim)
        if stride is None:
            return None
        found += stride * by
    return found

