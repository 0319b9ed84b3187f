"""`ladder`: how fast each of several schedules is, one bar a step, with lines for what it is compared with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import isfinite

from workbench.errors import WorkbenchError, shown
from workbench.records import record
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import MONO_WIDTH, Box, Line, Mark, Scene, Text
from workbench.viz.draw.tables import Table, table_text
from workbench.wording import number_of

ROW, FONT, BAR, LONGEST = 22.0, 12.5, 360.0, 44


@record
class Ladder:
    """Steps with their rates, from the first to the last, and the rates of others by name."""

    rungs: tuple[tuple[str, float], ...]
    lines: tuple[tuple[str, float], ...]
    unit: str

    @property
    def highest(self) -> float:
        """The largest rate of all."""
        return max(rate for _, rate in (*self.rungs, *self.lines))

    @property
    def gains(self) -> tuple[float, ...]:
        """How many times faster each rung is than the one before it, without the first."""
        rates = [rate for _, rate in self.rungs]
        return tuple(rate / before for before, rate in pairwise(rates))


def ladder(
    rungs: Iterable[tuple[str, float]], lines: Mapping[str, float] | None = None, *, unit: str = "GFLOP/s"
) -> Picture:
    """Rates after each step as bars, with those of others as dashed lines: `ladder([("naive", 1.2)], {"NumPy": 60})`.

    Beside each rate stands what its step gained: how many times faster than the rung before.  `rungs` are pairs (what
    was done, rate) in their order, `lines` gives name → rate, both in `unit`, more is better.
    Raises WorkbenchError where there is no rung, or a rate is no positive number.
    """
    found = Ladder(tuple(rungs), tuple((lines or {}).items()), unit)
    if not found.rungs:
        raise WorkbenchError("a ladder needs at least one rung: ladder([('naive', 1.2), ('tile(m=8)', 4.0)])")
    for name, rate in (*found.rungs, *found.lines):
        if isinstance(rate, str) or not (isfinite(rate) and rate > 0):
            raise WorkbenchError(f"the rate of {name!r} is {shown(rate)}; expected a positive number of {unit}")
    return Picture(ladder_text(found), ladder_scene(found), data=found)


def ladder_text(found: Ladder) -> str:
    """One line a rung: its rate, and how many times faster it is than the one before and the first; then the others."""
    first = found.rungs[0][1]
    gains = ["", *map(_times, found.gains), *("" for _ in found.lines)]
    rows = [
        (_cut(name), _number(rate), gain, _times(rate / first))
        for (name, rate), gain in zip((*found.rungs, *found.lines), gains, strict=True)
    ]
    head = ("after", found.unit, "of the one before", "of the first")
    return "\n".join(table_text(Table(tuple(rows), head=head, right=(1, 2, 3))))


def ladder_scene(found: Ladder) -> Scene:
    """Bars from the top, lines through them, each with its name above."""
    left = max(len(_cut(name)) for name, _ in found.rungs) * FONT * MONO_WIDTH + 14
    head = 26 + 16.0 * len(found.lines)
    bottom = head + ROW * len(found.rungs)
    marks: list[Mark] = [Text(0, 14, f"{found.unit} after each step, and what it gained", FONT, bold=True)]
    marks += _lines(found, left, bottom)
    for number, ((name, rate), gain) in enumerate(zip(found.rungs, (None, *found.gains), strict=True)):
        marks += _rung(found, name, rate, gain, left, head + ROW * number)
    label = f"{found.unit} of {number_of(len(found.rungs), 'schedule')}, the last {_number(found.rungs[-1][1])}"
    return Scene(left + BAR + 112, bottom + 6, tuple(marks), label)


def _rung(found: Ladder, name: str, rate: float, gain: float | None, left: float, top: float) -> list[Mark]:
    length = max(BAR * rate / found.highest, 1.0)
    best = rate == max(rate for _, rate in found.rungs)
    number = Text(left + length + 7, top + 15, _number(rate), FONT, bold=best)
    gained = Text(number.x + number.width + 8, top + 15, "" if gain is None else _times(gain), 11, "soft")
    return [
        Box(number.x - 3, top + 3, gained.x + gained.width - number.x + 6, ROW - 6, "ground", None, 0),  # no line in it
        Text(0, top + 15, _cut(name), FONT, mono=True),
        Box(left, top + 4, length, ROW - 8, "s0", None, 3, 0.85 if best else 0.45),
        number,
        *([] if gain is None else [gained]),
    ]


def _lines(found: Ladder, left: float, bottom: float) -> list[Mark]:
    """Each line with its name to its left, the highest first: so no line runs through a name."""
    marks: list[Mark] = []
    for number, (name, rate) in enumerate(sorted(found.lines, key=lambda line: -line[1])):
        x, y = left + BAR * rate / found.highest, 34 + 16.0 * number
        marks.append(Line((x, y - 8), (x, bottom), "ink", 1.2, (5, 3), opacity=0.7))
        marks.append(Text(x - 5, y, f"{name} {_number(rate)}", 11, "soft", "end"))
    return marks


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _number(rate: float) -> str:
    return f"{rate:.3g}" if rate < 1000 else f"{rate:.0f}"


def _times(factor: float) -> str:
    return f"{factor:.3g}×"
