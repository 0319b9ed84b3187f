"""`barrier`: threads wait for one another before a part of the loops."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.marks import BarrierBefore
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, at_once, statements
from workbench.poly.time.concurrency import is_block, waits
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Path, at, children, find_loop, leaf_path, put, rest_of, sites
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Barrier(Transform):
    """Let threads wait for one another before a part of the loops.

    before → after:  threads t: { A; B }               →   threads t: { A; barrier; B }             barrier("B")
                     threads t: for k: { A; B }        →   threads t: for k: { barrier; A; B }      barrier("A")

    What waits are the iterations of the loops around that run at once (parallel ones, and those bound to threads), up
    to the innermost loop bound to blocks: blocks never wait.  Two instances on different threads are in order if some
    barrier comes after the one and before the other; on one thread nothing changes, and where nothing runs at once a
    barrier does nothing.  The part is what `before` stands in among the statements it shares its loops with, or, given
    `inside`, the one directly in that loop.  Always legal, if every thread comes to it: a loop between the threads and
    the barrier whose bounds differ from thread to thread makes it divergent, which is refused with a witness, and lanes
    cannot wait.  On a processor the threads' loop goes around each part between barriers.
    """

    name: ClassVar[str] = "barrier"
    before: str
    inside: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        statement = statement_id(program, self.before)
        if not self.inside:
            place = _part_of(tree, statement)
            return schedule.with_tree(put(tree, place, self._waiting(at(tree, place))), self)
        inside = LoopName(self.inside)
        site = find_loop(program, tree, inside if inside.statement else inside.around(self.before))
        rest = rest_of(site)
        if statement not in statements(rest):
            raise ScheduleError(f"{self}: {self.before} does not stand in loop {self.inside}")
        if isinstance(rest, Sequence):
            parts = (self._waiting(x) if statement in statements(x) else x for x in rest.children)
            rest = Sequence(tuple(parts))
        else:
            rest = self._waiting(rest)
        own = site.band.loops[: site.position + 1]
        return schedule.with_tree(put(tree, site.path, Band(own, rest)), self)

    def _waiting(self, part: Tree) -> Mark:
        if waits(part):
            raise ScheduleError(f"{self}: threads wait there already")
        return Mark(BarrierBefore(), part)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Barrier]:
        program, tree = schedule.program, schedule.tree
        for site in sites(tree):
            if not _waits(tree, site.path, site.position):
                continue
            rest = rest_of(site)
            for part in rest.children if isinstance(rest, Sequence) else (rest,):
                if not waits(part):
                    yield cls(program.statement(statements(part)[0]).name, site.loop.name)

    def __str__(self) -> str:
        return f"barrier({self.before!r}{f', inside={self.inside!r}' if self.inside else ''})"


def _part_of(tree: Tree, statement: str) -> Path:
    """The path to the part of the innermost sequence around a statement in which it stands, or to its leaf."""
    leaf = leaf_path(tree, statement)
    parents = [depth for depth in range(len(leaf)) if len(children(at(tree, leaf[:depth]))) > 1]
    return leaf[: parents[-1] + 1] if parents else leaf


def _waits(tree: Tree, place: Path, position: int) -> bool:
    """Whether threads may wait inside a loop: one that runs at once is around, or the loop itself, and no block inside
    that one.
    """
    around = []
    for depth in range(len(place) + 1):
        node = at(tree, place[:depth])
        if isinstance(node, Band):
            around += node.loops[: position + 1] if depth == len(place) else node.loops
    kinds = [x.kind for x in around]
    last = max((i for i, kind in enumerate(kinds) if is_block(kind)), default=-1)
    return any(map(at_once, kinds[last + 1 :])) and "vector" not in kinds


@takes_choices
def barrier(before: str, /, inside: str = "") -> Barrier:
    """Threads wait for one another before the part of the loops in which the statement `before` stands.

    `inside` names the loop that the part is directly in, by default the innermost around several parts.
    """
    return Barrier(before, inside)
