"""The chart of a roofline: two logarithmic axes, the roofs, a mark for each point."""

from __future__ import annotations

from workbench.viz.draw.axes import LogScale
from workbench.viz.draw.palette import shape, statement_role
from workbench.viz.draw.quantities import count_text
from workbench.viz.draw.scene import XY, Box, Line, Mark, Marker, Scene, Text
from workbench.viz.views.performance.roofline_data import Entry, Point, Roofline

WIDE, HIGH, LEFT, TOP, BELOW = 520.0, 310.0, 58.0, 36.0, 44.0
STEP = 15.0
STROKES: dict[str, tuple[float, tuple[float, float] | None]] = {
    "L1": (1.3, (1.5, 3.0)),
    "L2": (1.3, (4.0, 3.0)),
    "L3": (1.3, (9.0, 3.0)),
    "memory": (1.8, None),
}
FORMS = {"L2": "disc", "L3": "square", "memory": "diamond"}


def chart(found: Roofline) -> Scene:
    """Axes, roofs and points; labels keep clear of each other."""
    x, y = _scales(found)
    marks: list[Mark] = [*_axes(x, y), *_roofs(found, x, y)]
    taken: list[tuple[float, float, float]] = []
    for i, entry in enumerate(found.entries):
        marks += _entry(entry, i, x, y, taken, alone=len(found.entries) == 1)
    title = f"roofline of {', '.join(e.name for e in found.entries)}"
    head = Text(0, 13, title, 12.5, bold=True)
    return Scene(LEFT + WIDE + 16, TOP + HIGH + BELOW, (head, *marks), title)


def _scales(found: Roofline) -> tuple[LogScale, LogScale]:
    """Both axes in GFLOP/s and operations a byte, with room around everything that is drawn."""
    roofs, points = found.ceilings, [p for e in found.entries for p in e.points]
    peak = roofs.flops_per_second / 1e9
    ridges = [roofs.flops_per_second / rate for rate in roofs.bytes_per_second.values()]
    places = [p.intensity for p in points] + ridges
    low, high = min(places) / 3, max(places) * 4
    slowest = min(roofs.bytes_per_second.values()) * low / 1e9
    heights = [
        slowest,
        peak,
        *(p.bound / 1e9 for p in points),
        *(e.measured / 1e9 for e in found.entries if e.measured),
    ]
    return LogScale(low, high, LEFT, WIDE), LogScale(min(heights) / 1.6, max(heights) * 2.2, TOP + HIGH, -HIGH)


def _axes(x: LogScale, y: LogScale) -> list[Mark]:
    bottom = TOP + HIGH
    marks: list[Mark] = []
    for value in x.powers(4.0 if len(x.powers(4.0)) < 9 else 10.0):
        at = x.at(value)
        marks += [
            Line((at, TOP), (at, bottom), "grid", 0.8),
            Text(at, bottom + 15, count_text(value), 11, "soft", "middle"),
        ]
    for value in y.powers(10.0) if len(y.powers(10.0)) > 1 else y.powers(2.0):
        at = y.at(value)
        marks += [
            Line((LEFT, at), (LEFT + WIDE, at), "grid", 0.8),
            Text(LEFT - 7, at + 4, count_text(value), 11, "soft", "end"),
        ]
    marks += [Line((LEFT, bottom), (LEFT + WIDE + 8, bottom), "soft", 1.1, head=True)]
    marks += [Line((LEFT, bottom), (LEFT, TOP - 8), "soft", 1.1, head=True)]
    marks.append(Text(LEFT + WIDE, bottom + 34, "operations per byte (FLOP/B)", 12, "ink", "end"))
    return [*marks, Text(LEFT + 8, TOP - 6, "GFLOP/s", 12, "ink")]


def _roofs(found: Roofline, x: LogScale, y: LogScale) -> list[Mark]:
    """The slope of each memory, from the left to the flat roof."""
    peak = found.ceilings.flops_per_second
    marks: list[Mark] = []
    for name, rate in found.ceilings.bytes_per_second.items():
        start = max(x.low, y.low * 1e9 / rate)
        width, dash = STROKES.get(name, STROKES["memory"])
        ends = _spot(x, y, start, rate * start), _spot(x, y, peak / rate, peak)
        marks.append(Line(*ends, "ink", width, dash))
    first = min(peak / rate for rate in found.ceilings.bytes_per_second.values())
    corner, end = _spot(x, y, first, peak), _spot(x, y, x.high, peak)
    marks.append(Line(corner, end, "ink", 1.8))
    marks.append(Text(end[0], end[1] - 8, f"{count_text(peak / 1e9)} GFLOP/s", 11.5, "ink", "end", bold=True))
    return marks


def key(found: Roofline) -> Scene:
    """Which slope is which memory."""
    marks: list[Mark] = []
    x = 0.0
    for name, rate in found.ceilings.bytes_per_second.items():
        width, dash = STROKES.get(name, STROKES["memory"])
        words = Text(x + 34, 13, f"{name} {rate / 1e9:.3g} GB/s", 12, "soft")
        marks += [Line((x, 9), (x + 28, 9), "ink", width, dash), words]
        x += 34 + words.width + 20
    return Scene(x, 18, tuple(marks))


def _spot(x: LogScale, y: LogScale, intensity: float, flops: float) -> XY:
    return x.at(intensity), y.at(flops / 1e9)


def _entry(
    entry: Entry, number: int, x: LogScale, y: LogScale, taken: list[tuple[float, float, float]], *, alone: bool
) -> list[Mark]:
    """The points of a schedule (of one among several: the tightest), and the speed that was measured."""
    role = statement_role(number)
    points = entry.points if alone else (entry.tightest,)
    marks: list[Mark] = []
    for p in points:
        at = _spot(x, y, p.intensity, p.bound)
        form = FORMS[p.behind] if alone else shape(number)
        marks.append(Line(at, (at[0], TOP + HIGH), role, 1.0, (2, 4), opacity=0.7))
        marks.append(Marker(*at, role, form, 5.6, _words(entry, p)))
        marks += _label(at, p.behind if alone else entry.name, role, taken)
    if entry.measured:
        at = _spot(x, y, entry.tightest.intensity, entry.measured)
        seen = f"{'measured' if alone else entry.name} {count_text(entry.measured / 1e9)}"
        marks.append(Line(_spot(x, y, entry.tightest.intensity, entry.tightest.bound), at, role, 2.2))
        marks += [Marker(*at, role, "cross", 6.0, seen), *_label(at, seen, role, taken)]
    return marks


def _words(entry: Entry, p: Point) -> str:
    return f"{entry.name}, between {p.cache} and {p.behind}: at most {count_text(p.bound / 1e9)} GFLOP/s"


def _label(at: XY, words: str, role: str, taken: list[tuple[float, float, float]]) -> list[Mark]:
    """Words at the lower right of a mark, or as far below as it takes to be free."""
    text = Text(at[0] + 9, at[1] + 16, words, 11.5, role, bold=True)
    left = min(text.x, LEFT + WIDE - text.width)
    height = text.y
    while any(abs(height - b) < STEP and left < e and a < left + text.width for a, e, b in taken):
        height += STEP
    taken.append((left, left + text.width, height))
    veil = Box(left - 2, height - 11, text.width + 4, 15, "ground", None, 3, 0.8)
    return [veil, Text(left, height, words, 11.5, role, bold=True)]
