"""What may come next: the choices of every step, each with its verdict, within a time that a person waits."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from workbench.errors import ScheduleError, WorkbenchError, shown
from workbench.poly.sets import isl
from workbench.records import record
from workbench.schedules.foreign_names import unknown_step
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform

SECONDS = 1.5
LIMIT = 400
# Looked at first, because they change only the order and are judged in milliseconds.
QUICK = (
    "tile", "split", "interchange", "reorder", "parallelize", "vectorize", "unroll", "merge", "distribute",
    "decompose_reduction", "skew", "shift", "reverse", "arrange", "fuse", "unroll_jam", "bind",
)  # fmt: skip


@record
class Offer:
    """A step and the verdict on the schedule after it."""

    step: Transform
    verdict: Verdict

    @property
    def known(self) -> bool:
        """Whether the question was answered, and not stopped by a clock or a budget."""
        return self.verdict.outcome != "unknown"

    @property
    def reason(self) -> str:
        """Why the step is not offered; empty for a legal one."""
        return "" if self.verdict else self.verdict.explain()

    def __str__(self) -> str:
        return str(self.step) if self.verdict else f"{self.step}: {self.reason}"


@record
class NextSteps:
    """Offers, the legal ones first; `complete` is False when the time or the limit ended the list, `left` are the
    kinds of step of which some were not looked at.
    """

    offers: tuple[Offer, ...]
    complete: bool
    left: tuple[str, ...] = ()

    @property
    def legal(self) -> tuple[Transform, ...]:
        """The steps that may be taken."""
        return tuple(offer.step for offer in self.offers if offer.verdict)

    @property
    def refused(self) -> tuple[Offer, ...]:
        """The steps that may not be taken (or are not known to), with the reasons."""
        return tuple(offer for offer in self.offers if not offer.verdict)

    @property
    def unknown(self) -> tuple[Offer, ...]:
        """Those of the refused that nobody knows about: the question took too long."""
        return tuple(offer for offer in self.offers if not offer.known)

    def __iter__(self) -> Iterator[Offer]:
        return iter(self.offers)

    def __len__(self) -> int:
        return len(self.offers)

    def __str__(self) -> str:
        lines = [f"may come next ({len(self.legal)})", *(f"  {step}" for step in self.legal)]
        illegal = [offer for offer in self.refused if offer.known]
        for words, offers in (("may not", illegal), ("not known in the time there was", self.unknown)):
            if offers:
                lines += [f"{words} ({len(offers)})", *(f"  {offer}" for offer in offers)]
        if not self.complete:
            lines.append("not all were looked at: give more seconds= or a larger limit=, or name the steps with only=")
        return "\n".join(lines)


def next_steps(
    schedule: Schedule, /, only: Iterable[str] | None = None, seconds: float = SECONDS, limit: int = LIMIT
) -> NextSteps:
    """Every step that may be offered here, judged; at most `limit` of them, after at most about `seconds`.

    `only` names the kinds of step to look at ("tile", "vectorize", ...).
    """
    gathering = Gathering(schedule, only, seconds, limit)
    gathering.advance(seconds)
    return gathering.result


class Gathering:
    """`next_steps` in parts, for who has other things to do in between; `more` says whether some are left."""

    def __init__(
        self, schedule: Schedule, only: Iterable[str] | None = None, seconds: float = SECONDS, limit: int = LIMIT
    ) -> None:
        if not isinstance(schedule, Schedule):
            raise ScheduleError(f"next_steps takes a Schedule, as wb.schedule(op) makes it, not {shown(schedule)}")
        kinds = _kinds(only)
        self.schedule, self._left, self._limit = schedule, seconds, limit
        self._found: dict[Transform, Verdict] = {}
        self._failed, self._spent = list[str](), dict.fromkeys(kinds, 0.0)
        self._choices = {name: Transform.known[name].choices(schedule) for name in kinds}

    @property
    def more(self) -> bool:
        """Whether there is something left to look at, and time for it."""
        return bool(self._spent) and self._left > 0 and len(self._found) < self._limit

    @property
    def result(self) -> NextSteps:
        """What was found so far."""
        order = list(Transform.known)
        ranked = sorted(self._found, key=lambda step: (not self._found[step], order.index(step.name)))
        left = (*self._failed, *self._spent)
        offers = tuple(Offer(step, self._found[step]) for step in ranked)
        return NextSteps(offers, not left and self._left > 0, left)

    def advance(self, seconds: float) -> None:
        """Look at steps for about so long.

        Quick kinds come first; among them, and among the others, the one that took the least time so far is next.
        """
        end = time.monotonic() + seconds
        while self.more and (start := time.monotonic()) < end:
            name = min(self._spent, key=lambda name: (name not in QUICK, self._spent[name]))
            with isl.deadline(self._left):
                step = _following(self._choices[name])
                if isinstance(step, Transform) and step not in self._found:
                    self._found[step] = _judged(self.schedule, step)
            took = time.monotonic() - start
            self._left -= took
            self._spent[name] += took
            if not isinstance(step, Transform):
                del self._spent[name]
                self._failed += [] if step is None else [name]


def _kinds(only: Iterable[str] | None) -> list[str]:
    kinds = list(Transform.known) if only is None else [only] if isinstance(only, str) else list(only)
    for name in kinds:
        if name not in Transform.known:
            raise ScheduleError(unknown_step(name, sorted(Transform.known)))
    return kinds


def _following(choices: Iterator[Transform]) -> Transform | WorkbenchError | None:
    """The next choice, None after the last, or why the next cannot be found."""
    try:
        return next(choices, None)
    except WorkbenchError as error:
        return error


def _judged(schedule: Schedule, step: Transform) -> Verdict:
    try:
        return schedule.can(step)
    except WorkbenchError as error:
        return Verdict("unknown", (), schedule.program, schedule.tree, str(error))
