"""The history of a panel: schedules in a tree, so that what was undone is not lost when another way is taken."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import ScheduleError
from workbench.records import record
from workbench.schedules import Schedule
from workbench.viz.messages.drawn import Past
from workbench.viz.panels.choosing.remarks import of_trace


@record
class Moment:
    """A schedule and the place of the one it came from (None for the first); `latest` is where redo leads."""

    schedule: Schedule
    parent: int | None = None
    latest: int | None = None


@record
class History:
    """Every schedule that was shown, and which one is shown now.  Nothing is ever removed.

    `str(history)` is the Python script that builds the current schedule.
    """

    moments: tuple[Moment, ...]
    place: int = 0

    @property
    def schedule(self) -> Schedule:
        """The schedule that is shown."""
        return self.moments[self.place].schedule

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the current schedule, each as the Python call that makes it."""
        return tuple(step.python() for step in self.schedule.trace)

    @property
    def places(self) -> tuple[int, ...]:
        """The places from the first moment to the current one."""
        found: list[int] = []
        at: int | None = self.place
        while at is not None:
            found.append(at)
            at = self.moments[at].parent
        return tuple(reversed(found))

    @property
    def way(self) -> tuple[tuple[tuple[str, ...], Schedule], ...]:
        """The schedules from the first to the current one, each with its steps as text."""
        found = [self.moments[place].schedule for place in self.places]
        return tuple((tuple(str(step) for step in one.trace), one) for one in found)

    @property
    def can_undo(self) -> bool:
        """Whether something came before."""
        return self.moments[self.place].parent is not None

    @property
    def can_redo(self) -> bool:
        """Whether something was undone here."""
        return self.moments[self.place].latest is not None

    def then(self, schedule: Schedule) -> History:
        """A schedule after the current one; the same one as before is found again, anything else is a new branch."""
        for place, moment in enumerate(self.moments):
            if moment.parent == self.place and moment.schedule == schedule:
                return self.at(place)
        return replace(self, moments=(*self.moments, Moment(schedule, self.place))).at(len(self.moments))

    def at(self, place: int) -> History:
        """Another moment becomes the current one; redo will come this way again."""
        if not 0 <= place < len(self.moments):
            raise ScheduleError(f"the history has no moment {place}; there are 0 to {len(self.moments) - 1}")
        moments, child = list(self.moments), place
        while (parent := moments[child].parent) is not None:
            moments[parent] = replace(moments[parent], latest=child)
            child = parent
        return History(tuple(moments), place)

    def undo(self) -> History:
        """The moment before; ScheduleError at the first."""
        parent = self.moments[self.place].parent
        if parent is None:
            raise ScheduleError("nothing to undo: this is the first schedule of the panel")
        return replace(self, place=parent)

    def redo(self) -> History:
        """The moment that was undone last; ScheduleError where nothing was."""
        latest = self.moments[self.place].latest
        if latest is None:
            raise ScheduleError("nothing to redo: no step was undone here")
        return replace(self, place=latest)

    def __str__(self) -> str:
        return self.schedule.to_python()


def history_payload(history: History) -> Past:
    """What the front end shows of a history; see docs/panel.md."""
    return {
        "script": str(history),
        "steps": list(history.steps),
        "remarks": [told.message() for told in of_trace(history.schedule)],
        "place": history.place,
        "undo": history.can_undo,
        "redo": history.can_redo,
        "moments": [
            {"text": _added(m, history), "parent": m.parent, "depth": len(m.schedule.trace)} for m in history.moments
        ],
    }


def _added(moment: Moment, history: History) -> str:
    """The last step, and how many were taken at once, where they were several."""
    trace = moment.schedule.trace
    if not trace:
        return "naive"
    before = history.moments[moment.parent].schedule.trace if moment.parent is not None else ()
    several = len(trace) - len(before) if moment.parent is not None and trace[: len(before)] == before else 1
    return f"{trace[-1]} and {several - 1} before" if several > 1 else str(trace[-1])
