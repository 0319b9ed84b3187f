"""Which steps may be worth a look at a loop or a statement: none is judged here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from workbench.errors import WorkbenchError
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, path
from workbench.records import record
from workbench.schedules import Schedule, interchange, parallelize, preview, split, tile, unroll, vectorize
from workbench.schedules.edit import sites, spelt
from workbench.schedules.steps.order.split import Split
from workbench.schedules.steps.order.tile import Tile
from workbench.schedules.transform import Transform
from workbench.target import Target
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.choosing.gains import CACHES, around
from workbench.viz.panels.domain.traffic import estimated_traffic
from workbench.viz.panels.gestures import loop_name, statement_named
from workbench.wording import number_of

MOST_TILED = 3  # loops of one tile: rows, columns, depth
MOST_SIZES = 5
FEW = 16  # iterations that may be written out
BY_SIZES = ("split", "tile")  # their sizes are typed beside, those that fit are offered
A_KIND = 6  # steps of one kind that nobody ranked


@record
class Blocks:
    """A loop with the sizes of blocks that fit: whole vectors, and what caches hold."""

    loop: str
    iterations: int
    sizes: tuple[tuple[int, str], ...]


def chosen(schedule: Schedule, loop: str, statement: str) -> tuple[ProgramStatement, tuple[Loop, ...]]:
    """The statement that is meant, or the last one below a loop (as steps name it), and the loops around it."""
    if not loop:
        own = statement_named(schedule, statement)
        return own, path(schedule.tree, own.id)
    name = LoopName(loop)
    below = [s for s in schedule.program.statements if any(x.name == name.loop for x in path(schedule.tree, s.id))]
    wanted = [s for s in below if s.name in (name.statement, statement)] or below
    if not wanted:
        raise WorkbenchError(f"there is no loop {loop}; known: {', '.join(_loop_names(schedule))}")
    return wanted[-1], path(schedule.tree, wanted[-1].id)


def candidates(schedule: Schedule, target: Target, loop: str = "", statement: str = "") -> Iterator[Transform]:
    """Steps about a loop, or about a statement; of neither, those with which one begins."""
    if not loop and not statement:
        yield from beginnings(schedule, target)
        return
    own, loops = chosen(schedule, loop, statement)
    if loop:
        this = next(x for x in loops if x.name == LoopName(loop).loop)
        yield from _at_loop(schedule, target, own, loops, this)
    yield from _mentioned(schedule, {loop} if loop else {own.name})


def beginnings(schedule: Schedule, target: Target) -> Iterator[Transform]:
    """What one may begin with anywhere: threads, lanes, tiles that fit a cache, another order."""
    for own in sorted(schedule.program.statements, key=lambda s: -len(s.dims)):
        loops = path(schedule.tree, own.id)
        names = [loop_name(schedule, own, x) for x in loops]
        yield from (parallelize(name) for name in names[:2])
        yield from (vectorize(name) for name in reversed(names))
        yield from (step for step, _ in fitting(schedule, target, own, loops))
        yield from (interchange(names[-1], name) for name in names[:-1])


def _at_loop(
    schedule: Schedule, target: Target, own: ProgramStatement, loops: Sequence[Loop], this: Loop
) -> Iterator[Transform]:  # fmt: skip
    name = loop_name(schedule, own, this)
    yield parallelize(name)
    yield vectorize(name)
    yield from (step for step, _ in fitting(schedule, target, own, loops, this))
    yield from (interchange(*_inner_first(schedule, own, loops, this, x)) for x in loops if x is not this)
    if any(b.loop == name and b.iterations <= FEW for b in blocks(schedule, target, own, loops)):
        yield unroll(name)


def _inner_first(
    schedule: Schedule, own: ProgramStatement, loops: Sequence[Loop], a: Loop, b: Loop
) -> tuple[str, str]:  # fmt: skip
    inner, outer = sorted((a, b), key=loops.index, reverse=True)
    return loop_name(schedule, own, inner), loop_name(schedule, own, outer)


def _mentioned(schedule: Schedule, names: set[str]) -> Iterator[Transform]:
    """What any kind of step offers that names one of these."""
    for kind in (Transform.known[name] for name in Transform.known if name not in BY_SIZES):
        count = 0
        try:
            for step in kind.choices(schedule):
                if isinstance(step, Transform) and names & set(_texts(step.to_json())):
                    yield step
                    count += 1
                if count == A_KIND:
                    break
        except WorkbenchError:
            continue


def _texts(data: Any) -> Iterator[str]:
    """Every text in plain data."""
    match data:
        case str():
            yield data
        case dict():
            for key, value in data.items():
                yield from () if key == "step" else _texts(value)
        case list() | tuple():
            for value in data:
                yield from _texts(value)


def _loop_names(schedule: Schedule) -> list[str]:
    return [spelt(schedule.program, schedule.tree, site) for site in sites(schedule.tree)]


# -- Sizes that fit --

def blocks(schedule: Schedule, target: Target, own: ProgramStatement, loops: Sequence[Loop]) -> list[Blocks]:
    """For every loop around a statement the sizes that a block may well have; none while sizes are unknown."""
    base = with_sizes(schedule)[0]
    if base is None:
        return []
    lanes = target.lanes(_bits(base.program, own.id))
    fits = fitting(schedule, target, own, loops)
    found = []
    for around_it in around(base.program, own.id, [_same(base, own, x) for x in loops]):
        name = loop_name(schedule, own, around_it.loop)
        count = int(around_it.count)
        sizes = {n: number_of(n // lanes, "vector") for n in doubled(lanes, count // 2)[:MOST_SIZES]}
        for step, cache in fits:
            if size := _sizes_of(step).get(name):
                sizes[size] = f"{sizes.get(size, '')}, fits {cache}".lstrip(", ")
        found.append(Blocks(name, count, tuple(sorted(sizes.items()))))
    return found


def fitting(
    schedule: Schedule, target: Target, own: ProgramStatement, loops: Sequence[Loop], this: Loop | None = None
) -> list[tuple[Transform, str]]:  # fmt: skip
    """The largest square tiles of which each cache holds what one touches, with the cache's name.

    Of the innermost loops that are long enough, the given one among them.
    """
    base = with_sizes(schedule)[0]
    if base is None:
        return []
    lanes = target.lanes(_bits(base.program, own.id))
    counts = {a.loop.name: a.count for a in around(base.program, own.id, [_same(base, own, x) for x in loops])}
    plain = [x for x in loops if x.kind == "serial" and counts[x.name] >= 2 * lanes]
    wanted = [x for x in plain if x is not this][-(MOST_TILED - (this is not None)) :]
    tiled = [loop_name(schedule, own, x) for x in plain if x in wanted or x is this]
    if not tiled or (this is not None and this not in plain):
        return []
    found: dict[Transform, str] = {}
    longest = int(max(counts[x.name] for x in plain)) // 2
    held: list[tuple[Transform, int | None]] = []
    for n in doubled(lanes, longest):
        sizes: dict[str, int] = {name: n for name in tiled if n < counts[name.loop]}
        held.append((tiled_by(sizes), _held(base, sizes)))
    for cache, capacity in zip(CACHES, target.cache_bytes, strict=False):
        if fits := [step for step, amount in held if amount is not None and amount <= capacity]:
            found.setdefault(fits[-1], cache)
    return list(found.items())


def tiled_by(sizes: dict[str, int]) -> Transform:
    """Blocks of so many iterations; of one loop, a split."""
    return tile(sizes) if len(sizes) > 1 else split(*next(iter(sizes.items())))


def _sizes_of(step: Transform) -> dict[str, int]:
    """The sizes of a step's blocks, by loop."""
    match step:
        case Tile(sizes, _):
            return dict(sizes)
        case Split(loop, size, _):
            return {loop: size}
    return {}


def _held(base: Schedule, sizes: dict[str, int]) -> int | None:
    """Bytes that one block touches; None where there can be no such blocks."""
    try:
        after = preview(base, tiled_by(sizes))
    except WorkbenchError:
        return None
    last = LoopName(list(sizes)[-1]).outer.loop
    return next((n.held_bytes for n in estimated_traffic(after.program, after.tree) if n.loop == last), None)


def doubled(first: int, most: int) -> list[int]:
    """A size and its doubles, up to so many."""
    found = []
    size = max(2, first)
    while size <= most:
        found.append(size)
        size *= 2
    return found


def _bits(program: Program, statement: str) -> int:
    own = program.statement(statement)
    return max((8 * program.arrays[a.array].dtype.bytes for a in own.accesses), default=32)


def _same(base: Schedule, own: ProgramStatement, loop: Loop) -> Loop:
    """The loop of the schedule with numbers."""
    return next(x for x in path(base.tree, own.id) if x.name == loop.name)
