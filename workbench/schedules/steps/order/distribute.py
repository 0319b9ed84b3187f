"""`distribute`: one nest becomes two (fission)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, normal, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, at, band_around, children, find_loop, leaf_path, put, qualified, sites
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Distribute(Transform):
    """Cut a nest before a statement: the innermost one around it and an earlier statement, or from `loop` on inwards.

    before → after:  for i: for j: { A; B }   →   for i: for j: A;  for i: for j: B      distribute("B")
                                              →   for i: { for j: A;  for j: B }         distribute("B", loop="j")

    `loop` may stand any number of loops and sequences further out; what surrounds it stays as it is.  Legal when
    nothing that goes first waits for what comes after.
    """

    name: ClassVar[str] = "distribute"
    before: str
    loop: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.before)
        site = self._site(schedule, identifier) if self.loop else _innermost(schedule.tree, identifier)
        if site is None:
            raise ScheduleError(f"{self}: no loop holds another statement before {self.before!r}")
        inner = Band(site.band.loops[site.position :], site.band.child)
        first, second = _cut(inner, identifier)
        if first is None:
            raise ScheduleError(f"{self}: no statement in loop {site.loop.name} stands before {self.before!r}")
        new = Band(site.band.loops[: site.position], Sequence((first, second)))
        return schedule.with_tree(put(schedule.tree, site.path, new), self)

    def _site(self, schedule: Schedule, identifier: str) -> Site:
        """The loop that is named, which must be around the statement; a plain name means the one that is."""
        around_it = [s for s in sites(schedule.tree) if s.loop.name == self.loop and identifier in dict(s.loop.rows)]
        site = around_it[0] if around_it else find_loop(schedule.program, schedule.tree, self.loop)
        if identifier not in dict(site.loop.rows):
            raise ScheduleError(f"{self}: {qualified(schedule.program, site)} is no loop around {self.before!r}")
        return site

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Distribute]:
        stack: list[tuple[Tree, Tree | None]] = [(schedule.tree, None)]
        while stack:
            tree, outside = stack.pop()
            if isinstance(tree, Sequence) and isinstance(outside, Band):
                for child in tree.children[1:]:
                    name = schedule.program.statement(statements(child)[0]).name
                    yield cls(name)
                    if len(outside.loops) > 1:
                        yield cls(name, outside.loops[-1].name)
            stack += [(child, tree) for child in children(tree)]

    def __str__(self) -> str:
        loop = f", loop={self.loop!r}" if self.loop else ""
        return f"distribute({self.before!r}{loop})"


def _innermost(tree: Tree, identifier: str) -> Site | None:
    """The first loop of the innermost band around the statement and something before it."""
    path = leaf_path(tree, identifier)
    for depth in range(len(path) - 1, 0, -1):
        band = at(tree, path[: depth - 1])
        if isinstance(band, Band) and isinstance(at(tree, path[:depth]), Sequence) and path[depth] > 0:
            return Site(path[: depth - 1], 0, band)
    return None


def _cut(tree: Tree, identifier: str) -> tuple[Tree | None, Tree]:
    """What stands before a statement in a tree, and the statement with what follows, each in loops of its own."""
    match tree:
        case Band(_, child):
            first, second = _cut(child, identifier)
            return (None, tree) if first is None else (band_around(tree, first), band_around(tree, second))
        case Mark(_, child):
            first, second = _cut(child, identifier)
            return (None, tree) if first is None else (replace(tree, child=first), replace(tree, child=second))
        case Sequence(parts):
            place = next(i for i, part in enumerate(parts) if identifier in statements(part))
            first, second = _cut(parts[place], identifier)
            before = (*parts[:place], *(() if first is None else (first,)))
            return normal(Sequence(before)) if before else None, normal(Sequence((second, *parts[place + 1 :])))
    return None, tree


@takes_choices
def distribute(before: str, /, loop: str = "") -> Distribute:
    """Cut the nest around `before` and an earlier statement just before it: the innermost, or from `loop` inwards."""
    return Distribute(before, loop)
