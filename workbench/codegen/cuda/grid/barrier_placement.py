"""Where the threads of a block wait, and why: the fewest places that part everything that crosses threads.

What crosses, `poly/threads/cross_thread_dependences.py` says; the pass that asks here is `waiting` of
`kernel_passes.py`, and a `Sync` becomes `__syncthreads()`.  A place is a gap of some `Parts`: before one of its parts,
or behind the last.  What crosses from one piece to another is parted by any gap that is passed in between; gaps inside
fewer loops are taken first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, zip_longest

from workbench.codegen.cuda.grid.block_code import Around, Code, Parts, Piece, Sync
from workbench.codegen.cuda.grid.collectives import sum_of_warps
from workbench.codegen.cuda.grid.launch_extents import Extents
from workbench.codegen.nest.nest import For
from workbench.poly.threads.cross_thread_dependences import Crossing
from workbench.poly.time.concurrency import is_block
from workbench.records import record

MOST_TRIED = 12


@record
class Gap:
    """A gap: the way to its parts (positions from the top; a branch of a guard counts too), and which one it is."""

    way: tuple[int, ...]
    position: int
    loops: int


@record
class Spot:
    """A piece: the way to it, as (way of the parts, position there, number of parts, loops around) at every level,
    and the loops around with the level they begin at."""

    piece: Piece
    levels: tuple[tuple[tuple[int, ...], int, int, int], ...]
    loops: tuple[tuple[str, int], ...]


@record
class Need:
    """One of these gaps is needed; where asynchronous copies must have arrived, all but the `pending` youngest groups,
    in a gap that every iteration of the loop with the body at `way` passes once, and else all.  `why` has what is done
    to which array.
    """

    gaps: frozenset[Gap]
    pending: int | None
    way: tuple[int, ...] = ()
    why: frozenset[tuple[str, str]] = frozenset()

    @property
    def loops(self) -> int:
        return min(gap.loops for gap in self.gaps)


def with_syncs(code: Parts, found: frozenset[Crossing], late: frozenset[str], *, repeated: bool = False) -> Parts:
    """The code with its waits; statements of `late` copy asynchronously.

    `repeated`: the iterations of block loops share memory, so that all wait at the end of each.
    """
    spots = list(_spots(code, (), (), ()))
    needs = [need for a in spots for b in spots for need in _needs(a, b, found, late)]
    chosen = _chosen(needs)
    pending: dict[Gap, int | None] = dict.fromkeys(chosen)
    for need in needs:
        for gap in need.gaps & chosen if need.pending is not None else ():
            own = need.pending if gap.way == need.way and need.pending else 0
            before = pending[gap]
            pending[gap] = own if before is None else min(before, own)
    waits = {gap: Sync(groups, _why(gap, needs)) for gap, groups in pending.items()}
    return _inserted(code, (), waits, repeated)


def _why(gap: Gap, needs: list[Need]) -> tuple[str, ...]:
    """What a gap is needed for, in words: the arrays to which the same is done together."""
    arrays: dict[str, set[str]] = {}
    for need in needs:
        for deed, array in need.why if gap in need.gaps else ():
            arrays.setdefault(deed, set()).add(array)
    return tuple(sorted(f"{' and '.join(sorted(those))}, {deed}" for deed, those in arrays.items()))


def behind_sums(code: Parts, extents: Extents, lanes: int, *, again: bool = False) -> Parts:
    """The code where threads wait behind sums in loops that leave results in memory: the next one uses it too.

    `lanes` threads exchange values without memory;

    `again`: the code is in such a loop.
    """
    parts: list[Code] = []
    for part, following in zip_longest(code.parts, code.parts[1:]):
        parts.append(_behind_sums(part, extents, lanes, again))
        if again and not isinstance(following, Sync) and sum_of_warps(part, extents, lanes):
            parts.append(Sync(why=("the memory of this sum over threads is used again",)))
    return Parts(tuple(parts))


def _behind_sums(code: Code, extents: Extents, lanes: int, again: bool) -> Code:
    match code:
        case Parts():
            return behind_sums(code, extents, lanes, again=again)
        case Around(node, body, otherwise):
            inside = again or (isinstance(node, For) and not is_block(node.kind))
            other = None if otherwise is None else behind_sums(otherwise, extents, lanes, again=inside)
            return replace(code, body=behind_sums(body, extents, lanes, again=inside), otherwise=other)
    return code


def _spots(
    code: Code, way: tuple[int, ...], levels: tuple[tuple[tuple[int, ...], int, int, int], ...],
    loops: tuple[tuple[str, int], ...],
) -> Iterator[Spot]:  # fmt: skip
    match code:
        case Piece():
            yield Spot(code, levels, loops)
        case Parts(parts):
            for position, part in enumerate(parts):
                here = (way, position, len(parts), len(loops))
                yield from _spots(part, (*way, position), (*levels, here), loops)
        case Around(node, body, otherwise):
            if isinstance(node, For) and not is_block(node.kind):
                loops = (*loops, (node.loop, len(levels)))
            yield from _spots(body, (*way, 0), levels, loops)
            if otherwise is not None:
                yield from _spots(otherwise, (*way, 1), levels, loops)


def _needs(a: Spot, b: Spot, found: frozenset[Crossing], late: frozenset[str]) -> Iterator[Need]:
    """What must lie between the pieces `a` and `b`, `a` first in time."""
    pairs = {(s, t) for s in a.piece.statements for t in b.piece.statements}
    crossing = [x for x in found if (x.source, x.target) in pairs]
    common = _common(a, b)
    around = [loop for loop in a.loops if loop in b.loops and loop[1] <= common]
    names = {name for name, _ in around}
    ahead = [x for x in crossing if x.loop not in names]
    if ahead and _precedes(a, b, common):
        pending = 0 if any(x.source in late for x in ahead) else None
        yield Need(frozenset(_between(a, b, common)), pending, (), _reasons(ahead, late))
    for name, level in around:
        carried = [x for x in crossing if x.loop == name]
        if carried:
            gaps = frozenset((*_after(a, level), *_before(b, level)))
            copies = [x.distance for x in carried if x.source in late]
            pending = min(copies) - 1 if copies else None  # each iteration makes one group
            closed = frozenset(map(_closed(a, level), gaps))
            yield Need(closed, pending, a.levels[level][0], _reasons(carried, late))


def _reasons(found: list[Crossing], late: frozenset[str]) -> frozenset[tuple[str, str]]:
    """What threads wait for: (what is done, to which array)."""
    return frozenset(reason for x in found for reason in _said(x, copied=x.source in late))


def _said(x: Crossing, *, copied: bool) -> Iterator[tuple[str, str]]:
    when = f" in an earlier iteration of {x.loop}" if x.loop else ""
    for array in x.written:
        yield f"copied asynchronously{when}" if copied else f"written by another thread{when}", array
    for array in x.read:
        yield f"read by another thread{when}", array


def _common(a: Spot, b: Spot) -> int:
    """The first level at which the ways of two pieces part (the number of levels if they are one piece)."""
    pairs = zip(a.levels, b.levels, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(a.levels), len(b.levels)))


def _precedes(a: Spot, b: Spot, common: int) -> bool:
    if common >= min(len(a.levels), len(b.levels)):
        return False
    (one, first, *_), (other, second, *_) = a.levels[common], b.levels[common]
    return one == other and first < second


def _between(a: Spot, b: Spot, common: int) -> Iterator[Gap]:
    way, first, _, loops = a.levels[common]
    second = b.levels[common][1]
    yield from (Gap(way, g, loops) for g in range(first + 1, second + 1))
    yield from _after(a, common + 1)
    yield from _before(b, common + 1)


def _after(spot: Spot, level: int) -> Iterator[Gap]:
    """The gaps behind a piece, from a level on inwards."""
    for way, position, count, loops in spot.levels[level:]:
        yield from (Gap(way, g, loops) for g in range(position + 1, count + 1))


def _before(spot: Spot, level: int) -> Iterator[Gap]:
    """The gaps before a piece, from a level on inwards."""
    for way, position, _, loops in spot.levels[level:]:
        yield from (Gap(way, g, loops) for g in range(position + 1))


class _closed:
    """The first gap of a loop's body is its last one, as long as the loop goes on."""

    def __init__(self, spot: Spot, level: int) -> None:
        self.way, _, self.count, self.loops = spot.levels[level]

    def __call__(self, gap: Gap) -> Gap:
        return Gap(self.way, self.count, self.loops) if (gap.way, gap.position) == (self.way, 0) else gap


def _chosen(needs: list[Need]) -> set[Gap]:
    """Few gaps that meet every need: what must stand in more loops first."""
    chosen: set[Gap] = set()
    for loops in sorted({need.loops for need in needs}, reverse=True):
        open_ = [need.gaps for need in needs if need.loops == loops and not need.gaps & chosen]
        chosen |= _fewest([frozenset(g for g in gaps if g.loops == loops) for gaps in open_])
    return chosen


def _fewest(wanted: list[frozenset[Gap]]) -> set[Gap]:
    """A smallest set that has one of each; the later gap of two that serve alike."""
    wanted = list(dict.fromkeys(wanted))
    if not wanted:
        return set()
    known = sorted(frozenset().union(*wanted), key=lambda g: (g.way, g.position), reverse=True)
    if len(known) <= MOST_TRIED:
        for size in range(1, len(known) + 1):
            for tried in combinations(known, size):
                if all(gaps & {*tried} for gaps in wanted):
                    return set(tried)
    found: set[Gap] = set()
    while wanted:
        best = max(known, key=lambda g: sum(g in gaps for gaps in wanted))
        found.add(best)
        wanted = [gaps for gaps in wanted if best not in gaps]
    return found


def _inserted(code: Parts, way: tuple[int, ...], waits: dict[Gap, Sync], repeated: bool) -> Parts:
    at = {gap.position: sync for gap, sync in waits.items() if gap.way == way}
    parts: list[Code] = []
    for position, part in enumerate(code.parts):
        parts += [at[position]] if position in at else []
        parts.append(_inside(part, (*way, position), waits, repeated))
    return Parts((*parts, *([at[len(code.parts)]] if len(code.parts) in at else [])))


def _inside(code: Code, way: tuple[int, ...], waits: dict[Gap, Sync], repeated: bool) -> Code:
    match code:
        case Parts():
            return _inserted(code, way, waits, repeated)
        case Around(node, body, otherwise):
            other = None if otherwise is None else _inserted(otherwise, (*way, 1), waits, repeated)
            inner = _inserted(body, (*way, 0), waits, repeated)
            ends = bool(inner.parts) and isinstance(inner.parts[-1], Sync)
            if repeated and isinstance(node, For) and is_block(node.kind) and not ends and not _blocks(inner):
                inner = Parts((*inner.parts, Sync(why=("the next tile of this block uses the same memory",))))
            return replace(code, body=inner, otherwise=other)
    return code


def _blocks(code: Code) -> bool:
    """Whether a block loop stands inside."""
    match code:
        case Parts(parts):
            return any(map(_blocks, parts))
        case Around(node, body, otherwise):
            own = isinstance(node, For) and is_block(node.kind)
            return own or _blocks(body) or (otherwise is not None and _blocks(otherwise))
    return False
