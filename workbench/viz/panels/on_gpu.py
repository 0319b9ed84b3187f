"""A schedule on a GPU by one click: the mapping that is used where nobody chose one, looked at and then taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from workbench.errors import ScheduleError, WorkbenchError, unknown_name
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.viz.messages.stepping import Mapped

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel


def mapped_to_gpu(schedule: Schedule) -> Schedule:
    """The default recipe for GPUs; of a schedule with steps, these first, and then bindings of what has none.

    ScheduleError where every loop nest is bound already.
    """
    from workbench.schedules.recipes.gpu.default import all_bound, gpu_schedule

    target = Target("cuda")
    found = all_bound(schedule, target) if schedule.trace else gpu_schedule(schedule.program, target)
    if found == schedule:
        raise ScheduleError("every kernel of this schedule has bound loops already: there is nothing left to map")
    return found


def alone(schedule: Schedule) -> str:
    """`one thread goes through all of n for count`, where the mapping found nothing better; else empty."""
    from workbench.schedules.recipes.gpu.reasons import one_thread

    return "; ".join(f"one thread goes through all of {' and '.join(x)} for {name}" for name, x in one_thread(schedule))


def on_gpu(panel: Panel, do: Literal["preview", "apply"]) -> Mapped | None:
    """Show what the mapping makes of the schedule, or take it; called beside, as finding it takes seconds."""
    if do not in ("preview", "apply"):
        raise WorkbenchError(unknown_name("action", str(do), ["preview", "apply"]))
    now = panel.schedule
    if panel.mapped is None or panel.mapped[0] is not now:
        panel.mapped = now, mapped_to_gpu(now)
    after = panel.mapped[1]
    if do == "preview":
        own = [str(step) for step in after.trace[len(now.trace) :]]
        preview = panel.previewed(after, "CUDA")
        return {"text": " | ".join(own), "count": len(own), "note": alone(after), "preview": preview}
    with panel.lock:
        if panel.schedule is not now:
            raise WorkbenchError("the schedule is another one by now: map that one")
        panel.schedule = after
    return None
