"""The default recipe for C: chosen by structure and legality, never by an operator's name.

Neighbouring nests over the same ranges are fused as deep as it is legal; reductions with reuse get register
and cache blocks; every innermost nest is vectorised along memory; the outermost loop without
dependences is divided among threads.
"""

from __future__ import annotations

from workbench import poly
from workbench.errors import ScheduleError
from workbench.poly.program import Program
from workbench.poly.tree import Band, Sequence, Tree, path, statements
from workbench.schedules.blocking import Blocking, blocking
from workbench.schedules.edit import at, children, find_loop, leaf_path, qualified, sites
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.schedules.steps import decompose_reduction, interchange, merge, parallelize, tile, unroll, vectorize
from workbench.schedules.steps.decomposition import enclosing_sequence
from workbench.schedules.structure import structure
from workbench.schedules.transform import Transform
from workbench.target import Target

SMALL = 1 << 14
"""Fewer instances than this are not worth a second thread."""


def default_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule `op(...)` runs when nobody chose one."""
    machine = target or Target()
    schedule = fused(naive_schedule(program), machine)
    blocked: set[str] = set()
    for identifier in [s.id for s in program.statements if s.kind == "update"]:
        after = block(schedule, identifier, machine)
        if after is not schedule:
            schedule, blocked = after, blocked | {identifier}
    schedule = vectorized(schedule, blocked)
    return parallelized(schedule)


def attempt(schedule: Schedule, *steps: Transform) -> Schedule:
    """The schedule after the steps if they fit and are legal, else unchanged."""
    try:
        after = schedule
        for step in steps:
            after = step.on(after)
    except ScheduleError:
        return schedule
    among = changed(schedule, after)
    return schedule if poly.violations(schedule.program, after.tree, among) else after


def changed(before: Schedule, after: Schedule) -> frozenset[str]:
    """Statements of the top-level nests that differ: only their dependences need a second look."""
    old = set(top(before.tree))
    different = [s for nest in top(after.tree) if nest not in old for s in statements(nest)]
    return frozenset(different)


def top(tree: Tree) -> tuple[Tree, ...]:
    """The nests that follow one another at the outermost level."""
    return tree.children if isinstance(tree, Sequence) else (tree,)


# Fusion ---------------------------------------------------------------------------------------------------


def fused(schedule: Schedule, target: Target) -> Schedule:
    """Merge neighbours, outermost level first, each pair as deep as it is legal."""
    refused: set[tuple[str, str]] = set()
    while True:
        pair = next(candidates(schedule, schedule.tree, target, refused), None)
        if pair is None:
            return schedule
        first, second, depth = pair
        names = [schedule.program.statement(s).name for s in (first, second)]
        for d in range(depth, 0, -1):
            after = attempt(schedule, merge(names[0], names[1], depth=d))
            if after is not schedule:
                schedule = after
                break
        else:
            refused.add((first, second))


def candidates(schedule: Schedule, tree: Tree, target: Target, refused: set[tuple[str, str]]):  # type: ignore[no-untyped-def]
    """(last statement of one nest, first of the next, common depth) for neighbours over the same ranges."""
    if isinstance(tree, Sequence):
        for a, b in neighbours(tree):
            pair = statements(a)[-1], statements(b)[0]
            depth = common(schedule.program, a, b) if pair not in refused else 0
            if depth and not heavy(schedule.program, a, target) and not heavy(schedule.program, b, target):
                yield (*pair, depth)
    for child in children(tree):
        yield from candidates(schedule, child, target, refused)


def neighbours(tree: Sequence):  # type: ignore[no-untyped-def]
    """Pairs of nests with nothing but single statements between them."""
    nests = [c for c in tree.children if isinstance(c, Band)]
    return zip(nests, nests[1:], strict=False)


def common(program: Program, a: Tree, b: Tree) -> int:
    """How many outer loops of two nests run over the same values."""
    if not (isinstance(a, Band) and isinstance(b, Band)):
        return 0
    depth = 0
    for x, y in zip(a.loops, b.loops, strict=False):
        first, second = x.rows[0], y.rows[0]
        dims = [getattr(row, "name", None) for _, row in (first, second)]
        if None in dims or not poly.same_range(program, (first[0], dims[0]), (second[0], dims[1])):
            break
        depth += 1
    return depth


def heavy(program: Program, tree: Tree, target: Target) -> bool:
    """Whether a nest holds a reduction that will get blocks of its own."""
    updates = [s for s in statements(tree) if program.statement(s).kind == "update"]
    return any(blocking(structure(program, s), target) is not None for s in updates)


# Blocks ---------------------------------------------------------------------------------------------------


def block(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """Register and cache blocks for one reduction; unchanged if it has no use for them."""
    program = schedule.program
    plan = blocking(structure(program, identifier), target)
    if plan is None or not simple(program, schedule.tree, identifier):
        return schedule
    name = program.statement(identifier).name
    sizes = {f"{name}/{d}": s for d, s in plan.rows if s > 1}
    if plan.form == "across":
        sizes[f"{name}/{plan.vector}"] = plan.vector_size
        if plan.panel:
            sizes[f"{name}/{plan.panel[0]}"] = plan.panel[1]
    try:
        ready = decompose_reduction(name).on(schedule) if enclosing_sequence(schedule.tree, identifier) else schedule
        ready = tile(sizes).on(ready) if sizes else ready
        order = blocked_order(ready, identifier, plan)
    except ScheduleError:
        return schedule
    steps: list[Transform] = [interchange(*order)]
    inner = [f"{name}/{d}_i" for d, s in plan.rows if s > 1]
    vector = f"{name}/{plan.vector}" + ("_i" if plan.form == "across" else "")
    steps += [unroll(x) for x in inner] + [vectorize(vector)]
    after = attempt(ready, *steps)
    kept = after is not ready and not poly.violations(program, after.tree, changed(schedule, after))
    return after if kept else schedule


def simple(program: Program, tree: Tree, identifier: str) -> bool:
    """Whether the loops around the statement are its own dims, one after another."""
    return [x.name for x in path(tree, identifier)] == list(program.statement(identifier).dims)


def blocked_order(schedule: Schedule, identifier: str, plan: Blocking) -> list[str]:
    """Blocks of cells outside, then the reduction, then the registers."""
    program = schedule.program
    shape = structure(program, identifier)
    rows = [d for d, s in plan.rows if s > 1]
    across = plan.form == "across"
    tiled = {*rows, *([plan.vector] if across else [])}
    others = [d for d in shape.free if d not in tiled]
    outer = [f"{plan.vector}_o"] if across else []
    panel = [f"{plan.panel[0]}_o"] if across and plan.panel else []
    blocks = [f"{d}_o" for d in rows]
    reduced = [
        f"{d}_i" if across and plan.panel and d == plan.panel[0] else d
        for d in shape.reduced if across or d != plan.vector
    ]  # fmt: skip
    registers = [f"{d}_i" for d in rows]
    last = [f"{plan.vector}_i"] if across else [plan.vector]
    inside = [*reduced, *registers, *last] if across else [*reduced, *last, *registers]
    name = program.statement(identifier).name
    return [f"{name}/{x}" for x in (*others, *outer, *panel, *blocks, *inside)]


# Lanes ----------------------------------------------------------------------------------------------------


def vectorized(schedule: Schedule, blocked: set[str]) -> Schedule:
    """Lanes for every innermost nest that has none yet."""
    for identifier in [s.id for s in schedule.program.statements]:
        loops = path(schedule.tree, identifier)
        if identifier in blocked or not loops or any(x.kind == "vector" for x in loops):
            continue
        band = at(schedule.tree, innermost(schedule.tree, identifier))
        if isinstance(band, Band) and not any(isinstance(c, Band) for c in descend(band.child)):
            schedule = lanes(schedule, band)
    return schedule


def innermost(tree: Tree, identifier: str) -> tuple[int, ...]:
    """The path of the innermost band around a statement."""
    place = leaf_path(tree, identifier)
    for depth in range(len(place), -1, -1):
        if isinstance(at(tree, place[:depth]), Band):
            return place[:depth]
    return ()


def descend(tree: Tree) -> list[Tree]:
    """The tree and everything below it."""
    return [tree, *(x for child in children(tree) for x in descend(child))]


def lanes(schedule: Schedule, band: Band) -> Schedule:
    """Vectorise the loop along which most accesses are neighbours, moved innermost if need be."""
    program = schedule.program
    ids = statements(band)
    scored = sorted(
        ((score(program, band, position, ids), position) for position in range(len(band.loops))), reverse=True
    )
    for value, position in scored:
        if value <= 0:
            return schedule
        place = f"{program.statement(ids[-1]).name}/"
        names = [place + x.name for x in band.loops]
        moved = names[:position] + names[position + 1 :] + [names[position]]
        steps: list[Transform] = [vectorize(names[position])]
        if position != len(names) - 1:
            steps.insert(0, interchange(*moved))
        after = attempt(schedule, *steps)
        if after is not schedule:
            return after
    return schedule


def score(program: Program, band: Band, position: int, ids: tuple[str, ...]) -> int:
    """Accesses that walk along memory with a loop of the band, minus those that jump."""
    total = 0
    for s in ids:
        dim = getattr(band.loops[position].row(s), "name", None)
        if dim is None:
            return 0
        total += structure(program, s).contiguous(dim)
    return total


# Threads --------------------------------------------------------------------------------------------------


def parallelized(schedule: Schedule) -> Schedule:
    """Divide the outermost loop that carries no dependence, in each nest with enough work."""
    for number in range(len(top(schedule.tree))):
        nest = top(schedule.tree)[number]
        if isinstance(nest, Band) and worthwhile(schedule.program, nest):
            schedule = divided(schedule, nest)
    return schedule


def worthwhile(program: Program, nest: Tree) -> bool:
    """Whether the nest surely or possibly has work for several threads."""
    total = 0
    for s in statements(nest):
        points = 1
        for _, trip in structure(program, s).trips:
            if trip is None:
                return True
            points *= trip
        total += points
    return total >= SMALL


def divided(schedule: Schedule, nest: Band) -> Schedule:
    """Parallelise the first loop with enough iterations, else the longest legal one."""
    program, own = schedule.program, statements(nest)
    options = []
    for site in sites(nest):
        loop = site.loop
        if loop.kind != "serial" or set(dict(loop.rows)) != set(own):
            continue
        count = iterations(schedule, loop.row(own[-1]), own[-1])
        options.append((count, qualified(program, site)))
    enough = [name for count, name in options if count >= 8]
    rest = [name for _, name in sorted(options, key=lambda o: -o[0]) if name not in enough]
    for name in (*enough, *rest):
        if poly.can_parallelize(program, schedule.tree, name):
            site = find_loop(program, schedule.tree, name)
            first = qualified(program, sites(nest)[0])
            steps: list[Transform] = [parallelize(name)]
            if site.position and site.path == find_loop(program, schedule.tree, first).path:
                after = attempt(schedule, hoisted(program, site), *steps)
                if after is not schedule:
                    return after
            return attempt(schedule, *steps)
    return schedule


def hoisted(program: Program, site) -> Transform:  # type: ignore[no-untyped-def]
    """The interchange that makes a loop the outermost of its band."""
    statement = program.statement(statements(site.band)[-1]).name
    names = [f"{statement}/{x.name}" for x in site.band.loops[: site.position + 1]]
    return interchange(names[-1], *names[:-1])


def iterations(schedule: Schedule, row: object, statement: str) -> int:
    """Roughly how many values a time component takes."""
    from workbench.lang.expr import Binary, Const, Index

    match row:
        case Index(name, _):
            return poly.extent(schedule.program, statement, name) or 1 << 20
        case Binary("/", inner, Const(size, _), _):
            return -(-iterations(schedule, inner, statement) // int(size))
        case Binary("%", _, Const(size, _), _):
            return int(size)
    return 1 << 20
