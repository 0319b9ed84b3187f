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
from workbench.viz.messages.measuring import Came, Timing

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


@record(repr=False)
class Measured:
    """`outcome` is "measured", or what went wrong, of which `message` says more.

    `seconds` are those of a call whose results agreed with the oracle's, between `lower` and `upper`; `naive` and
    `numpy` those of the naive schedule and of NumPy (`operator.evaluate`) on the same arguments, where they are known.
    `hardware` is a line on what the processor counted of a call, or why it did not.
    """

    outcome: Came
    seconds: float | None = None
    lower: float | None = None
    upper: float | None = None
    message: str = ""
    naive: float | None = None
    numpy: float | None = None
    hardware: str = ""

    @property
    def over_naive(self) -> float | None:
        """How many times faster than the naive schedule."""
        return self.naive / self.seconds if self.naive and self.seconds else None

    @property
    def over_numpy(self) -> float | None:
        """How many times faster than NumPy."""
        return self.numpy / self.seconds if self.numpy and self.seconds else None

    def __bool__(self) -> bool:
        return self.outcome == "measured"

    def __str__(self) -> str:
        if not self:
            return f"{WORDS.get(self.outcome, self.outcome)}: {self.message}" if self.message else WORDS[self.outcome]
        factors = (("the naive schedule", self.over_naive), ("NumPy", self.over_numpy))
        beside = [f"{factor:.3g} times as fast as {name}" for name, factor in factors if factor]
        return ", ".join([f"right, {duration(self.seconds or 0.0)} a call", *beside])

    def __repr__(self) -> str:
        return f"<Measured: {self}>"


def came_of(result: Result) -> Measured:
    """What a runner found, beside nothing yet."""
    return Measured(result.outcome, result.seconds, result.lower, result.upper, result.message)


def timing_payload(measured: Measured) -> Timing:
    """The same for the front end."""
    return {
        "outcome": measured.outcome, "seconds": measured.seconds, "lower": measured.lower, "upper": measured.upper,
        "naive": measured.over_naive, "numpy": measured.over_numpy, "words": str(measured)[:MOST_WORDS],
        "hardware": measured.hardware,
    }  # fmt: skip


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
