"""Grids: iterations that do not depend on one another, blocks of them side by side in memory."""

from __future__ import annotations

from math import prod

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import Expr, Index, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import Band, Loop, path
from workbench.poly.time.concurrency import atomic_statements
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import at, find_loop
from workbench.schedules.recipes.decisions import asked, decide
from workbench.schedules.recipes.gpu.shared import (
    legal_after,
    most_iterations,
    name_of,
    outer_loops_of,
    parallel,
    power,
    score,
    spelled,
    stays_legal,
    threads_of,
    walked_dim,
)
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import add_unit_loop, bind, fuse, reorder, split, unroll, vectorize
from workbench.target import Target

THREADS = 256
"""Threads of a block: eight warps hide one another's waiting, and several blocks fit a multiprocessor."""

FOUR, BYTES = 4, 4
"""Elements that a thread moves at once, and bytes of each, where nobody chose."""

WIDTHS, WIDEST = (4, 2), 16
"""Other numbers of elements, and bytes that a thread moves at once at most."""

ROWS = (1, 2, 4, 8)
"""Rows that one thread may take."""

WIDE_WORK = 1 << 20
"""With fewer iterations a multiprocessor has too few threads if each takes four."""

SHORT = 128
"""A loop with fewer iterations is no row for a block of threads."""


def gridded(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """Blocks and threads for the outermost loops without dependences; None if there are none."""
    first, name = ids[0], name_of(schedule, ids)
    loops = [x for x in outer_loops_of(schedule, ids) if x.name not in host and x.kind == "serial"]
    free = [x for x in loops if parallel(schedule, first, x.name)]
    if not free:
        return None
    lane = max(free, key=lambda x: (score(schedule, x), loops.index(x)))
    if score(schedule, lane) <= 0:
        lane = free[-1]
    along = decide(f"{name}_lane", lane.name, [x.name for x in free])
    lane = next(x for x in free if x.name == along)
    ordered = outermost(schedule, first, [*(x for x in free if x is not lane), lane])
    if ordered is None:
        return _alone(schedule, first, free)
    names = [x.name for x in free if x is not lane]
    counts = {x.name: most_iterations(schedule, x) for x in free}
    if len(ids) == 1 and len(loops) == len(free) and not atomic_statements(schedule.tree).issuperset(ids):
        width = _width(ordered, first, lane, counts)
        after = _in_vectors(ordered, first, names, lane, counts, target, width) if width > 1 else None
        if after is not None:
            return after
    return _bound(ordered, first, names, lane.name, counts, target)


def _width(schedule: Schedule, statement: str, lane: Loop, counts: dict[str, int | None]) -> int:
    """Neighbours that a thread moves at once: four where there is enough to do and they are 16 bytes."""
    known = asked() or prod(c or 1 for c in counts.values()) >= WIDE_WORK
    fits = [w for w in WIDTHS if _even(schedule, statement, lane, counts[lane.name], w)] if known else []
    enough = prod(c or 1 for c in counts.values()) >= WIDE_WORK
    usual = FOUR if enough and FOUR in fits and _widest(schedule, statement) == BYTES else 1
    return decide(f"{schedule.program.statement(statement).name}_vector", usual, (1, *fits))


def _in_vectors(
    schedule: Schedule, statement: str, others: list[str], lane: Loop, counts: dict[str, int | None], target: Target,
    width: int,
) -> Schedule | None:  # fmt: skip
    """So many neighbours for each thread, which move at once."""
    own, count = LoopName(lane.name), counts[lane.name] or width
    quads = own.part("q")
    cut = split(spelled(schedule, statement, own), width, names=(quads, own.part("v")))
    after = legal_after(schedule, cut, vectorize(cut.inner))
    return after and _bound(after, statement, others, quads, {**counts, quads: count // width}, target)


def _cells(schedule: Schedule, statement: str) -> list[tuple[str, tuple[Expr, ...]]]:
    """What a statement touches: arrays and subscripts."""
    own = schedule.program.statement(statement)
    return [*own.targets, *((r.tensor, r.subscripts) for r in reads_of(*own.values) if r.subscripts)]


def _widest(schedule: Schedule, statement: str) -> int:
    """Bytes of the widest element that a statement touches; 0 where they differ."""
    found = {schedule.program.arrays[name].dtype.bytes for name, _ in _cells(schedule, statement)}
    return found.pop() if len(found) == 1 else 0


def _even(schedule: Schedule, statement: str, lane: Loop, count: int | None, width: int) -> bool:
    """Whether every access stays along a long loop, or walks from multiples of `width` on through elements of one
    size, so many of which a thread can move at once.
    """
    dim, shape = walked_dim(lane, statement) or "", structure(schedule.program, statement)
    size = _widest(schedule, statement)
    moving = [e for _, subscripts in _cells(schedule, statement) for e in subscripts if dim in index_names(e)]
    if count is None or count % width or count < SHORT or not 0 < size * width <= WIDEST:
        return False
    if not all(isinstance(e, Index) for e in moving):
        return False
    for touch in (*shape.writes, *shape.reads):
        if touch.along(dim) not in (0, 1):
            return False
        rows = [stride for d, stride in touch.strides if d != dim]
        apart = all(stride is not None and stride % width == 0 for stride in rows)
        if touch.along(dim) == 1 and not apart and not _whole_rows(schedule, statement, touch.array, dim, width):
            return False
    return True


def _whole_rows(schedule: Schedule, statement: str, array: str, dim: str, width: int) -> bool:
    """Whether every row of an array begins at a multiple of `width`: it does not matter which one a gather names."""
    own = schedule.program.arrays[array]
    cells = [subscripts for name, subscripts in _cells(schedule, statement) if name == array]
    others = [
        constant(stride)
        for subscripts in cells
        for e, stride in zip(subscripts, own.strides, strict=True)
        if dim not in index_names(e)
    ]
    return not own.times and all(step is not None and step % width == 0 for step in others)


def stepwise(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """Serial loops around several nests are the host's, each nest is a grid; None if that does not fit."""
    common = [x.name for x in outer_loops_of(schedule, ids) if x.name not in host and x.kind == "serial"]
    nests = _nests(schedule, ids)
    if not common or len(nests) < 2:
        return None
    after: Schedule | None = schedule
    for nest in nests:
        own = {*host, *common}
        after = after and (gridded(after, nest, own, target) or stepwise(after, nest, own, target))
    return after


def _nests(schedule: Schedule, ids: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The statements by the loops that they share inside those that are around all of them."""
    depth = len(outer_loops_of(schedule, ids))
    inside = [path(schedule.tree, s)[depth : depth + 1] for s in ids]
    together = [dict(loops[0].rows) if loops else (s,) for s, loops in zip(ids, inside, strict=True)]
    return list(dict.fromkeys(tuple(s for s in ids if s in nest) for nest in together))


def outermost(schedule: Schedule, statement: str, loops: list[Loop]) -> Schedule | None:
    """The loops in this order, outside of the other loops of their band; None if that is not legal."""
    names = [x.name for x in loops]
    site = find_loop(schedule.program, schedule.tree, spelled(schedule, statement, names[0]))
    band = at(schedule.tree, site.path)
    assert isinstance(band, Band)
    own = [x.name for x in band.loops if x.kind == "serial"]
    if any(name not in own for name in names):
        return None
    wanted = [*names, *(x for x in own if x not in names)]
    if wanted == own:
        return schedule
    return legal_after(schedule, reorder(*(spelled(schedule, statement, x) for x in wanted)))


def _alone(schedule: Schedule, statement: str, free: list[Loop]) -> Schedule | None:
    """The first loop that can be bound where it stands."""
    for loop in free:
        after = _bound(schedule, statement, [], loop.name, {loop.name: most_iterations(schedule, loop)}, Target("cuda"))
        if after is not None:
            return after
    return None


def _bound(
    schedule: Schedule, statement: str, others: list[str], lane: str, counts: dict[str, int | None], target: Target
) -> Schedule | None:
    """The loop `lane` along threads, the others along blocks."""
    schedule, others, lane, count = _joined(schedule, statement, others, lane, counts)
    name = schedule.program.statement(statement).name
    most = threads_of(name, THREADS, target)
    schedule, others = _several_rows(schedule, statement, others, lane)
    try:
        after, rows = schedule, others
        size = power(count, most)
        x = spelled(schedule, statement, lane)
        if count is None or count > size:
            after = split(x, size).on(after)
            after = bind(x.outer, "block.x").on(after)
            after = bind(x.inner, "thread.x").on(after)
            axes = ["block.y", "block.z"]
        else:
            after = bind(x, "thread.x").on(after)
            axes = ["block.x", "block.y", "block.z"]
            if rows and size <= most // 2:
                cut = split(spelled(schedule, statement, rows[-1]), most // size)
                after = bind(cut.inner, "thread.y").on(cut.on(after))
                rows = [*rows[:-1], cut.outer.loop]
        for axis, row in zip(axes, reversed(rows), strict=False):
            after = bind(spelled(schedule, statement, row), axis).on(after)
    except ScheduleError:
        return None
    return after if stays_legal(schedule, after) else None


def _several_rows(schedule: Schedule, statement: str, others: list[str], lane: str) -> tuple[Schedule, list[str]]:
    """Several iterations of the last loop around `lane` for each thread, written out; and the loops around it."""
    name = schedule.program.statement(statement).name
    rows = decide(f"{name}_rows", 1, ROWS) if others else 1
    if rows == 1:
        return schedule, others
    last = LoopName(others[-1])
    cut = split(spelled(schedule, statement, last), rows, names=(last.part("b"), last.part("w")))
    order = reorder(cut.outer, spelled(schedule, statement, lane), cut.inner)
    after = legal_after(schedule, cut, order, unroll(cut.inner))
    return (schedule, others) if after is None else (after, [*others[:-1], cut.outer.loop])


def _joined(
    schedule: Schedule, statement: str, others: list[str], lane: str, counts: dict[str, int | None]
) -> tuple[Schedule, list[str], str, int | None]:
    """Short rows as one long loop with what is around them, and at most two loops beside it."""
    count = counts[lane]
    while others and count is not None and count < SHORT and counts.get(others[-1]) is not None:
        both = fuse(spelled(schedule, statement, others[-1]), spelled(schedule, statement, lane))
        after = legal_after(schedule, both)
        if after is None:
            break
        count *= counts[others[-1]] or 1
        schedule, lane, others = after, both.fused.loop, others[:-1]
    while len(others) > 2:
        both = fuse(*(spelled(schedule, statement, x) for x in others[:2]))
        after = legal_after(schedule, both)
        if after is None:
            return _inside(schedule, statement, others, lane, count)
        schedule, others = after, [both.fused.loop, *others[2:]]
    return schedule, others, lane, count


def _inside(
    schedule: Schedule, statement: str, others: list[str], lane: str, count: int | None
) -> tuple[Schedule, list[str], str, int | None]:
    """Loops beyond the number of axes go inside: each thread executes them."""
    order = [*others[-2:], lane, *others[:-2]]
    after = legal_after(schedule, reorder(*(spelled(schedule, statement, x) for x in order)))
    return after or schedule, others[-2:], lane, count


def once(schedule: Schedule, ids: tuple[str, ...]) -> Schedule:
    """One thread executes everything, in a loop of one iteration."""
    name = schedule.program.statement(ids[0]).name
    depths = range(len(outer_loops_of(schedule, ids[:1])) + 1)
    for inside in depths:
        for axis in ("block.x", "thread.x"):
            unit = add_unit_loop(name, inside, name="once")
            after = legal_after(schedule, unit, bind(unit.made, axis))
            if after is not None:
                return after
    raise ScheduleError(f"no loop of one iteration fits around {name}")
