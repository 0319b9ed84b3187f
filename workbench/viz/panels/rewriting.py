"""The operator's text in the panel: what is wrong with it at which token, and the schedule after it was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import LoweringError, OperatorError, ScheduleError, WorkbenchError
from workbench.lang import operator, operators
from workbench.lang.operator import Operator
from workbench.schedules import Schedule
from workbench.schedules import schedule as scheduled
from workbench.schedules.transform import Transform
from workbench.viz.notebook.cell_checks import problems
from workbench.viz.notebook.operator_magic import candidates

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel

LONGEST = 20_000


def text_payload(schedule: Schedule) -> dict[str, Any]:
    """The text the schedule is of, and whether it can be changed here (C text cannot)."""
    definition = schedule.program.original.definition
    language = "" if definition is None else definition.language
    return {"text": schedule.program.original.operator, "editable": definition is not None and language != "c"}


def checked_text(text: str) -> dict[str, Any]:
    """Problems as `{line, column, length, message, fix}`, lines and columns counted from 1, and names to complete."""
    known = {**dict(candidates(text, "", {})), **dict(candidates("", "", {}))}
    names = [{"label": name, "kind": kind} for name, kind in sorted(known.items())]
    try:
        _operator_of(text)
    except OperatorError as error:
        return {"problems": problems(str(error)), "names": names}
    return {"problems": [], "names": names}


def _operator_of(text: str) -> Operator:
    if len(text) > LONGEST:
        raise OperatorError(f"the text has {len(text)} characters; at most {LONGEST} are read here")
    operators(text)
    return operator(text)


def rewritten_text(schedule: Schedule, text: str) -> tuple[Schedule, str]:
    """The schedule of another text: sizes that it still has and steps that are still legal are kept.

    Also what was left out, in words.  OperatorError where the text is wrong.
    """
    definition = _operator_of(text)
    known = {*definition.size_names, *definition.scalars}
    sizes = {name: value for name, value in schedule.original.sizes.items() if name in known}
    try:
        after = scheduled(definition, sizes)
    except LoweringError:
        after = scheduled(definition)
    left = []
    for step in schedule.trace:
        after, taken = _retaken(after, step)
        if not taken:
            left.append(str(step))
    return after, f"no longer possible: {', '.join(left)}" if left else ""


def rewrite(panel: Panel, text: str) -> dict[str, Any]:
    """Another operator text in a panel: sizes and steps that still fit are kept, the rest is said."""
    after, left = rewritten_text(panel.schedule, text)
    panel.schedule = after
    return {"left": left}


def _retaken(after: Schedule, step: Transform) -> tuple[Schedule, bool]:
    try:
        return after | step, True
    except (ScheduleError, WorkbenchError):
        return after, False
