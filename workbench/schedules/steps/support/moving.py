"""Statements moved into a loop of another nest: rows for the loops around, and of their own loops what still runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.lang.expr import Expr
from workbench.poly.derive.compute_at_order import first_needs, last_supplies
from workbench.poly.derive.recomputation import stands_still
from workbench.poly.programs.affine import affine_text
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Mark, Sequence, Tree, path, restrict, statements
from workbench.poly.sets import isl
from workbench.poly.sets.names import unique
from workbench.poly.time.timemap import instance, prefix
from workbench.schedules.edit import Site, normal, rest_of, sites
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.insertion import first_user, inserted_within
from workbench.schedules.steps.support.producers import Target, unthreaded
from workbench.schedules.transform import Transform


def moved_before(schedule: Schedule, step: Transform, place: Target) -> Schedule:
    """The producers at the first iteration that needs them."""
    rows = first_needs(schedule.program, schedule.tree, place.group, place.users, place.depth)
    if not rows:
        return schedule.with_tree(schedule.tree, step)
    return schedule.with_tree(moved(schedule.program, schedule.tree, rows, place.users, place.depth), step)


def moved_after(
    schedule: Schedule, step: Transform, ids: tuple[str, ...], producers: tuple[str, ...], depth: int
) -> Schedule:
    """The consumers (ids) at the last iteration that produces what they read."""
    rows = last_supplies(schedule.program, schedule.tree, ids, producers, depth)
    return schedule.with_tree(moved(schedule.program, schedule.tree, rows, producers, depth, after=True), step)


def moved(
    program: Program,
    tree: Tree,
    rows: Mapping[str, tuple[Expr, ...]],
    beside: tuple[str, ...],
    depth: int,
    *,
    after: bool = False,
) -> Tree:
    """The tree with some statements at `rows` of the `depth` loops around others, before them (or after)."""
    own, rest = restrict(tree, set(rows)), restrict(tree, set(statements(tree)) - set(rows))
    assert own is not None
    assert rest is not None
    rest = normal(rest)
    site = _site_of(rest, beside[0], depth)
    outer = {x.name for x in path(rest, beside[0])[:depth]}
    inner = normal(_still(program, unthreaded(own), {s: _instances(program, s, r) for s, r in rows.items()}, outer))
    position = last_user(site, set(beside)) + 1 if after else first_user(site, set(beside))
    return inserted_within(rest, site, position, inner, rows)


def _site_of(tree: Tree, statement: str, depth: int) -> Site:
    """The loop that is the `depth`th around a statement."""
    around = [s for s in sites(tree) if statement in statements(s.band)]
    return around[depth - 1]


def last_user(site: Site, users: set[str]) -> int:
    """The position of the last part inside the site's loop that holds one of these statements."""
    inside = rest_of(site)
    parts = inside.children if isinstance(inside, Sequence) else (inside,)
    return max(i for i, part in enumerate(parts) if users & set(statements(part)))


@isl.guarded
def _instances(program: Program, identifier: str, rows: tuple[Expr, ...]) -> isl.Map:
    """Iterations to the instances that are executed in them."""
    s = program.statement(identifier)
    times = isl.parse_map(f"{prefix(program)}{{ {instance(s)} -> [{', '.join(map(affine_text, rows))}] }}")
    domain = isl.parse_set(s.domain).intersect_params(isl.parse_set(program.context))
    return times.intersect_domain(domain).reverse()


def _still(program: Program, tree: Tree, wanted: Mapping[str, isl.Map], taken: set[str]) -> Tree:
    """The tree without the loops that have one value in each iteration; names that are taken are changed."""
    match tree:
        case Leaf():
            return tree
        case Mark(_, child):
            return replace(tree, child=_still(program, child, wanted, taken))
        case Sequence(children):
            return Sequence(tuple(_still(program, child, wanted, taken) for child in children))
        case Band(loops, child):
            below = {s: wanted[s] for s in statements(tree)}
            kept = []
            for loop in loops:
                if not stands_still(program, loop, below):
                    kept.append(replace(loop, name=unique(loop.name, taken)))
                    taken = {*taken, kept[-1].name}
            return Band(tuple(kept), _still(program, child, wanted, taken))
