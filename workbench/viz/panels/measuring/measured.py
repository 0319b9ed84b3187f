"""What came of a schedule that was built, checked and timed, in numbers and in words."""

from __future__ import annotations

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.runtime.measuring.counters import Counts
from workbench.runtime.measuring.timing import duration
from workbench.tune.measuring.runner import Result
from workbench.viz.draw.quantities import bytes_text, count_text
from workbench.viz.messages.measuring import Came, Faster, Timing
from workbench.wording import number_of

WORDS: dict[Came, str] = {
    "illegal": "it is not legal",
    "not built": "it could not be built",
    "crashed": "it crashed",
    "timed out": "it took too long",
    "wrong": "its results are wrong",
    "stopped": "it was stopped",
    "not measured": "it was not measured",
}
MOST_WORDS = 400


@record
class Factor:
    """How many times faster something is than another, which took so many `threads` (0 where a GPU ran it).

    `lower` and `upper` are what the spread of both times leaves open.
    """

    times: float
    lower: float
    upper: float
    threads: int = 0

    def __str__(self) -> str:
        return f"{self.times:.3g} ({self.lower:.3g} to {self.upper:.3g})"


@record(repr=False)
class Measured:
    """`outcome` is "measured", or what went wrong, of which `message` says more.

    `seconds` are those of a call on so many `threads` (0 where a GPU runs it) whose results agreed with the oracle's:
    the lower quartile, between the fastest (`lower`) and the upper quartile.  `naive` and `numpy` are what came of the
    naive schedule and of NumPy (`operator.evaluate`) on the same arguments, where they are known.  `hardware` is a line
    on what the processor counted of a call, or why it did not.
    """

    outcome: Came
    seconds: float | None = None
    lower: float | None = None
    upper: float | None = None
    message: str = ""
    naive: Measured | None = None
    numpy: Measured | None = None
    hardware: str = ""
    threads: int = 0

    @property
    def over_naive(self) -> float | None:
        """How many times faster than the naive schedule."""
        found = self.over(self.naive)
        return None if found is None else found.times

    @property
    def over_numpy(self) -> float | None:
        """How many times faster than NumPy."""
        found = self.over(self.numpy)
        return None if found is None else found.times

    def over(self, other: Measured | None) -> Factor | None:
        """How many times faster than another measurement, where both have a time."""
        if other is None or not other.seconds or not self.seconds:
            return None
        lower = (other.lower or other.seconds) / (self.upper or self.seconds)
        upper = (other.upper or other.seconds) / (self.lower or self.seconds)
        return Factor(other.seconds / self.seconds, lower, upper, other.threads)

    def __bool__(self) -> bool:
        return self.outcome == "measured"

    def __str__(self) -> str:
        if not self:
            return f"{WORDS.get(self.outcome, self.outcome)}: {self.message}" if self.message else WORDS[self.outcome]
        factors = (("the naive schedule", self.over(self.naive)), ("NumPy", self.over(self.numpy)))
        beside = [f"{found} times as fast as {name}{on(found.threads)}" for name, found in factors if found]
        return ", ".join([f"results checked, {duration(self.seconds or 0.0)} a call{on(self.threads)}", *beside])

    def __repr__(self) -> str:
        return f"<Measured: {self}>"


def said_of(came: Measured, name: str) -> str:
    """One short line on what came of a call: which call NumPy's is, and on how many threads; or what went wrong."""
    if not came:
        return str(came)
    numpy = came.numpy if came.numpy and came.numpy.seconds else None
    beside = f"; NumPy is {name}.evaluate{on(numpy.threads)}, {duration(numpy.seconds or 0.0)}" if numpy else ""
    return f"results checked, {duration(came.seconds or 0.0)} a call{on(came.threads)}{beside}"


def on(threads: int) -> str:
    """` on 2 threads`; nothing where a GPU runs it, or nobody knows."""
    return f" on {number_of(threads, 'thread')}" if threads else ""


def came_of(result: Result, threads: int = 0) -> Measured:
    """What a runner found of a call on so many threads, beside nothing yet."""
    return Measured(result.outcome, result.seconds, result.lower, result.upper, result.message, threads=threads)


def timing_payload(measured: Measured) -> Timing:
    """The same for the front end."""
    return {
        "outcome": measured.outcome, "seconds": measured.seconds, "lower": measured.lower, "upper": measured.upper,
        "naive": faster_payload(measured.over(measured.naive)), "numpy": faster_payload(measured.over(measured.numpy)),
        "words": str(measured)[:MOST_WORDS], "hardware": measured.hardware, "threads": measured.threads,
    }  # fmt: skip


def faster_payload(factor: Factor | None) -> Faster | None:
    """How many times faster, for the front end."""
    if factor is None:
        return None
    return {"times": factor.times, "lower": factor.lower, "upper": factor.upper, "threads": factor.threads}


# -- What the hardware counted of a call, in one line beside what the program says of itself --

def hardware_words(counts: Counts | None, program: Program, line_bytes: int) -> str:
    """`hardware, a call: 1.2 M cycles, 3.1 M instructions (2.6 a cycle) …; counted: …`; nothing where nobody looked."""
    if counts is None:
        return ""
    if not counts.events:
        return f"no hardware counters ({counts.missing})"
    found = [_event(name, value, counts, line_bytes) for name, value in counts.events.items()]
    parts = [f"hardware, a call: {', '.join(found)}", _beside(counts, program)]
    return "; ".join(filter(None, [*parts, counts.missing]))


def _event(name: str, value: float, counts: Counts, line_bytes: int) -> str:
    words = f"{count_text(value)} {name}"
    cycles = counts.events.get("cycles")
    if name == "instructions" and cycles:
        return f"{words} ({value / cycles:.2g} a cycle)"
    return f"{words} ({bytes_text(value * line_bytes)})" if name.endswith("misses") else words


def _beside(counts: Counts, program: Program) -> str:
    """Operations, of a cycle too, and the least bytes that any schedule moves."""
    try:
        flops, moved = poly.flops(program), poly.bytes(program)
    except WorkbenchError:
        return ""
    cycles = counts.events.get("cycles")
    rate = f" ({flops / cycles:.3g} a cycle)" if cycles and flops else ""
    return f"counted: {count_text(flops)} operations{rate}, at least {bytes_text(moved)}"
