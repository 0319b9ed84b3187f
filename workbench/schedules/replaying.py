"""Taking a trace again: whole, without one of its steps, or from a record; what no longer applies is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import IllegalSchedule, ScheduleError, UnknownLoop, shown
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import loops, path
from workbench.schedules.transform import Recipe, Transform, as_step, differ, from_json
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.schedules.scheduled_program import Schedule

Taking = tuple[Transform, Callable[["Schedule"], "Schedule"]]


def replay(schedule: Schedule, trace: Any, /) -> Schedule:
    """The schedule after a trace: step values, or what `to_json` wrote (its text, or the list of its steps).

    Judged at its end, as `together` is.  A step that does not apply raises ScheduleError (UnknownLoop for a loop
    that is not there) with its number; a trace that changes the result raises IllegalSchedule with the step since
    which it does.  Recorded steps are taken as they are: their prerequisites are recorded too.
    """
    return taken(schedule, [_taking(step) for step in recorded(trace)])


def recorded(trace: Any) -> Sequence[Any]:
    """The steps of a trace in any of its forms."""
    if isinstance(trace, str):
        try:
            trace = json.loads(trace)
        except (ValueError, RecursionError) as error:
            raise ScheduleError(f"replay: the text is not JSON: {error}") from error
    if isinstance(trace, Mapping):
        trace = trace.get("steps")
    if isinstance(trace, Transform):
        trace = trace.steps()
    if not isinstance(trace, list | tuple):
        raise ScheduleError(f"replay takes a list of steps, or what to_json() wrote, not {shown(trace)}")
    return trace


def _taking(step: Any) -> Taking:
    made = from_json(dict(step)) if isinstance(step, Mapping) else as_step(step)
    return made, _recorded(made) if isinstance(step, Mapping) and not isinstance(made, Recipe) else made.on


def _recorded(step: Transform) -> Callable[[Schedule], Schedule]:
    """A recorded step as it is: old records have steps that changed nothing, which are left out."""

    def take(schedule: Schedule) -> Schedule:
        after = step.apply(schedule)
        return after if differ(schedule, after) else schedule

    return take


def taken(schedule: Schedule, steps: list[Taking], *, judged: bool = True) -> Schedule:
    """The schedule after the steps; where one does not apply, or the end is illegal, the error says which."""
    after = schedule
    for number, (step, take) in enumerate(steps, 1):
        try:
            after = take(after)
        except ScheduleError as error:
            raise _located(error, f"step {number} of {len(steps)}, {step}, does not apply", after) from error
    if judged and not after.verdict and schedule.verdict:
        raise _culprit(schedule, steps)
    return after


def _located(error: ScheduleError, where: str, before: Schedule) -> ScheduleError:
    if isinstance(error, UnknownLoop):
        error = with_history(error, before)
        return UnknownLoop(f"{where}: {error}", error.name, error.known)
    if isinstance(error, IllegalSchedule):
        return IllegalSchedule(f"{where}: {error}", error.verdict)
    return ScheduleError(f"{where}: {error}")


def _culprit(schedule: Schedule, steps: list[Taking]) -> IllegalSchedule:
    """The error that names the step since which the order is wrong."""
    last: tuple[int, Transform, Schedule] | None = None
    after = schedule
    for number, (step, take) in enumerate(steps, 1):
        after = take(after)
        if after.verdict:
            last = None
        elif last is None:
            last = number, step, after
    assert last is not None
    number, step, first = last
    return IllegalSchedule(
        f"step {number} of {len(steps)}, {step}, is not legal here: {first.verdict.explain()}", first.verdict
    )


def replay_record(start: Schedule, steps: Sequence[Any], *, previewed: bool) -> Schedule:
    """The schedule of a record; one that was a preview when it was written is one again."""
    return taken(start, [_taking(step) for step in steps], judged=not previewed)


def without(schedule: Schedule, which: Any) -> Schedule:
    """The schedule as if one step of its trace, by place or by value, had not been taken; the rest is replayed."""
    place = _place(schedule, which)
    rest = [(step, step.apply) for step in (*schedule.trace[:place], *schedule.trace[place + 1 :])]
    return taken(schedule.start, rest, judged=bool(schedule.verdict))


def _place(schedule: Schedule, which: Any) -> int:
    trace = schedule.trace
    listed = ", ".join(f"{i} {step}" for i, step in enumerate(trace)) or "(no step)"
    if isinstance(which, int) and not isinstance(which, bool):
        if not -len(trace) <= which < len(trace):
            raise ScheduleError(f"without: there is no step {which}; the trace is {listed}")
        return which % len(trace)
    places = [i for i, step in enumerate(trace) if step == as_step(which)]
    if len(places) != 1:
        found = "is not in the trace" if not places else f"is in the trace {len(places)} times; say which place"
        raise ScheduleError(f"without: {which} {found}; the trace is {listed}")
    return places[0]


def undo(schedule: Schedule, count: int = 1) -> Schedule:
    """The schedule before its last steps; the naive one has nothing to undo."""
    if not isinstance(count, int) or not 0 <= count <= len(schedule.trace):
        raise ScheduleError(f"undo({shown(count)}): the trace has {number_of(len(schedule.trace), 'step')}")
    kept = schedule.trace[: len(schedule.trace) - count]
    return taken(schedule.start, [(step, step.apply) for step in kept], judged=False)


def with_history(error: UnknownLoop, schedule: Schedule) -> UnknownLoop:
    """The error, and which step of the trace the loop went into, if it was there once."""
    wanted = LoopName(str(error.name))
    seen = error.consumed_by is not None or (wanted in error.known and not wanted.statement)
    found = None if seen else _last_seen(schedule, wanted)
    if found is None:
        return error
    number, step, made = found
    became = f"made {', '.join(made)} of it" if made else "took it away"
    message = f"unknown loop {shown(error.name)}: step {number} of the trace, {step}, {became}"
    return UnknownLoop(f"{message}; known: {', '.join(error.known)}", error.name, error.known, step)


def _last_seen(schedule: Schedule, wanted: LoopName) -> tuple[int, Transform, list[str]] | None:
    """The step after which the loop was no longer there, and the loops that are new since."""
    found = None
    after = schedule.start
    names, name = _names(after, wanted.statement), wanted.loop
    for number, step in enumerate(schedule.trace, 1):
        after = step.apply(after)
        now = _names(after, wanted.statement)
        if name in names and name not in now:
            new = [n for n in now if n not in names]
            halves = {half.loop for whole, half in step.halves() if whole.loop == name}
            found = number, step, [n for n in new if n in halves] or new
        names = now
    return found


def _names(schedule: Schedule, statement: str) -> list[str]:
    """The loops, or those around one statement, in order."""
    around = loops(schedule.tree)
    if statement:
        known = [s.id for s in schedule.program.statements if statement in (s.id, s.name)]
        around = path(schedule.tree, known[0]) if known else ()
    return list(dict.fromkeys(loop.name for loop in around))
