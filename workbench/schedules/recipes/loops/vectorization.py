"""Vectorization: every innermost nest gets lanes along memory."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise, takewhile
from operator import mul

from workbench import poly
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Select, substitute, walk
from workbench.lang.expr import children as parts
from workbench.poly.programs.addresses import address
from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Tree, path, statements
from workbench.schedules import steps
from workbench.schedules.analysis.blocking import at_least
from workbench.schedules.analysis.structure import WALKS, Structure, structure
from workbench.schedules.edit import at, children, leaf_path
from workbench.schedules.recipes.decisions import asked, decide
from workbench.schedules.recipes.loops.loop_collapse import run_along
from workbench.schedules.recipes.try_steps import attempt, dim_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import reorder, vectorize
from workbench.schedules.transform import Transform
from workbench.target import Target

SHORT = 100
"""Rows of fewer cells, where some are left over, are walked together if they follow one another in memory."""

LONG = 1 << 16
"""Cells of a row that is long enough for anything; a 64th of it will do."""


SELDOM = 8
"""Iterations of a row of which one at most reads an array, behind a condition: generated code divides such a row where
the condition changes.  Squares would read all of the array, and choose in each lane: registers do not turn them."""

DIVIDED = 64
"""Iterations of a row that generated code divides at any condition."""


def vectorized(schedule: Schedule, blocked: set[str], target: Target) -> Schedule:
    """Lanes for every innermost nest that has none yet."""
    for identifier in [s.id for s in schedule.program.statements]:
        loops = path(schedule.tree, identifier)
        if identifier in blocked or not loops or any(x.kind == "vector" for x in loops):
            continue
        band = at(schedule.tree, innermost_band(schedule.tree, identifier))
        if isinstance(band, Band) and not any(isinstance(c, Band) for c in descend(band.child)):
            schedule = vectorized_band(schedule, band, target)
    return schedule


def innermost_band(tree: Tree, identifier: str) -> tuple[int, ...]:
    """The path of the innermost band around a statement."""
    place = leaf_path(tree, identifier)
    for depth in range(len(place), -1, -1):
        if isinstance(at(tree, place[:depth]), Band):
            return place[:depth]
    return ()


def descend(tree: Tree) -> list[Tree]:
    """The tree and everything below it."""
    return [tree, *(x for child in children(tree) for x in descend(child))]


def vectorized_band(schedule: Schedule, band: Band, target: Target) -> Schedule:
    """Vectorise the loop along which most accesses are neighbours, moved innermost if need be."""
    program, ids = schedule.program, statements(band)
    scored = sorted([(_score(program, band, i, ids), i) for i in range(len(band.loops))], reverse=True)
    scored = _across_first(program, scored, band, ids)
    if asked():
        scored = _chosen_first(program, scored, band, ids)
    for value, position in scored:
        crossing = crossed(program, band, position, ids)
        if value <= 0 and not crossing:
            continue
        if crossing and not decide(f"{program.statement(ids[-1]).name}_squares", True, (True, False)):
            crossing = None
        flat = loop_collapses(program, band, position, target) if position == len(band.loops) - 1 else []
        for way in (*flat, *options(program, band, position, crossing, target)):
            after = attempt(schedule, *way)
            if after is not schedule:
                return after
    return schedule


def _chosen_first(
    program: Program, scored: list[tuple[int, int]], band: Band, ids: tuple[str, ...]
) -> list[tuple[int, int]]:
    """The loops in the order in which lanes are tried, the one that was chosen first; none if none is wanted.

    A loop inside a block is chosen by the dim that it walks along, as the loop without blocks would be.  Where the
    recipe itself takes none (a gather, cells that lie apart) each may be chosen.
    """
    names = [_walked(band, position, ids[-1]) for _, position in scored]
    fits = any(value > 0 or crossed(program, band, position, ids) for value, position in scored)
    usual = names[0] if fits else ""
    if fits and len(names) == 1:
        return scored
    wanted = decide(f"{program.statement(ids[-1]).name}_lanes", usual, (*names, ""))
    if not wanted:
        return []
    first = names.index(wanted)
    value, position = scored[first]
    forced = wanted != usual
    return [(max(1, value) if forced else value, position), *(s for n, s in enumerate(scored) if n != first)]


def _across_first(
    program: Program, scored: list[tuple[int, int]], band: Band, ids: tuple[str, ...]
) -> list[tuple[int, int]]:
    """Before all others a loop along what is written, that something crosses, unless the other loop is better by more
    than what is read again for each of its rows: a vector that is added to what is transposed."""
    values = {position: value for value, position in scored}
    for value, position in scored:
        crossing = crossed(program, band, position, ids)
        other = next((at for at, loop in enumerate(band.loops) if loop.name == crossing), None)
        if other is None or values[other] <= value:
            continue
        again = 0
        for s in ids:
            own, across = dim_of(band, position, s), dim_of(band, other, s)
            reads = structure(program, s).reads
            again += sum(WALKS[1] for r in reads if r.along(across or "") == 1 and r.along(own or "") == 0)
        if values[other] - again <= value:
            return [(value, position), *(each for each in scored if each[1] != position)]
    return scored


def _walked(band: Band, position: int, statement: str) -> str:
    """The dim that a loop walks along, whole or inside a block; else the loop's name."""
    match band.loops[position].row(statement):
        case Index(name, _) | Binary("%", Index(name, _), Const(), _):
            return name
    return band.loops[position].name


def options(
    program: Program, band: Band, position: int, crossing: str | None, target: Target
) -> list[list[Transform]]:
    """Ways to put one loop of a band into lanes: across a small square if an access crosses it, else innermost."""
    names = loops_of(program.statement(statements(band)[-1]).name, (x.name for x in band.loops))
    own = names[position]
    found: list[list[Transform]] = []
    if crossing is not None:
        from workbench.schedules.recipes.loops.transposition import across  # for the few programs that transpose

        found += across(program, band, [x.name for x in band.loops].index(crossing), position, target)
    moved = (*names[:position], *names[position + 1 :], own)
    order: list[Transform] = [reorder(*moved)] if moved != names else []
    return [*found, [*order, vectorize(own)]]


def loop_collapses(program: Program, band: Band, position: int, target: Target) -> list[list[Transform]]:
    """One long loop in lanes instead of short rows, where every access walks through memory as if they were one."""
    ids = statements(band)
    runs = []
    for s in ids:
        dim = dim_of(band, position, s)
        shape = structure(program, s)
        trip = shape.trip(dim) if dim else None
        if dim is None or trip is None or trip >= SHORT or trip % target.lanes(32) == 0:
            return []
        run = run_along(shape, dim, shape.statement.dims)
        around = [dim_of(band, p, s) for p in range(position, -1, -1)]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(reversed(run), around, strict=False))
        runs.append(_moderate([shape.trip(d) or LONG for d in _walked_as_one([d for d, _ in same], shape.statement)]))
    if min(runs) < 2:
        return []
    rows = band.loops[position + 1 - min(runs) : position + 1]
    long = steps.fuse(*loops_of(program.statement(ids[-1]).name, (x.name for x in rows)))
    return [[long, vectorize(long.fused)]]


def _walked_as_one(dims: list[str], statement: ProgramStatement) -> list[str]:
    """The first of some dims, up to one that must be told from the others."""
    chosen = _chosen_by(statement)
    return list(takewhile(lambda d: d not in chosen, dims))


def _chosen_by(statement: ProgramStatement) -> set[str]:
    """Dims that decide which of two values a cell has: walked with others as one they would be told by divisions."""
    choices = (node for value in statement.values for node in walk(value) if isinstance(node, Select))
    return {name for node in choices for name in _told(node.condition)}


def _told(expr: Expr) -> set[str]:
    """Dims whose values an expression compares or computes with; those by which it reads cells are not among them."""
    match expr:
        case Read():
            return set()
        case Index(name, _):
            return {name}
    return {name for part in parts(expr) for name in _told(part)}


def _moderate(trips: list[int]) -> int:
    """How many loops, from the inside out, make a row that is long but leaves work for other threads."""
    cells = list(accumulate(trips, mul))
    return next((n for n, c in enumerate(cells) if c > LONG or (n and cells[n - 1] >= LONG // 64)), len(cells))


def _score(program: Program, band: Band, position: int, ids: tuple[str, ...]) -> int:
    """Accesses that walk along memory with a loop of the band, minus those that jump."""
    total = 0
    for s in ids:
        dim = dim_of(band, position, s)
        if dim is None or not at_least(structure(program, s).trip(dim), 4):
            return 0
        total += walked(program, ids, s, dim).contiguous(dim)
    return total + sum(5 * 2 for s, t in pairwise(ids) if _in_turn(program, band, position, s, t))


def _in_turn(program: Program, band: Band, position: int, first: str, second: str) -> bool:
    """Whether two statements fill every second cell of a row each: lanes store both at once."""
    one, other = program.statement(first), program.statement(second)
    dims = [(dim_of(band, p, first), dim_of(band, p, second)) for p in range(len(band.loops))]
    if any(a is None or b is None for a, b in dims) or {one.kind, other.kind} != {"assign"}:
        return False
    touches = [*structure(program, first).writes, *structure(program, second).writes]
    moved = [t.along(d or "") for t, d in zip(touches, dims[position], strict=False)]
    if len(touches) != 2 or moved != [2, 2] or touches[0].array != touches[1].array:
        return False
    renamed: dict[str, Expr] = {b: Index(a, INT32) for a, b in dims if a and b}
    array, (_, left), (_, right) = program.arrays[touches[0].array], one.targets[0], other.targets[0]
    distance = address(array, tuple(substitute(e, renamed) for e in right)) - address(array, left)
    return distance.constant in (1, -1)


def crossed(program: Program, band: Band, position: int, ids: tuple[str, ...]) -> str | None:
    """Another loop of the band along which an access walks that jumps along this one (a transposition).

    Only where what is written walks along this one: writes should fill whole cache lines.
    """
    for s in ids:
        dim = dim_of(band, position, s)
        if dim is None or any(w.along(dim) != 1 for w in structure(program, s).writes):
            return None
    for other, loop in enumerate(band.loops):
        for s in ids:
            dim, across = dim_of(band, position, s), dim_of(band, other, s)
            if not dim or not across or dim == across:
                continue
            reads = walked(program, ids, s, dim).reads
            if any(r.along(across) == 1 and r.along(dim) not in (0, 1) for r in reads):
                return loop.name
    return None


def walked(program: Program, ids: tuple[str, ...], identifier: str, dim: str) -> Structure:
    """The structure of a statement of a band, without what few iterations of a dim read where the row is divided there.

    Generated code divides rows of a single assignment.
    """
    shape = structure(program, identifier)
    own, trip = shape.statement, shape.trip(dim)
    if len(ids) > 1 or own.kind != "assign" or not at_least(trip, DIVIDED) or not _chosen_by(own):
        return shape
    runs = {r.array: poly.longest_run(program, identifier, r.array, dim) for r in shape.reads}
    few = {array for array, run in runs.items() if run is not None and at_least(trip, SELDOM * run)}
    return replace(shape, reads=tuple(r for r in shape.reads if r.array not in few))
