"""Trials: what was tried and what came of it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from workbench.records import record
from workbench.runtime.timing import duration

Outcome = Literal["measured", "illegal", "not built", "crashed", "timed out", "wrong"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@record(repr=False)
class Trial:
    """One point of a space, and what came of it.

    `seconds` is the time of one call (None unless measured), `lower` and `upper` its quartiles, all of them beside a
    reference kernel that was timed in turn with it, so that trials of a noisy machine can be compared.  `schedule` is
    the record of the schedule (JSON), `steps` the same in one line; `message` says what went wrong.  `predicted` are
    the seconds that the cost model expected before, `features` what it saw; `build_seconds` and `run_seconds` what the
    trial took, `began` when it began (seconds since 1970), `round` which round of the search asked for it, `source` who
    ("search", "default", or "seed").
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

    @property
    def measured(self) -> bool:
        """Whether it was built, gave the right results and was timed."""
        return self.outcome == "measured"

    def __str__(self) -> str:
        decided = ", ".join(f"{name}={value}" for name, value in self.point.items()) or self.source
        what = duration(self.seconds) if self.seconds is not None else f"{self.outcome}: {first_line(self.message)}"
        return f"trial {self.number} ({decided}): {what}"

    def __repr__(self) -> str:
        return f"<{self}>"


def fastest(trials: list[Trial] | tuple[Trial, ...]) -> Trial | None:
    """The measured trial that took the least time; the first of several."""
    return min((t for t in trials if t.seconds is not None), key=lambda t: t.seconds or 0.0, default=None)


def first_line(text: str) -> str:
    """The first line of a message; compilers say much."""
    return text.split("\n", 1)[0]
