"""Trials: what was tried and what came of it, as values."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args

from workbench.records import record
from workbench.runtime.measuring.timing import duration

Outcome = Literal["measured", "illegal", "not built", "crashed", "timed out", "wrong", "estimated"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


DEFAULT_NUMBER = 0
"""The number of the trial of the default recipe."""

TIED = 1.025
"""Times the least seconds: so much is luck in the best of several finalists, and the default recipe is simpler."""


@record(repr=False)
class Trial:
    """One point of a space, and what came of it.

    `seconds` is the time of one call (None unless measured): the lower quartile of several batches, `lower` the least
    and `upper` the upper quartile, all of them beside a reference kernel that was timed in turn with it, so that trials
    of a noisy machine can be compared.  `schedule` is the record of the schedule (JSON), `steps` the same in one line;
    `message` says what went wrong.  `predicted` are the seconds that the cost model expected before, `features` what it
    saw, and what the compiler made of the trial (`object_...`); `build_seconds` and `run_seconds` what the trial took,
    `began` when it began (seconds since 1970), `round` which round of the search asked for it, `source` who ("search",
    "default", or "final", which is put into the trial that it confirms); a `confirmed` trial was timed again, longer,
    after the search.

    `key` is equal for equal schedules.  A trial whose point gives the schedule of an earlier one is its twin: it has
    what was measured then, and `twin_of` is the number of that one (0: of the default recipe).

    Where no GPU can be used the outcome is "estimated": `estimate` are the seconds that a model expects, by which
    schedules are ranked, and nothing was measured (a `confirmed` one was executed on the processor, and is right).
    """

    number: int
    point: Mapping[str, Any]
    outcome: Outcome
    seconds: float | None = None
    lower: float | None = None
    upper: float | None = None
    schedule: str = ""
    steps: str = ""
    message: str = ""
    predicted: float | None = None
    features: Mapping[str, float] | None = None
    build_seconds: float = 0.0
    run_seconds: float = 0.0
    began: float = 0.0
    round: int = 0
    source: str = "search"
    uid: str = ""
    confirmed: bool = False
    estimate: float | None = None
    key: str = ""
    twin_of: int | None = None

    @property
    def score(self) -> float | None:
        """What trials of one study are compared by: seconds, or the estimate where nothing could be measured."""
        return self.seconds if self.seconds is not None else self.estimate

    @property
    def measured(self) -> bool:
        """Whether it was built, gave the right results and was timed, itself or the trial that it is a twin of."""
        return self.outcome == "measured"

    @property
    def counts(self) -> bool:
        """Whether it is one of those that a study is to make: what was built for the search, or could not be."""
        return self.source == "search" and self.outcome != "illegal" and self.twin_of is None

    def __str__(self) -> str:
        decided = ", ".join(f"{name}={value}" for name, value in self.point.items()) or self.source
        what = duration(self.seconds) if self.seconds is not None else f"{self.outcome}: {first_line(self.message)}"
        if self.outcome == "estimated" and self.estimate is not None:
            what = f"estimated {duration(self.estimate)}, not measured"
        if self.twin_of is not None:
            what += f", the schedule of trial {self.twin_of}"
        return f"trial {self.number} ({decided}): {what}"

    def __repr__(self) -> str:
        return f"<{self}>"


def fastest(trials: Iterable[Trial]) -> Trial | None:
    """The trial that took the least time, among the confirmed ones if there are any; where none was measured, the one
    of the least estimate.  Twins are left out, and what is hardly faster than the default recipe gives way to it.
    """
    known = [t for t in trials if t.twin_of is None]
    scored = [t for t in known if t.seconds is not None] or [t for t in known if t.estimate is not None]
    confirmed = [t for t in scored if t.confirmed]
    best = min(confirmed or scored, key=lambda t: t.score or 0.0, default=None)
    usual = default_of(confirmed or scored)
    tied = usual is not None and best is not None and (usual.score or 0.0) <= TIED * (best.score or 0.0)
    return usual if tied else best


def default_of(trials: Iterable[Trial]) -> Trial | None:
    """The trial of the default recipe, if there is one."""
    return next((t for t in trials if t.source == "default"), None)


def twin(first: Trial, number: int, point: Mapping[str, Any], round: int) -> Trial:
    """The trial of a point that gives the schedule of an earlier trial; nothing was predicted of it."""
    return replace(
        first, number=number, point=dict(point), round=round, source="search", uid=uuid.uuid4().hex, predicted=None,
        build_seconds=0.0, run_seconds=0.0, began=time.time(), twin_of=first.number,
    )  # fmt: skip


def concerns(final: Trial, trial: Trial) -> bool:
    """Whether a final timing is of a trial's schedule."""
    return final.number in (trial.number, trial.twin_of)


def with_final(trial: Trial, final: Trial) -> Trial:
    """A trial with the times of its final; what turned out to be wrong then is."""
    if final.outcome not in ("measured", "estimated"):
        return replace(trial, outcome=final.outcome, message=final.message, seconds=None, estimate=None)
    if final.outcome == "estimated":
        return replace(trial, message=final.message, confirmed=final.run_seconds > 0)
    return replace(trial, seconds=final.seconds, lower=final.lower, upper=final.upper, confirmed=True)


def merged(trials: Iterable[Trial]) -> list[Trial]:
    """Trials as they are stored, each final put into the trial that it confirms, and into its twins."""
    known = list(trials)
    finals = {t.number: t for t in known if t.source == "final"}
    plain = [t for t in known if t.source != "final"]
    timed = [(t, finals.get(t.number if t.twin_of is None else t.twin_of)) for t in plain]
    return [t if final is None else with_final(t, final) for t, final in timed]


def first_line(text: str) -> str:
    """The first line of a message; compilers say much."""
    return text.split("\n", 1)[0]
