"""Choices that the default recipe never takes: what is inlined, the order of loops, blocks for caches, unrolling.

A tuner asks for them where no recipe fits; each is kept where it is legal.
"""

from __future__ import annotations

from itertools import permutations

from workbench import poly
from workbench.errors import ScheduleError
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of, over_blocks
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.tree import Band, Leaf, Tree, marked, path, statements
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import at, children
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.loops.parallelization import worthwhile
from workbench.schedules.recipes.loops.vectorization import innermost_band
from workbench.schedules.recipes.try_steps import attempt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import inline, reorder, split, tile, unroll, unroll_jam, vectorize
from workbench.target import Target

MOST_ORDERS = 8
BLOCKS = (4, 8, 16, 32, 64, 128, 256, 512)
LONG_BLOCKS = (256, 1024, 4096, 16384)
VECTORS = (1, 2, 4, 8)
FACTORS = (1, 2, 3, 4, 6, 8)


def inlined(schedule: Schedule) -> Schedule:
    """Each temporary that one assignment defines, stored or written out where it is read."""
    program = schedule.program
    for array in [a for a in program.arrays.values() if a.role == "temporary"]:
        makers = [s for s in schedule.program.statements if any(t == array.name for t, _ in s.targets)]
        if len(makers) != 1 or makers[0].kind != "assign":
            continue
        try:
            after = inline(array.name).on(schedule)
        except ScheduleError:
            continue
        if after.verdict and decide(f"{array.name}_inlined", False, (False, True), opens=True):
            schedule = after
    return schedule


def reordered(schedule: Schedule, blocked: set[str], target: Target) -> Schedule:
    """The order of the loops of each nest that has no blocks of its own, and blocks for caches."""
    for own in [statements(at(schedule.tree, place)) for place in _perfect(schedule.tree)]:
        band = at(schedule.tree, innermost_band(schedule.tree, own[-1]))
        if not isinstance(band, Band) or blocked & {*own}:
            continue
        if any(x.kind != "serial" for x in band.loops):
            continue
        name = schedule.program.statement(own[-1]).name
        if len(band.loops) > 1:
            schedule = _ordered(schedule, name, [x.name for x in band.loops])
            schedule = _tiled(schedule, name, own[-1], BLOCKS)
        elif worthwhile(schedule.program, band, target):  # blocks for threads, whose cells may go into lanes
            schedule = _tiled(schedule, name, own[-1], LONG_BLOCKS)
    return schedule


def unrolled(schedule: Schedule, target: Target) -> Schedule:
    """Several vectors of an innermost loop at once, and several iterations of the loop around it."""
    replaced = set(marked(schedule.tree, ExecutedBy))
    for s in schedule.program.statements:
        loops = path(schedule.tree, s.id)
        if s.id in replaced or not loops or any(x.kind == "unroll" for x in loops):
            continue
        last = loops[-1]
        if last.kind == "vector" and last.name in s.dims:
            trip = structure(schedule.program, s.id).trip(last.name)
            lanes = target.lanes(max(32, *(8 * v.dtype.bytes for v in s.values)))
            wide = decide(f"{s.name}_vectors", 0, (0, *(v for v in VECTORS if trip is None or v * lanes <= trip)))
            if wide:
                schedule = _split_lanes(schedule, s.name, last.name, wide * lanes)
        if len(loops) > 1 and loops[-2].kind == "serial":
            factor = decide(f"{s.name}_jam", 1, FACTORS)
            if factor > 1:
                schedule = attempt(schedule, unroll_jam(loop_of(s.name, loops[-2].name), factor))
        elif last.kind == "serial":
            factor = decide(f"{s.name}_unroll", 1, FACTORS)
            if factor > 1:
                cut = split(loop_of(s.name, last.name), factor)
                schedule = attempt(schedule, cut, unroll(cut.inner))
    return schedule


def _split_lanes(schedule: Schedule, name: str, loop: str, size: int) -> Schedule:
    """A vector loop in pieces of so many lanes."""
    if not schedule.trace or schedule.trace[-1] != vectorize(loop_of(name, loop)):
        return schedule
    cut = split(loop_of(name, loop), size)
    return attempt(schedule.undo(), cut, vectorize(cut.inner))


def _perfect(tree: Tree, place: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The places of bands around a single statement, or several in one innermost body."""
    found = []
    if isinstance(tree, Band) and not any(isinstance(c, Band) for c in _below(tree.child)):
        found.append(place)
    for number, child in enumerate(children(tree)):
        found += _perfect(child, (*place, number))
    return found


def _below(tree: Tree) -> list[Tree]:
    return [tree, *(x for child in children(tree) for x in _below(child))] if not isinstance(tree, Leaf) else [tree]


def _ordered(schedule: Schedule, name: str, loops: list[str]) -> Schedule:
    orders = {" ".join(p): p for p in (permutations(loops) if len(loops) <= 3 else _moves(loops))}
    usual = " ".join(loops)
    wanted = decide(f"{name}_order", usual, list(orders)[: 2 * MOST_ORDERS], opens=True)
    return schedule if wanted == usual else attempt(schedule, reorder(*loops_of(name, orders[wanted])))


def _moves(loops: list[str]) -> list[tuple[str, ...]]:
    """One loop moved to the innermost or the outermost place."""
    found = [tuple(loops)]
    for loop in loops:
        others = [x for x in loops if x != loop]
        found += [(*others, loop), (loop, *others)]
    return found


def _tiled(schedule: Schedule, name: str, identifier: str, blocks: tuple[int, ...]) -> Schedule:
    """Blocks of some of the loops, in the same order, or all of them around what is not in blocks."""
    sizes: dict[str, int] = {}
    possible = 0
    loops = path(schedule.tree, identifier)
    for loop in loops:
        own = loop.name in schedule.program.statement(identifier).dims
        trip = poly.extent(schedule.program, identifier, loop.name) if own else None
        options = (0, *(b for b in blocks if trip is None or 2 * b <= trip))
        size = decide(f"{name}_block_{loop.name}", 0, options) if len(options) > 1 else 0
        possible += len(options) > 1
        if size:
            sizes[loop_of(name, loop.name)] = size
    outside = possible and len(loops) > 1 and decide(f"{name}_blocks_outside", False, (False, True))
    after = attempt(schedule, tile(sizes)) if sizes else schedule
    return _outside(after, name, identifier, set(map(over_blocks, sizes))) if outside and sizes else after


def _outside(schedule: Schedule, name: str, identifier: str, around: set[LoopName]) -> Schedule:
    """These loops around the others of their band, where that is legal."""
    band = at(schedule.tree, innermost_band(schedule.tree, identifier))
    names = list(loops_of(name, (x.name for x in band.loops))) if isinstance(band, Band) else []
    moved = [*(x for x in names if x in around), *(x for x in names if x not in around)]
    return schedule if moved == names else attempt(schedule, reorder(*moved))
