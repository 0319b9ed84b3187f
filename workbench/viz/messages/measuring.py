"""What was measured of the schedules of a history, and what is being measured."""

from __future__ import annotations

from typing import Literal, TypedDict

# What came of a schedule; "stopped" and "not measured" are the panel's own, the others those of a study's trials.
Came = Literal[
    "measured", "illegal", "not built", "crashed", "timed out", "wrong", "estimated", "stopped", "not measured"
]


class Faster(TypedDict):
    """How many times faster than another that took so many threads (0 on a GPU), and between what by both spreads."""

    times: float
    lower: float
    upper: float
    threads: int


class Timing(TypedDict):
    """What came of a schedule on so many threads (0 on a GPU): seconds, and how many times faster it is than the naive
    one and than NumPy.
    """

    outcome: Came
    seconds: float | None
    lower: float | None
    upper: float | None
    threads: int
    naive: Faster | None
    numpy: Faster | None
    words: str
    hardware: str  # what the processor counted, or why it did not


class Gained(TypedDict):
    """How many times faster a line of the history is than the line before, or than the nearest before that has a time
    (`since`, its last step): `expected` by the model, or why that has nothing (`unmodelled`), and `measured`, where
    there is such a line.
    """

    expected: float | None
    unmodelled: str
    measured: Faster | None
    since: str


class MeasuredData(TypedDict):
    """By the places of the history, `gained` where a time and a line before are; `doing` is empty while nothing is
    measured.
    """

    about: str
    doing: str
    busy: list[int]
    moments: list[Timing | None]
    gained: list[Gained | None]
    naive: Timing | None
    numpy: Timing | None
    said: str
