"""`nontemporal`: what is written goes to memory past the caches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Leaf, Mark, marked, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import leaf_path, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Nontemporal(Transform):
    """Write the cells of a statement past the caches, wherever a whole vector of them is written at once.

    before → after:  Y(i) = X(i)   →   nontemporal: Y(i) = X(i)

    A cache line that is written in the ordinary way is read from memory first.  Past the caches it is not, and throws
    out nothing that stands there; whoever reads it next reads memory.  So it pays for large arrays that are written
    once.  Always legal: it changes no value.  A statement that reads its cells again (an update), and one that writes
    a buffer or a temporary, wants the cache: ScheduleError.  The `nontemporal` clause of OpenMP's `simd`.
    """

    name: ClassVar[str] = "nontemporal"
    statement: str

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.statement)
        if why := _unfit(schedule.program, schedule.program.statement(identifier)):
            raise ScheduleError(f"{self}: {why}")
        if identifier in marked(schedule.tree, NontemporalStores):
            raise ScheduleError(f"{self}: its cells are written past the caches already")
        place = leaf_path(schedule.tree, identifier)
        return schedule.with_tree(put(schedule.tree, place, Mark(NontemporalStores(), Leaf(identifier))), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Nontemporal]:
        done = marked(schedule.tree, NontemporalStores)
        for identifier in statements(schedule.tree):
            own = schedule.program.statement(identifier)
            if identifier not in done and own.dims and not _unfit(schedule.program, own):
                yield cls(own.name)

    def __str__(self) -> str:
        return f"nontemporal({self.statement!r})"


def _unfit(program: Program, own: ProgramStatement) -> str:
    """Why what a statement writes had better stay in the cache; empty if there is no reason."""
    if own.kind == "update":
        return f"{own.name} reads what it wrote before, which the cache should keep"
    kept = _kept(program, own)
    if kept:
        known = [s.name for s in program.statements if s.kind != "update" and not _kept(program, s)]
        return f"{kept[0]} is no output; statements that write outputs once: {', '.join(known) or 'none'}"
    return ""


def _kept(program: Program, own: ProgramStatement) -> list[str]:
    """What a statement writes for others to read."""
    return [array for array, _ in own.targets if program.arrays[array].role != "output"]


@takes_choices
def nontemporal(statement: str, /) -> Nontemporal:
    """Write the cells of `statement` past the caches."""
    return Nontemporal(statement)
