"""Recipes as rows of a table: to which schedules one applies, where its function stands, and why it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from workbench.records import record
from workbench.schedules.recipes.decisions import asked
from workbench.schedules.recipes.rows_taken import remembered
from workbench.schedules.scheduled_program import Schedule


def _always(schedule: Schedule) -> bool:
    """Applies to every schedule; the recipe itself looks for what it can change."""
    return True


def tuned(schedule: Schedule) -> bool:
    """Whether a tuner listens, to whom more is offered than a recipe takes by itself."""
    return asked()


@record
class Row:
    """One recipe of a table.

    `where` is "module:function" below this folder, loaded when the row first applies.  The function gets the schedule
    and what `takes` names, and gives a schedule back, the same one where it has nothing to do.
    """

    name: str
    where: str
    reason: str
    applies: Callable[[Schedule], bool] = _always
    takes: tuple[str, ...] = ("target",)

    @property
    def function(self) -> Callable[..., Any]:
        """The recipe itself."""
        module, _, name = self.where.partition(":")
        return getattr(import_module(f"workbench.schedules.recipes.{module}"), name)

    def __call__(self, schedule: Schedule, **given: Any) -> Any:
        """What the recipe makes of a schedule."""
        return remembered(self.where, self.function, schedule, tuple(given[name] for name in self.takes))


Taken = tuple[Row, Schedule]


def taken(rows: Iterable[Row], schedule: Schedule, **given: Any) -> Iterator[Taken]:
    """Every row in turn that changes the schedule, with what it makes of it."""
    for row in rows:
        if row.applies(schedule) and (after := row(schedule, **given)) is not schedule:
            yield row, (schedule := after)


def last(found: list[Taken], schedule: Schedule) -> Schedule:
    """The schedule after the last row; the one before where none changed it."""
    return found[-1][1] if found else schedule
