"""Parallelization: the outermost loop that carries no dependence is divided among threads."""

from __future__ import annotations

from math import prod

from workbench import poly
from workbench.lang.expr import Binary, Const, Expr, Index, index_names
from workbench.poly.programs.accumulating import contribution
from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Sequence, Tree, loops, path, statements
from workbench.schedules.analysis.structure import multiplies, structure
from workbench.schedules.edit import Site, find_loop, qualified, sites
from workbench.schedules.recipes.decisions import asked, decide
from workbench.schedules.recipes.try_steps import attempt, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import parallelize, reorder
from workbench.schedules.transform import Transform
from workbench.target import Target

SMALL = 4
"""Parallel regions in whose time a nest must keep a core busy, a turn of a loop for each instance: a second thread
saves half of that, and an instance in lanes takes half a turn or less."""

THREADS = "threads"
"""The decision whether any nest is divided."""

ENTERED = 16
"""The same for a nest that is entered again and again: what is shared moves between the cores each time."""


def parallelized(schedule: Schedule, target: Target) -> Schedule:
    """Divide the outermost loop that carries no dependence, in each nest with enough work, or tiles on a diagonal.

    Nests that hand much to one another from other threads may be faster on a single one.
    """
    if asked() and _several(schedule, target) and not decide(THREADS, True, (True, False)):
        return schedule
    for number in range(len(top(schedule.tree))):
        nest = top(schedule.tree)[number]
        divided_already = any(x.kind == "parallel" for x in loops(nest))
        if isinstance(nest, Band) and not divided_already and worthwhile(schedule.program, nest, target):
            after = among_threads(schedule, nest)
            after = _inside(schedule, nest, target) if after is schedule else after
            schedule = _in_wavefronts(schedule, nest, target) if after is schedule else after
    return schedule


def _several(schedule: Schedule, target: Target) -> bool:
    """Whether more than one nest would be divided; a single one has a decision of its own."""
    nests = [nest for nest in top(schedule.tree) if isinstance(nest, Band)]
    return sum(worthwhile(schedule.program, nest, target) for nest in nests) > 1


def _inside(schedule: Schedule, nest: Band, target: Target) -> Schedule:
    """A nest whose loops all carry dependences: the nests that stand side by side in it are divided."""
    parts = nest.child.children if isinstance(nest.child, Sequence) else ()
    for part in parts:
        if isinstance(part, Band) and worthwhile(schedule.program, part, target, ENTERED):
            after = among_threads(schedule, part)
            schedule = _inside(schedule, part, target) if after is schedule else after
    return schedule


def worthwhile(program: Program, nest: Tree, target: Target, regions: int = SMALL) -> bool:
    """Whether the nest surely or possibly has work for several threads: so many times what waking them takes.

    Of sums of products in lanes half a vector takes a turn at most: it counts where threads are woken again and again.
    """
    total = 0
    for s in statements(nest):
        walked = {d for loop in path(nest, s) for d in index_names(loop.row(s))}
        shape = structure(program, s)
        trips = [trip for d, trip in shape.trips if d in walked]
        if None in trips:
            return True
        sums = contribution(shape.statement) is not None and multiplies(shape.statement)
        in_lanes = sums and path(nest, s)[-1].kind == "vector"
        share = target.lanes(32) // 2 if regions >= ENTERED and in_lanes else 1
        total += prod(trip or 0 for trip in trips) // max(1, share)
    return total >= regions * target.costs.turns_a_region


def _in_wavefronts(schedule: Schedule, nest: Band, target: Target) -> Schedule:
    from workbench.schedules.recipes.loops.wavefront import in_wavefronts  # for nests no loop of which is free

    return in_wavefronts(schedule, nest, target)


def among_threads(schedule: Schedule, nest: Band) -> Schedule:
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
    order = [*enough, *rest]
    if asked() and order:
        wanted = decide(f"{order[0].statement}_threads", str(order[0]), (*map(str, order), ""))
        order = [wanted, *(name for name in order if name != wanted)] if wanted else []
    for name in order:
        if poly.can_parallelize(program, schedule.tree, name):
            site = find_loop(program, schedule.tree, name)
            first = qualified(program, sites(nest)[0])
            steps: list[Transform] = [parallelize(name)]
            if site.position and site.path == find_loop(program, schedule.tree, first).path:
                after = attempt(schedule, _hoisted(program, site), *steps)
                if after is not schedule:
                    return after
            return attempt(schedule, *steps)
    return schedule


def _hoisted(program: Program, site: Site) -> Transform:
    """The order that makes a loop the outermost of its band."""
    statement = program.statement(statements(site.band)[-1]).name
    names = loops_of(statement, (x.name for x in site.band.loops[: site.position + 1]))
    return reorder(names[-1], *names[:-1])


def iterations(schedule: Schedule, row: Expr, statement: str) -> int:
    """Roughly how many values a time component takes."""
    match row:
        case Index(name, _):
            return poly.extent(schedule.program, statement, name) or 1 << 20
        case Binary("/", inner, Const(size, _), _):
            return -(-iterations(schedule, inner, statement) // int(size))
        case Binary("%", _, Const(size, _), _):
            return int(size)
    return 1 << 20
