"""The ratios of a record as a picture: a row for each case, a mark for each peer, on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from bench.record import Comparison, Record
from workbench.viz.draw.axes import LogScale
from workbench.viz.draw.palette import shape, statement_role
from workbench.viz.draw.scene import Line, Mark, Marker, Scene, Text

LEFT, WIDE, TOP, STEP = 262.0, 420.0, 78.0, 19.0
# What is farther away than this stands at the edge.
FARTHEST = 16.0
FORMS = ("fresh", "preallocated")


def chart(rows: Sequence[Comparison], title: str) -> Scene:
    """Where the peers stand: right of 1 they take longer than we do; the mean of each is a row of its own."""
    names = peers(rows)
    axis = _axis(rows, names)
    bottom = TOP + STEP * (len(rows) + 1) + 10
    marks: list[Mark] = [Text(0, 14, title, 13.5, bold=True), *_key(names)]
    marks += [*_ground(axis, bottom), Text(LEFT + WIDE + 16, TOP - 16, "least", 11, "soft")]
    for i, row in enumerate(rows):
        marks += _row(row.case, {n: _ratio(row, n) for n in names}, axis, TOP + STEP * i, names)
    means = {n: _mean([_ratio(row, n) for row in rows]) for n in names}
    marks += _row("geometric mean", means, axis, bottom - STEP, names, bold=True)
    words = "time of the peer over ours: right of 1 we are faster"
    return Scene(LEFT + WIDE + 70, bottom + 24, (*marks, Text(LEFT, bottom + 16, words, 11.5, "soft")), title)


def peers(rows: Sequence[Comparison]) -> list[str]:
    """Everybody who has a ratio in one of the rows."""
    return list(dict.fromkeys(name for row in rows for name, found in row.ratios.items() if found))


def sections(record: Record) -> dict[str, list[Comparison]]:
    """Title → rows: one chart for each number of threads and set of contenders."""
    found: dict[str, list[Comparison]] = {}
    for row in record.comparisons:
        ours = next(iter(row.results))
        backends = any("/" in name and name.startswith(ours) for name in row.results)
        what = "backends" if backends else record.settings.get("kernels", "operators")
        found.setdefault(f"{what}, {row.threads} thread{'s' * (row.threads > 1)}", []).append(row)
    return {title: rows for title, rows in found.items() if peers(rows)}


def _ratio(row: Comparison, name: str) -> float | None:
    """Of the form that both have; with results allocated where there is a choice."""
    found = row.ratios.get(name, {})
    return next((found[form] for form in FORMS if form in found), None)


def _mean(ratios: Sequence[float | None]) -> float | None:
    known = [r for r in ratios if r]
    return exp(sum(map(log, known)) / len(known)) if known else None


def _axis(rows: Sequence[Comparison], names: Sequence[str]) -> LogScale:
    known = [r for row in rows for n in names if (r := _ratio(row, n))]
    low, high = min([0.5, *known]), max([2.0, *known])
    return LogScale(max(low, 1 / FARTHEST) / 1.1, min(high, FARTHEST) * 1.1, LEFT, WIDE)


def _key(names: Sequence[str]) -> list[Mark]:
    marks: list[Mark] = []
    x = 0.0
    for i, name in enumerate(names):
        words = Text(x + 14, 38, name, 12, "soft")
        marks += [Marker(x + 5, 34, statement_role(i), shape(i), 5.0), words]
        x += 14 + words.width + 20
    return marks


def _ground(axis: LogScale, bottom: float) -> list[Mark]:
    """Ticks at powers of two, a thick line at 1."""
    marks: list[Mark] = []
    for value in axis.powers(2.0):
        at, one = axis.at(value), abs(value - 1) < 1e-9
        marks.append(Line((at, TOP - 10), (at, bottom), "ink" if one else "grid", 1.4 if one else 0.8))
        marks.append(Text(at, TOP - 16, f"{value:g}", 11, "soft", "middle"))
    return marks


def _row(
    name: str, ratios: dict[str, float | None], axis: LogScale, y: float, names: Sequence[str], *, bold: bool = False
) -> list[Mark]:
    """The name, a line through the marks, the least ratio in numbers."""
    middle = y + STEP / 2
    known = {n: r for n, r in ratios.items() if r}
    marks: list[Mark] = [Text(0, middle + 4, name, 12, bold=bold)]
    if not known:
        return [*marks, Text(LEFT, middle + 4, "no peer", 11, "soft", italic=True)]
    ends = [axis.at(r) for r in known.values()]
    marks.append(Line((min(ends), middle), (max(ends), middle), "grid", 1.6))
    for i, peer in enumerate(names):
        if ratio := known.get(peer):
            marks.append(Marker(axis.at(ratio), middle, statement_role(i), shape(i), 4.6, f"{peer}: {ratio:.2f}"))
    least = min(known.values())
    words = Text(LEFT + WIDE + 16, middle + 4, f"{least:.2f}", 11.5, "ink" if least >= 1 else "bad", bold=bold)
    return [*marks, words]
