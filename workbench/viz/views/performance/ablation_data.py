"""What each step of a schedule is worth: the schedule without it, built and measured beside the whole, in turns."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from time import perf_counter

from workbench.errors import BuildError, WorkbenchError
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.transform import Transform

ROUNDS = 5
# Who needs longer than this for one call is measured in two rounds only.
PATIENCE_SECONDS = 0.5

# Times as long with folded arrays: what they share disturbs.
DISTURBED = 1.07

# Places of contenders that are no step's.
WHOLE, FOLDED, UNFOLDED = -1, -2, -3

# Seconds of one call.
Once = Callable[[], float]


@record
class Removal:
    """A schedule without one step of its trace.

    `place` is that of the step in the trace, `also` the steps that could not stay without it.  `ratios` are times
    without the step over times with it, one a round: above 1 the step makes it faster.  `reason` says why there are
    none: the order would be illegal, the code is the same, or no kernel came of it.
    """

    place: int
    step: str
    also: tuple[str, ...] = ()
    seconds: float | None = None
    ratios: tuple[float, ...] = ()
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """The median of the ratios."""
        return statistics.median(self.ratios) if self.ratios else None

    @property
    def spread(self) -> tuple[float, float] | None:
        """The least and the largest ratio."""
        return (min(self.ratios), max(self.ratios)) if self.ratios else None


@record
class Timed:
    """Seconds of one call in each round, of the whole schedule.

    `folded` are those of a call whose arrays are folded onto a few pages, `unfolded` those of one whose arrays are
    the same but for that (empty where they were not measured).
    """

    rounds: tuple[float, ...]
    folded: tuple[float, ...] = ()
    unfolded: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(self.rounds)

    @property
    def without_waiting(self) -> float | None:
        """The part of the time that is left where no access goes far: the median of the rounds' ratios.

        None where folded arrays take longer: then what they share disturbs more than memory does.
        """
        if not self.folded:
            return None
        left = statistics.median(a / b for a, b in zip(self.folded, self.unfolded, strict=False))
        return min(1.0, left) if left < DISTURBED else None


def without_step(schedule: Schedule, place: int) -> tuple[Schedule, tuple[Transform, ...]]:
    """(the schedule without a step, the later steps that no longer apply and are left out too); not judged."""
    after, lost = schedule.start, []
    for i, step in enumerate(schedule.trace):
        if i == place:
            continue
        try:
            after = step.apply(after)
        except WorkbenchError:
            if i < place:
                raise
            lost.append(step)
    return after, tuple(lost)


def ablation(
    schedule: Schedule,
    prepare: Callable[[Schedule], Once],
    *,
    seconds: float,
    steps: bool = True,
    beside: tuple[Once, Once] | None = None,
) -> tuple[Timed, tuple[Removal, ...]]:
    """The time of a schedule, and of the schedule without each of its steps.

    `prepare` builds a schedule and gives a function that calls it once and says how long that took.  Each takes
    `seconds` a round.  With `steps=False` nothing is left out.  `beside` are calls of the whole schedule with folded
    and unfolded arrays.
    """
    contenders = {WHOLE: prepare(schedule)}
    if beside is not None:
        contenders[FOLDED], contenders[UNFOLDED] = beside
    known: list[Removal] = []
    for place in range(len(schedule.trace)) if steps else ():
        found, made = _candidate(schedule, place)
        if made is not None:
            try:
                contenders[place] = prepare(made)
            except BuildError as error:
                found = Removal(place, found.step, found.also, reason=f"not built: {str(error).splitlines()[0]}")
        known.append(found)
    times = _in_turns(contenders, seconds)
    whole = Timed(tuple(times[WHOLE]), tuple(times.get(FOLDED, ())), tuple(times.get(UNFOLDED, ())))
    return whole, tuple(_measured(r, times.get(r.place), times[WHOLE]) for r in known)


def _candidate(schedule: Schedule, place: int) -> tuple[Removal, Schedule | None]:
    """What is known before measuring, and the schedule to measure if there is one."""
    step = schedule.trace[place].python()
    after, lost = without_step(schedule, place)
    also = tuple(s.python() for s in lost)
    if after.key == schedule.key:
        return Removal(place, step, also, reason="the same program without it"), None
    if not after.verdict:
        return Removal(place, step, also, reason=f"{after.verdict.outcome} without it"), None
    return Removal(place, step, also), after


def _measured(removal: Removal, own: Sequence[float] | None, whole: Sequence[float]) -> Removal:
    if own is None:
        return removal
    ratios = tuple(a / b for a, b in zip(own, whole, strict=False))
    return Removal(removal.place, removal.step, removal.also, statistics.median(own), ratios)


def _in_turns(contenders: dict[int, Once], seconds: float) -> dict[int, list[float]]:
    """Seconds of a call in each round; the order is reversed every second round."""
    for once in contenders.values():
        once()  # pages, threads, caches
    times: dict[int, list[float]] = {place: [] for place in contenders}
    for number in range(ROUNDS):
        for place in list(contenders)[:: 1 if number % 2 == 0 else -1]:
            if number < 2 or times[place][0] < PATIENCE_SECONDS:
                times[place].append(_turn(contenders[place], seconds))
    return times


def _turn(once: Once, seconds: float) -> float:
    """The median of the calls of about so many seconds."""
    end = perf_counter() + seconds
    taken = [once()]
    while perf_counter() < end:
        taken.append(once())
    return statistics.median(taken)
