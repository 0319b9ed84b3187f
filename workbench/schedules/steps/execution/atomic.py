"""`atomic`: updates that threads may make at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import ScheduleError
from workbench.lang.operator import Monoid
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.marks import AtomicUpdates
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Leaf, Mark, statements
from workbench.poly.time.concurrency import atomic_statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import leaf_path, put
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform


@record
class Atomic(Transform):
    """Make the updates of a statement atomic: threads may add to one cell at once.

    before → after:  C(idx(i)) += A(i)   →   atomic: C(idx(i)) += A(i)

    The statement's contributions to a cell no longer race, on whatever threads; in which order they arrive is open, as
    in every reduction.  Who reads the cell, and who begins it, must still be in order.  For `+=`, `*=`, `min=`, `max=`
    into numbers of any type; a tuple is too wide for one atomic step (ScheduleError): `split_reduction` gives each
    thread a partial result instead.  Always legal, and slower than a plain update where nothing runs at once.
    """

    name: ClassVar[str] = "atomic"
    statement: str

    def apply(self, schedule: Schedule) -> Schedule:
        identifier = statement_id(schedule.program, self.statement)
        why = _unfit(schedule.program, schedule.program.statement(identifier))
        if why:
            raise ScheduleError(f"{self}: {why}")
        if identifier in atomic_statements(schedule.tree):
            raise ScheduleError(f"{self}: its updates are atomic already")
        place = leaf_path(schedule.tree, identifier)
        return schedule.with_tree(put(schedule.tree, place, Mark(AtomicUpdates(), Leaf(identifier))), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Atomic]:
        done = atomic_statements(schedule.tree)
        for identifier in statements(schedule.tree):
            own = schedule.program.statement(identifier)
            if identifier not in done and not _unfit(schedule.program, own):
                yield cls(own.name)

    def __str__(self) -> str:
        return f"atomic({self.statement!r})"


def _unfit(program: Program, own: ProgramStatement) -> str:
    """Why the updates of a statement cannot be atomic; empty if they can."""
    if own.kind != "update" or own.reduction is None:
        known = [s.name for s in program.statements if not _unfit_update(s)]
        return f"{own.name} combines nothing with its cells; statements that do: {', '.join(known) or 'none'}"
    return _unfit_update(own)


def _unfit_update(own: ProgramStatement) -> str:
    if own.kind != "update":
        return "no update"
    if isinstance(own.reduction, Monoid) or len(own.targets) > 1:
        return (
            f"{own.name} updates {len(own.targets)} cells as one tuple, which no atomic operation does; "
            "give each thread a partial result: split_reduction"
        )
    return ""


@takes_choices
def atomic(statement: str, /) -> Atomic:
    """Make the updates of `statement` (`+=`, `*=`, `min=`, `max=`) atomic."""
    return Atomic(statement)
