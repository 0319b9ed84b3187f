"""Two nests in place of one: each holds some of the statements, or some of their instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.errors import ScheduleError
from workbench.poly.derive.deriving import derive
from workbench.poly.derive.partitioning import divided
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path, restrict, statements
from workbench.poly.sets import isl
from workbench.schedules.edit import Path, Site, normal, rest_of
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.judged_against_now import with_program
from workbench.schedules.transform import Transform

Names = Mapping[str, tuple[str, ...]]
Parts = Mapping[str, tuple[ProgramStatement | None, ProgramStatement | None]]


def apart(
    schedule: Schedule,
    step: Transform,
    site: Site,
    inside: dict[str, isl.Set],
    suffixes: tuple[str, str],
    *,
    others: int | None = None,
    standard: Program | None = None,
) -> Schedule:
    """The site's loop, and all it holds, twice: for the instances in the sets, and for the others.

    The two stand one after the other in the order that keeps the result, if one does.  Statements that are not divided
    stay with the first; with `others` the part in the set is the first, and they stay with that part (0 or 1).
    `standard` is the program that says what is right, where the schedule's order has not been judged.
    """
    parts = divided(schedule.program, inside, suffixes)
    whole = any(all(part is None for part in side) for side in zip(*parts.values(), strict=True))
    if whole and others is None:
        side = suffixes[0] if all(b is None for _, b in parts.values()) else suffixes[1]
        names = ", ".join(schedule.program.statement(s).name for s in inside)
        raise ScheduleError(f"{step}: all instances of {names} are on one side ({side}); nothing to divide")
    found: list[Schedule] = []
    for order in ((0, 1), (1, 0)) if others is None else ((0, 1),):
        after = _placed(schedule, step, site, parts, order, others or 0, standard)
        if not after.differences:
            return after
        found.append(after)
    return found[0]


def _placed(
    schedule: Schedule,
    step: Transform,
    site: Site,
    parts: Parts,
    order: tuple[int, int],
    others: int,
    standard: Program | None,
) -> Schedule:
    """The parts one after the other; what is not divided stands with the first or second in order."""
    program = schedule.program
    nest = Band((site.loop, *site.band.loops[site.position + 1 :]), site.band.child)
    rest = set(statements(nest)) - set(parts)
    found = []
    for at, which in enumerate(order):
        names = {s: (own.id,) for s, both in parts.items() if (own := both[which]) is not None}
        if at == others:
            names |= {s: (s,) for s in rest}
        kept = restrict(nest, set(names))
        if kept is not None:
            found.append(renamed(kept, names))
    every = {s: tuple(p.id for p in both if p is not None) for s, both in parts.items()}
    outer = site.band.loops[: site.position]
    new = normal(_along(schedule.tree, site.path, (outer, Sequence(tuple(found))), every))
    statements_after = tuple(p for s in program.statements for p in parts.get(s.id, (s,)) if p is not None)
    derived = derive(program, statements_after, program.arrays, new)
    return with_program(schedule, derived, new, step, standard=standard)


def renamed(tree: Tree, names: Names) -> Tree:
    """The tree with other statements in the place of some, one for one."""
    match tree:
        case Leaf(s):
            return Leaf(names.get(s, (s,))[0])
        case Mark(_, child):
            return replace(tree, child=renamed(child, names))
        case Sequence(children):
            return Sequence(tuple(renamed(c, names) for c in children))
        case Band(loops, child):
            return Band(tuple(_rows(x, names) for x in loops), renamed(child, names))


def _rows(loop: Loop, names: Names) -> Loop:
    """The loop with each statement's row for all that stand in its place."""
    rows = ((new, row) for s, row in loop.rows for new in names.get(s, (s,)))
    return replace(loop, rows=tuple(sorted(rows, key=lambda pair: pair[0])))


def replaced(tree: Tree, place: Path, new: Tree, names: Names) -> Tree:
    """The tree with another subtree at a place; the loops around get rows for the statements that came."""
    return normal(_along(tree, place, ((), new), names))


def _along(tree: Tree, place: Path, new: tuple[tuple[Loop, ...], Tree], names: Names) -> Tree:
    """The tree with outer loops of a band kept and the rest replaced; loops on the way get the new rows."""
    if not place:
        outer, inside = new
        return Band(tuple(_rows(x, names) for x in outer), inside) if outer else inside
    match tree:
        case Band(loops, child):
            return Band(tuple(_rows(x, names) for x in loops), _along(child, place[1:], new, names))
        case Mark(_, child):
            return replace(tree, child=_along(child, place[1:], new, names))
        case Sequence(children):
            own = list(children)
            own[place[0]] = _along(own[place[0]], place[1:], new, names)
            return Sequence(tuple(own))
    raise AssertionError("a loop stands in a band")


def depth_of(tree: Tree, site: Site) -> int:
    """The number of loops around and including the site's loop."""
    statement = statements(site.band)[0]
    return len(path(tree, statement)) - len(path(rest_of(site), statement))
