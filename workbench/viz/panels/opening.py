"""`panel`: the linked views of whatever has a schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from workbench.errors import WorkbenchError, shown
from workbench.lang.operator import Operator
from workbench.poly.programs.program import Program
from workbench.schedules import Schedule
from workbench.schedules import schedule as scheduled
from workbench.target import Target
from workbench.viz.panels.widget import MORE, PANES, Panel

if TYPE_CHECKING:
    from workbench.tune.study import Study


def panel(
    value: Operator | Program | Schedule | Study, /, panes: tuple[str, ...] | None = None, *,
    sizes: Mapping[str, int] | None = None, target: Target | None = None, baselines: Mapping[str, float] | None = None,
) -> Panel:  # fmt: skip
    """The linked views of an operator or a schedule: domain, code, tree, next steps and history.

    `panes` chooses among them and the further ones of `MORE`, `sizes` fixes what the domain is drawn for, and `target`
    is the machine that bytes are counted for.  Shown in a notebook by being the last value of a cell; `panel.schedule`
    is what the clicks made of it.  Of a study the trials are shown as they arrive, those that are clicked in all panes;
    `baselines` are lines among them, name → seconds of a call.
    """
    for name in panes or ():
        if name not in (*PANES, *MORE):
            raise WorkbenchError(f"a panel has no pane {shown(name)}; known: {', '.join((*PANES, *MORE))}")
    if _is_study(value):
        from workbench.viz.panels.watching import Watching

        made = Panel(value.best, panes or ("trials", *PANES), sizes, target)
        made.watching = Watching(made, value, baselines)
        return made
    start = value if isinstance(value, Schedule) else scheduled(cast(Any, value))
    return Panel(start, panes or PANES, sizes, target)


def _is_study(value: object) -> TypeGuard[Study]:
    """Importing its module takes longer than a panel does."""
    return type(value).__module__ == "workbench.tune.study"
