"""What a run leaves behind: one JSON file of one format for all kinds of measurements."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FORMAT = "tensor-workbench/bench"
VERSION = 1
RESULTS, OUT = (Path(__file__).resolve().parent / folder for folder in ("results", "out"))
"""Where figures are kept, and where those go that nobody keeps."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds of one call: median and quartiles of the rounds' medians, which `rounds` holds.

    `least` is the fastest batch: far below the median, it tells that something else was running.
    """

    seconds: float
    lower: float
    upper: float
    least: float
    rounds: tuple[float, ...]
    calls: int

    @staticmethod
    def of(rounds: Sequence[Sequence[float]], calls: int) -> Timing:
        """From the batches of each round."""
        medians = tuple(statistics.median(batches) for batches in rounds)
        lower, middle, upper = statistics.quantiles(medians * (2 if len(medians) == 1 else 1), n=4, method="inclusive")
        return Timing(middle, lower, upper, min(map(min, rounds)), medians, calls)


@dataclass(frozen=True, slots=True)
class Result:
    """One contender at one case.

    `fresh` allocates its results in each call, `preallocated` writes into arrays it is given; `first_seconds` is the
    first call with everything that is built for it.  `difference` is the largest error relative to the first
    contender's largest magnitude.  `missing` says why there is no time, `function` which
    of several ways to write the operator was the fastest.
    """

    fresh: Timing | None = None
    preallocated: Timing | None = None
    first_seconds: float | None = None
    difference: float | None = None
    missing: str = ""
    function: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One case with one number of threads; `results` in the order of the contenders, ours first.

    `copy` is the time of copying as many bytes as a memory-bound case has to move.  `ratios` are times of
    contenders over ours, the median of the ratios of the rounds: contender → form → ratio.
    """

    case: str
    operator: str
    sizes: dict[str, int]
    threads: int
    memory_bound: bool
    flops: int
    bytes_moved: int
    results: dict[str, Result]
    copy: Result | None = None
    ratios: dict[str, dict[str, float]] = field(default_factory=dict)
    kind: str = "comparison"


@dataclass(frozen=True, slots=True)
class Latency:
    """How long one thing takes: `part` of `group`; `limit_seconds` is what is asked of it, if anything is.

    `how` says what exactly was timed.
    """

    group: str
    part: str
    timing: Timing
    limit_seconds: float | None = None
    how: str = ""
    kind: str = "latency"


@dataclass(frozen=True, slots=True)
class Tuned:
    """One operator tuned with so many `trials`: `default` and `best` were timed again in turn at the end, `gain` is the
    median of the passes' ratios; `facts` are what the campaign wants to know beside.
    """

    case: str
    sizes: dict[str, int]
    threads: int
    trials: int
    default: Timing | None = None
    best: Timing | None = None
    gain: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    kind: str = "tuned"


Row = Comparison | Latency | Tuned


@dataclass(frozen=True, slots=True)
class Record:
    """A run: where, with what, how, and what came out."""

    machine: dict[str, Any]
    software: dict[str, Any]
    settings: dict[str, Any]
    load: dict[str, list[float]]
    rows: tuple[Row, ...]
    date: str

    def write(self, path: Path) -> None:
        """Write the JSON file; NaN is refused."""
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"format": FORMAT, "version": VERSION, **asdict(self)}
        path.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")

    @property
    def comparisons(self) -> list[Comparison]:
        return [row for row in self.rows if isinstance(row, Comparison)]

    @property
    def latencies(self) -> list[Latency]:
        return [row for row in self.rows if isinstance(row, Latency)]

    @property
    def tuned(self) -> list[Tuned]:
        return [row for row in self.rows if isinstance(row, Tuned)]


def read(path: Path) -> Record:
    """The record in a file; ValueError if it is of another format or version, TypeError if a field is wrong."""
    content = json.loads(path.read_text(encoding="utf-8"))
    if (content.pop("format", None), content.pop("version", None)) != (FORMAT, VERSION):
        raise ValueError(f"{path} is no {FORMAT} of version {VERSION}")
    return Record(**{**content, "rows": tuple(map(row, content["rows"]))})


def row(fields: dict[str, Any]) -> Row:
    """The row that was written as these fields; ValueError for an unknown kind."""
    match fields["kind"]:
        case "comparison":
            results = {name: _result(r) for name, r in fields["results"].items()}
            return Comparison(**{**fields, "results": results, "copy": fields["copy"] and _result(fields["copy"])})
        case "latency":
            return Latency(**{**fields, "timing": _timing(fields["timing"])})
        case "tuned":
            return Tuned(**{**fields, **{name: _timing(fields[name]) for name in ("default", "best")}})
        case unknown:
            raise ValueError(f"unknown kind of row {unknown!r}")


def _result(fields: dict[str, Any]) -> Result:
    forms = {form: _timing(fields[form]) for form in ("fresh", "preallocated")}
    return Result(**{**fields, **forms})


def _timing(fields: dict[str, Any] | None) -> Any:
    return fields and Timing(**{**fields, "rounds": tuple(fields["rounds"])})
