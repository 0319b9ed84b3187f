"""`footprint`: what each loop holds and moves, array by array, against the caches of a machine."""

from __future__ import annotations

from workbench.poly.programs.program import Program
from workbench.runtime import this_machine
from workbench.schedules import Schedule, Verdict
from workbench.target import Target
from workbench.viz.draw.axes import LogScale
from workbench.viz.draw.palette import array_role, array_shape
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text, count_text
from workbench.viz.draw.scene import Box, Line, Mark, Marker, Scene, Text, above, move, paragraph
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.draw.tables import Table, table_text
from workbench.viz.frames.coordinates import Sizes, concrete
from workbench.viz.views.performance.footprint_data import Footprints, Level, LoopRow, Row, footprint_data

ROW, HEAD, INDENT, FONT = 23.0, 56.0, 13.0, 12.5
AXIS = 330.0
COLUMNS = (78.0, 162.0, 222.0)


def footprint(value: Schedule | Program | Verdict, target: Target | None = None, sizes: Sizes | None = None) -> Picture:
    """Bytes that one iteration of each loop touches, and what its iterations move, exactly counted.

    A loop whose iteration fits into a cache needs only be loaded once for each iteration: the table says how many
    bytes then go through to the memory behind, for every cache of `target` (this machine's by default).  A cell that
    the iteration before touched is there still; a value made and used up inside is not moved at all.

    Raises LoweringError while sizes are open (`sizes` gives them), WorkbenchError for a size that does not exist.
    """
    found = footprint_data(concrete(value, sizes), target or this_machine())
    return Picture(footprint_text(found), footprint_scene(found), data=found)


def footprint_scene(found: Footprints) -> Scene:
    """The bars, the key of the arrays, the levels, and what the numbers mean."""
    bars = _bars(found)
    return above(bars, _key(found), table_scene(level_table(found)), paragraph(NOTES, bars.width), gap=12)


NOTES = (
    "A bar is what one iteration of the loop touches; the marks are the arrays. Moved: bytes in and out if only one "
    "iteration is kept at a time. Counts are exact, of cells, not of cache lines.",
)


def _bars(found: Footprints) -> Scene:
    names = [_label(row) for row in found.rows]
    left = max(t.x + t.width for t in names) + 14
    scale = _scale(found, left)
    bottom = HEAD + ROW * len(found.rows)
    marks: list[Mark] = [*_grid(found, scale, bottom), *_heads(left)]
    for i, (row, name) in enumerate(zip(found.rows, names, strict=True)):
        marks += _row(found, row, name, scale, HEAD + ROW * i)
    label = f"footprint of {found.title}"
    return Scene(left + AXIS + COLUMNS[-1], bottom + 4, (Text(0, 13, label, FONT, bold=True), *marks), label)


def _label(row: Row) -> Text:
    if isinstance(row, LoopRow):
        name = f"for {row.name}" if row.name else "everything"
        suffix = "" if row.kind in ("", "serial") else f" ({row.kind})"
        return Text(row.depth * INDENT, 0, name + suffix, FONT, mono=True)
    return Text(row.depth * INDENT + 16, 0, row.name, FONT, "soft", mono=True, italic=True)


def _scale(found: Footprints, left: float) -> LogScale:
    largest = max([r.footprint.held_bytes for r in found.rows if isinstance(r, LoopRow)] + [64])
    first = found.levels[0].capacity if found.levels else 1
    return LogScale(1.0, 4.0 * max(largest, first), left, AXIS)


def _grid(found: Footprints, scale: LogScale, bottom: float) -> list[Mark]:
    """Thin lines at powers of 32, dashed ones at the caches' sizes with their names above."""
    marks: list[Mark] = []
    shown = [level for level in found.levels if level.capacity <= scale.high]
    edges = [scale.at(level.capacity) for level in shown]
    for value in scale.powers(32.0):
        x = scale.at(value)
        marks.append(Line((x, HEAD - 4), (x, bottom), "grid", 0.8))
        if all(abs(x - edge) > 46 for edge in edges):
            marks.append(Text(x, HEAD - 9, bytes_text(value), 10.5, "soft", "middle"))
    for level, x in zip(shown, edges, strict=True):
        marks.append(Line((x, HEAD - 4), (x, bottom), "ink", 1.2, (4, 3), opacity=0.75))
        marks.append(Text(x, HEAD - 22, level.name, 11, "ink", "middle", bold=True))
        marks.append(Text(x, HEAD - 9, bytes_text(level.capacity), 10.5, "ink", "middle"))
    return marks


def _heads(left: float) -> list[Mark]:
    heads = ("holds", "moved", "fits")
    return [Text(left + AXIS + COLUMNS[i], HEAD - 9, h, 11.5, "soft", "end") for i, h in enumerate(heads)]


def _row(found: Footprints, row: Row, name: Text, scale: LogScale, top: float) -> list[Mark]:
    base = top + 16
    marks: list[Mark] = [move(name, 0, base)]
    if not isinstance(row, LoopRow):
        return marks
    foot = row.footprint
    right = scale.start + AXIS
    numbers = (bytes_text(foot.held_bytes), bytes_text(foot.moved_bytes), row.fits or "memory")
    roles = ("ink", "ink", "soft")
    marks += [
        Text(right + COLUMNS[i], base, n, 12, role, "end")
        for i, (n, role) in enumerate(zip(numbers, roles, strict=True))
    ]
    length = scale.at(max(foot.held_bytes, 1)) - scale.start
    marks.append(Box(scale.start, top + 4, max(length, 1.0), ROW - 8, "soft", None, 3, 0.22))
    return [*marks, *_arrays(found, row, scale, top)]


def _arrays(found: Footprints, row: LoopRow, scale: LogScale, top: float) -> list[Mark]:
    """A mark for each array; those that hold as much stand side by side around their place."""
    marks: list[Mark] = []
    own = sorted(row.footprint.arrays, key=lambda a: (a.held_bytes, found.arrays.index(a.array)))
    for a, x in zip(own, _apart([scale.at(max(a.held_bytes, 1)) for a in own], 9.5), strict=True):
        number = found.numbers[found.arrays.index(a.array)]
        used = f"each cell used {count_text(a.reuse)}×"
        words = f"{a.array}: holds {bytes_text(a.held_bytes)}, {bytes_text(a.moved_bytes)} moved, {used}"
        marks.append(Marker(x, top + ROW / 2, array_role(number), array_shape(number), 4.6, words))
    return marks


def _apart(places: list[float], gap: float) -> list[float]:
    """Rising places moved as little as it takes to keep a gap: clusters spread around their middle.

    >>> _apart([1.0, 10.0, 10.0, 30.0], 4.0)
    [1.0, 8.0, 12.0, 30.0]
    """
    clusters: list[list[float]] = []
    for place in places:
        clusters.append([place])
        while len(clusters) > 1 and _spread(clusters[-1], gap)[0] - _spread(clusters[-2], gap)[-1] < gap:
            last = clusters.pop()
            clusters[-1] += last
    return [x for cluster in clusters for x in _spread(cluster, gap)]


def _spread(cluster: list[float], gap: float) -> list[float]:
    start = sum(cluster) / len(cluster) - gap * (len(cluster) - 1) / 2
    return [start + gap * i for i in range(len(cluster))]


def _key(found: Footprints) -> Scene:
    """Which mark is which array."""
    marks: list[Mark] = []
    x = 0.0
    for i, name in zip(found.numbers, found.arrays, strict=True):
        text = Text(x + 14, 13, name, 12, array_role(i), mono=True, bold=True)
        marks += [Marker(x + 5, 9, array_role(i), array_shape(i), 4.6), text]
        x += 14 + text.width + 18
    return Scene(x, 18, tuple(marks))


def level_table(found: Footprints) -> Table:
    """One row for each cache: what it keeps, what goes through, operations for a byte."""
    rows = tuple(_level_row(level) for level in found.levels)
    return Table(rows, "", ("cache", "size", "keeps one iteration of", "moves", "FLOP/B"), (2,), (1, 3, 4))


def _level_row(level: Level) -> tuple[str, ...]:
    keeps = ", ".join(dict.fromkeys(level.keeps)) or "nothing"
    return (
        level.name,
        bytes_text(level.capacity),
        keeps,
        bytes_text(level.moved_bytes),
        count_text(level.intensity),
    )


def footprint_text(found: Footprints) -> str:
    """The same as two tables."""
    head = ("loop", "iterations", "holds", *found.arrays, "moved", "reuse", "fits")
    rows = tuple(_text_row(found, row) for row in found.rows if isinstance(row, LoopRow))
    right = tuple(range(1, len(head) - 1))
    return "\n".join(
        [
            f"footprint of {found.title}",
            *table_text(Table(rows, "", head, right=right), "  "),
            *table_text(level_table(found), "  "),
        ]
    )


def _text_row(found: Footprints, row: LoopRow) -> tuple[str, ...]:
    foot = row.footprint
    own = {a.array: bytes_text(a.held_bytes) for a in foot.arrays}
    touches, visits = (sum(getattr(a, what) for a in foot.arrays) for what in ("touches", "visits"))
    name = f"{'  ' * row.depth}{row.name}" if row.name else "everything"
    return (
        name,
        count_text(foot.iterations),
        bytes_text(foot.held_bytes),
        *(own.get(a, "-") for a in found.arrays),
        bytes_text(foot.moved_bytes),
        count_text(touches / max(1, visits)),
        row.fits or "memory",
    )
