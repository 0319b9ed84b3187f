"""Threads: the outermost loop that carries no dependence is divided among them."""

from __future__ import annotations

from workbench import poly
from workbench.lang.expr import Binary, Const, Expr, Index
from workbench.poly.program import Program
from workbench.poly.tree import Band, Tree, loops, statements
from workbench.schedules.edit import Site, find_loop, qualified, sites
from workbench.schedules.recipes.attempt import attempt, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import interchange, parallelize
from workbench.schedules.structure import structure
from workbench.schedules.transform import Transform

SMALL = 1 << 14
"""Fewer instances than this are not worth a second thread."""


def parallelized(schedule: Schedule) -> Schedule:
    """Divide the outermost loop that carries no dependence, in each nest with enough work."""
    for number in range(len(top(schedule.tree))):
        nest = top(schedule.tree)[number]
        divided_already = any(x.kind == "parallel" for x in loops(nest))
        if isinstance(nest, Band) and not divided_already and worthwhile(schedule.program, nest):
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


def hoisted(program: Program, site: Site) -> Transform:
    """The interchange that makes a loop the outermost of its band."""
    statement = program.statement(statements(site.band)[-1]).name
    names = [f"{statement}/{x.name}" for x in site.band.loops[: site.position + 1]]
    return interchange(names[-1], *names[:-1])


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
