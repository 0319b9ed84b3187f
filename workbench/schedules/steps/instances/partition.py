"""`partition`: the instances of a statement in two nests (index-set splitting)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from workbench.errors import OperatorError, ScheduleError, shown
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const, Expr, index_names, substitute
from workbench.lang.printing.index_text import condition
from workbench.poly.dependence.questions import statement_id
from workbench.poly.derive.partitioning import chosen_instances
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import path, statements
from workbench.records import record
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, find_loop, sites
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.dividing import apart
from workbench.schedules.transform import Transform


@record
class Partition(Transform):
    """Divide the instances of a statement by a condition over its dims and the sizes.

    before → after:  for n: C(n)   →   for n < 64: C.then(n);  for n >= 64: C.else(n)      partition("C", "n < 64")

    The nests stand side by side in place of the outermost loop that the condition concerns, or of the loop `at`; what
    else stands in that loop stays with the first.  Each keeps the order inside; they come in the order that keeps the
    result, if one does.  Index-set splitting; TVM's loop_partition is the special case of ranges.
    """

    name: ClassVar[str] = "partition"
    statement: str
    condition: str
    at: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        program = schedule.program
        own = program.statement(statement_id(program, self.statement))
        if not isinstance(self.condition, str):
            raise ScheduleError(f"partition: a condition is a text such as 'n < 64', not {shown(self.condition)}")
        try:
            test = condition(self.condition, own.dims, (*program.symbols, *program.sizes))
        except OperatorError as error:
            raise ScheduleError(f"partition, the condition for {own.name}: {error}") from None
        site = self._site(schedule, own.id, test)
        test = substitute(test, {name: Const(value, INT32) for name, value in program.sizes.items()})
        return apart(schedule, self, site, {own.id: chosen_instances(program, own, test)}, ("then", "else"))

    def _site(self, schedule: Schedule, identifier: str, test: Expr) -> Site:
        """The loop that becomes two."""
        if self.at:
            at = LoopName(self.at)
            site = find_loop(schedule.program, schedule.tree, at if at.statement else at.around(self.statement))
            if identifier not in statements(site.band):
                raise ScheduleError(f"{self}: {self.statement} does not stand in loop {self.at}")
            return site
        around = [s for s in sites(schedule.tree) if identifier in dict(s.loop.rows)]
        used = index_names(test)
        concerned = [s for s in around if used & index_names(s.loop.row(identifier))]
        if not concerned:
            raise ScheduleError(f"{self}: the condition concerns none of the loops around {self.statement}")
        return concerned[0]

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Partition]:
        """The first value of each dim apart: peeling."""
        for s in schedule.program.statements:
            for dim in s.dims:
                if path(schedule.tree, s.id):
                    yield cls(s.name, f"{dim} < 1")

    def __str__(self) -> str:
        at = f", at={self.at!r}" if self.at else ""
        return f"partition({self.statement!r}, {self.condition!r}{at})"


@takes_choices
def partition(statement: str, condition: str, /, at: str = "") -> Partition:
    """Divide the instances of `statement` by `condition`, a text over its dims and the sizes, into `.then` and `.else`.

    The two nests replace the outermost loop that the condition concerns, or the loop `at` around the statement.
    """
    return Partition(statement, condition, at)

