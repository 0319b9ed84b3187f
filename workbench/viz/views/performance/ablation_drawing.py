"""A bar for each step of a schedule: how many times longer a call takes without it, with the spread of the rounds."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.viz.draw.axes import LogScale
from workbench.viz.draw.scene import Box, Line, Mark, Scene, Text
from workbench.viz.views.performance.ablation_data import Removal

WIDE, LEFT, TOP, STEP, HIGH = 220.0, 402.0, 46.0, 22.0, 12.0
LONGEST = 52
HEAD = "Without one step: how many times longer a call takes"


def bars(removals: Sequence[Removal]) -> Scene:
    """Rows in the order of the trace; a bar to the right of 1 is what the step gains, to the left what it costs."""
    if not removals:
        return Scene(0, 0, ())
    axis = _axis(removals)
    bottom = TOP + STEP * len(removals)
    marks: list[Mark] = [Text(0, 13, HEAD, 12.5, bold=True), *_ticks(axis, bottom)]
    for i, removal in enumerate(removals):
        marks += _row(removal, axis, TOP + STEP * i)
    marks.append(Line((axis.at(1), TOP - 4), (axis.at(1), bottom), "ink", 1.2))
    return Scene(LEFT + WIDE + 66, bottom + 6, tuple(marks), HEAD)


def _axis(removals: Sequence[Removal]) -> LogScale:
    ends = [end for r in removals for end in (r.spread or ())]
    low, high = min(0.8, *ends, 0.8), max(2.0, *ends, 2.0)
    return LogScale(low / 1.05, high * 1.05, LEFT, WIDE)


def _ticks(axis: LogScale, bottom: float) -> list[Mark]:
    """Lines at 1 and at powers that leave room for their words."""
    base = next(b for b in (2.0, 4.0, 10.0, 100.0) if len(axis.powers(b)) < 7)
    marks: list[Mark] = []
    for value in axis.powers(base):
        at = axis.at(value)
        marks.append(Line((at, TOP - 4), (at, bottom), "grid", 0.8))
        marks.append(Text(at, TOP - 10, f"{value:g}×", 11, "soft", "middle"))
    return marks


def _row(removal: Removal, axis: LogScale, y: float) -> list[Mark]:
    middle = y + STEP / 2
    marks: list[Mark] = [Text(0, middle + 4, step_words(removal), 11.5, mono=True)]
    ratio, spread = removal.ratio, removal.spread
    if ratio is None or spread is None:
        return [*marks, Text(axis.at(1) + 8, middle + 4, removal.reason, 11, "soft", italic=True)]
    one, end = axis.at(1), axis.at(ratio)
    gains = ratio >= 1
    left, width = min(one, end), max(abs(end - one), 1.0)
    marks.append(Box(left, middle - HIGH / 2, width, HIGH, "s0" if gains else "s1", None, 1.5, 0.75))
    low, high = axis.at(spread[0]), axis.at(spread[1])
    marks += [Line((low, middle), (high, middle), "ink", 1.3)]
    marks += [Line((x, middle - 3.5), (x, middle + 3.5), "ink", 1.3) for x in (low, high)]
    return [*marks, Text(LEFT + WIDE + 10, middle + 4, ratio_words(ratio), 11.5, "ink", bold=ratio >= 1.1)]


def step_words(removal: Removal) -> str:
    """The step as Python, cut where it is long, and how many fall with it."""
    more = f" +{len(removal.also)}" if removal.also else ""
    room = LONGEST - len(more)
    cut = removal.step if len(removal.step) <= room else f"{removal.step[: room - 1]}…"
    return cut + more


def ratio_words(ratio: float) -> str:
    """
    >>> ratio_words(1.234), ratio_words(28.62)
    ('1.23×', '28.6×')
    """
    return f"{ratio:.3g}×"
