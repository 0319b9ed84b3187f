"""`reverse_compute_at`: a consumer is computed inside a loop of the nest that produces what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.derive.recomputation import writers
from workbench.poly.programs.tree import path, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import find_loop, rest_of, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.moving import moved_after
from workbench.schedules.steps.support.producers import defining
from workbench.schedules.transform import Transform


@record
class ReverseComputeAt(Transform):
    """Compute each instance of a consumer in the last iteration of a loop that produces what it reads.

    before → after:  for i: T(i) = …;  for o: C(o) = T(o) …   →   for i: { T(i) = …;  C(i) = T(i) … }

    An order step: nothing is computed twice.  An initialisation comes along with the first update of its cell.
    """

    name: ClassVar[str] = "reverse_compute_at"
    consumer: str
    at: str

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        own = defining(program, self.consumer)
        ids = tuple(s.id for s in own)
        site = find_loop(program, tree, self.at)
        read = {a.array for s in own for a in s.reads if not a.accumulates}
        inside = [s for s in statements(rest_of(site)) if s not in ids]
        making = tuple(s for s in inside if any(a.array in read for a in program.statement(s).writes))
        if not making:
            made = [w.name for array in sorted(read) for w in writers(program, array) if w.id not in ids]
            known = f"it reads what {', '.join(made)} computes" if made else "it reads inputs only"
            raise ScheduleError(f"{self}: nothing in loop {self.at!r} produces what {self.consumer} reads; {known}")
        depth = len(path(tree, making[0])) - len(path(rest_of(site), making[0]))
        return moved_after(schedule, self, ids, making, depth)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[ReverseComputeAt]:
        program = schedule.program
        for name in dict.fromkeys(t for s in program.statements for t, _ in s.targets):
            own = writers(program, name)
            read = {a.array for s in own for a in s.reads if not a.accumulates} - {name}
            for site in sites(schedule.tree):
                below = set(statements(rest_of(site)))
                if not below & {s.id for s in own} and any(below & {w.id for w in writers(program, a)} for a in read):
                    yield cls(name, spelt(program, schedule.tree, site))

    def __str__(self) -> str:
        return f"reverse_compute_at({self.consumer!r}, {self.at!r})"


@takes_choices
def reverse_compute_at(consumer: str, loop: str, /) -> ReverseComputeAt:
    """Compute `consumer` (an array or one statement) in `loop`, each instance once what it reads is complete."""
    return ReverseComputeAt(consumer, loop)
