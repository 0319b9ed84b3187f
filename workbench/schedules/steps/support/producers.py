"""What the instance steps ask of a schedule: who defines an array, who uses it, may it be computed elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.lang.expr import reads
from workbench.poly.derive.recomputation import Group, group_of, readers, writers
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, at_once, path, statements
from workbench.records import record
from workbench.schedules.edit import Site, find_loop, rest_of, sites
from workbench.schedules.scheduled_program import Schedule


def defined_array(program: Program, name: object) -> str:
    """The array that a producer's name means: the array's own, or that of a statement that defines it."""
    made = {t for s in program.statements for t, _ in s.targets}
    if isinstance(name, str) and name in made:
        return name
    for s in program.statements:
        if name in (s.name, s.id):
            return s.targets[0][0]
    if isinstance(name, str) and name in program.arrays:
        raise ScheduleError(f"{name} is an input: nothing computes it. To keep part of it near, stage({name!r}, ...)")
    if not isinstance(name, str):
        raise ScheduleError(f"a producer is named by a text such as 'T', not {shown(name)}")
    raise ScheduleError(unknown_name("producer", name, sorted(made)))


def defining(program: Program, name: object) -> tuple[ProgramStatement, ...]:
    """The statement of that name, or all that define the array of that name."""
    if isinstance(name, str) and name not in program.arrays:
        own = [s for s in program.statements if name in (s.name, s.id)]
        if own:
            return (own[0],)
    return tuple(writers(program, defined_array(program, name)))


@record
class Target:
    """Where a producer is to go: `users` (ids) below the loop read what its group computes."""

    program: Program
    array: str
    group: Group
    site: Site
    users: tuple[str, ...]
    elsewhere: tuple[ProgramStatement, ...]

    @property
    def depth(self) -> int:
        """Number of loops around and including the site's."""
        first = self.users[0]
        return len(self._around(first))

    def _around(self, user: str) -> tuple[Loop, ...]:
        inside = rest_of(self.site)
        whole = path(self.tree, user)
        return whole[: len(whole) - len(path(inside, user))]

    tree: Tree


def target(schedule: Schedule, step: object, producer: object, at: str) -> Target:
    """The place of a producer in a loop; ScheduleError if nothing there reads it."""
    program = schedule.program
    site = find_loop(program, schedule.tree, at)
    array = defined_array(program, producer)
    group = group_of(program, array)
    inside = set(statements(rest_of(site)))
    using = {r.id: r for a in group.arrays for r in readers(program, a) if r.id not in group.ids}
    users = tuple(s for s in statements(rest_of(site)) if s in using)
    if not users:
        where = ", ".join(r.name for r in using.values()) or "no statement"
        raise ScheduleError(f"{step}: nothing in loop {at!r} reads {array}; it is read by {where}")
    outside = tuple(r for r in using.values() if r.id not in inside)
    return Target(program, array, group, site, users, outside, schedule.tree)


def require_known_cells(step: object, place: Target) -> None:
    """Refuse users, or definitions, whose cells the kernel itself computes: they are checked against the array."""
    program = place.program
    for s in (*(program.statement(s) for s in place.users), *place.group.statements):
        for a in s.accesses:
            if a.array in place.group.arrays:
                found = next((r for r in reads(*a.subscripts) if program.arrays[r.tensor].role != "input"), None)
                if found is not None:
                    verb = "reads" if a.kind == "read" else "writes"
                    raise ScheduleError(f"{step}: {s.name} {verb} {a.array} at cells that {found.tensor} decides")


@record
class Offer:
    """An array and a loop that it may be computed in; `keep` if somebody else needs the array as well."""

    array: str
    site: Site
    keep: bool


def offers(schedule: Schedule) -> Iterator[Offer]:
    """Every array with the loops around readers of it that are not around what computes it."""
    program = schedule.program
    for name in program.arrays:
        own = {s.id for s in writers(program, name)}
        using = {r.id for r in readers(program, name)} - own
        if own and using:
            output = any(a in program.outputs for a in group_of(program, name).arrays)
            for site in sites(schedule.tree):
                inside = set(statements(rest_of(site)))
                if using & inside and not own & inside:
                    yield Offer(name, site, output or not using <= inside)


def unthreaded(tree: Tree) -> Tree:
    """The tree with no loop on threads of its own."""
    match tree:
        case Band(loops, child):
            own = tuple(replace(x, kind="serial") if at_once(x.kind) else x for x in loops)
            return Band(own, unthreaded(child))
        case Mark(note, child):
            return Mark(note, unthreaded(child))
        case Sequence(children):
            return Sequence(tuple(map(unthreaded, children)))
        case Leaf():
            return tree
