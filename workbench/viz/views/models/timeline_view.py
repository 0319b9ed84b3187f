"""`timeline`: when each node of a built model runs and for how long, a line for each operator."""

from __future__ import annotations

from collections import Counter

from workbench.errors import WorkbenchError, shown
from workbench.graph.running.profiling.profiles import NodeTime, Profile
from workbench.runtime.measuring.timing import duration
from workbench.viz.draw.palette import array_shape, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import SANS_WIDTH, Box, Line, Mark, Marker, Scene, Text, above, paragraph
from workbench.viz.draw.tables import Table, table_text
from workbench.wording import number_of

WIDE, TOP, ROW, BAR = 640.0, 4.0, 24.0, 15.0
MOST_ROWS, FONT, TEXT_BAR = 14, 11.5, 40
OTHERS = "all others"
MOST_FUNCTIONS = 4
NOTE = "A bar is a node, where it stands in a call, as long as it takes (the least of all runs). Nodes run one by one."
NOTE_OF_PIECES = (
    "A bar is a node of the shortest run, where it stands in it, as long as it took. Above them are the calls of "
    "compiled pieces, a line for each function; what lies between two of them is Python's."
)


def timeline(profile: Profile) -> Picture:
    """The nodes of a profile over time: a line for each operator, those that take longest first.

    WorkbenchError for what is no profile.
    """
    if not isinstance(profile, Profile):
        raise WorkbenchError(f"timeline: {shown(profile)} is no Profile; built.profile(...) makes one")
    return Picture(timeline_text(profile), timeline_scene(profile), data=profile)


def timeline_rows(profile: Profile) -> dict[str, float]:
    """Operator → milliseconds, the most first; those that have no line of their own together, as the last."""
    found = profile.by_operator()
    if len(found) <= MOST_ROWS:
        return found
    first = dict(list(found.items())[: MOST_ROWS - 1])
    return {**first, OTHERS: sum(found.values()) - sum(first.values())}


def piece_rows(profile: Profile) -> dict[str, float]:
    """Function → milliseconds of the calls of its compiled pieces, the most first; nothing for a straight model."""
    found: dict[str, float] = {}
    for piece in profile.pieces:
        found[piece.function] = found.get(piece.function, 0.0) + piece.milliseconds
    found = dict(sorted(found.items(), key=lambda item: -item[1]))
    if len(found) <= MOST_FUNCTIONS:
        return found
    first = dict(list(found.items())[: MOST_FUNCTIONS - 1])
    return {**first, OTHERS: sum(found.values()) - sum(first.values())}


def timeline_text(profile: Profile) -> str:
    """A row for each operator: calls, milliseconds, part of the call, a bar as long."""
    rows, whole = timeline_rows(profile), profile.inside or 1.0
    counts = Counter(_row(node, rows) for node in profile.nodes)
    cells = tuple(
        (name, str(counts[name]), f"{ms:.4f}", f"{ms / whole:.1%}", "█" * round(TEXT_BAR * ms / whole))
        for name, ms in rows.items()
    )
    table = Table(cells, "", ("operator", "nodes", "ms", "part", ""), right=(1, 2, 3))
    return "\n".join([_heading(profile), *table_text(table, "  "), "", *str(profile).splitlines()[1:]])


def _heading(profile: Profile) -> str:
    calls = f" of {number_of(len(profile.pieces), 'call')} of compiled pieces" if profile.pieces else ""
    nodes = number_of(len(profile.nodes), "node")
    return f"{profile.milliseconds:.4f} ms a call, {profile.inside:.4f} ms of it in {nodes}{calls}"


def _row(node: NodeTime, rows: dict[str, float]) -> str:
    return node.operator if node.operator in rows else OTHERS


def timeline_scene(profile: Profile) -> Scene:
    """The bars over an axis of milliseconds, below what all of it takes."""
    head = Text(0, 13, _heading(profile), 12.5, bold=True)
    chart = timeline_chart(profile)
    heading = Scene(head.width, 18, (head,), _heading(profile))
    note = NOTE_OF_PIECES if profile.pieces else NOTE
    return above(heading, chart, paragraph((note,), chart.width), gap=4)


def left_of(profile: Profile) -> float:
    """Where the axis begins: behind the names of operators."""
    names = (*piece_rows(profile), *timeline_rows(profile))
    return max([len(name) for name in names] or [0]) * FONT * (SANS_WIDTH + 0.04) + 34


def timeline_chart(profile: Profile) -> Scene:
    """The bars with their axis and names alone."""
    above_them, rows, left = piece_rows(profile), timeline_rows(profile), left_of(profile)
    count = len(above_them) + len(rows)
    marks: list[Mark] = _axis(profile, left, WIDE / (profile.span or 1.0), count)
    for at, (name, ms) in enumerate((*above_them.items(), *rows.items())):
        y = TOP + ROW * at + ROW / 2
        if at >= len(above_them):
            number = at - len(above_them)
            marks.append(Marker(7, y, statement_role(number), array_shape(number), 4.6))
        marks.append(Text(18, y + 4, name, FONT))
        part = ms / (profile.span or 1.0)
        share = f"{part:.0%}" if part >= 0.005 else "< 1%"
        marks.append(Text(left + WIDE + 10, y + 4, f"{duration(ms / 1e3)}, {share}", FONT, "soft"))
    marks += [*_pieces(profile), *node_bars(profile)]
    return Scene(left + WIDE + 110, TOP + ROW * count + 30, tuple(marks), _heading(profile))


def _pieces(profile: Profile) -> list[Box]:
    """The bar of each call of a compiled piece."""
    rows, left, unit = piece_rows(profile), left_of(profile), WIDE / (profile.span or 1.0)
    place = {name: at for at, name in enumerate(rows)}
    found = []
    for piece in profile.pieces:
        top = TOP + ROW * place.get(piece.function, len(rows) - 1) + (ROW - BAR) / 2
        width = max(piece.milliseconds * unit, 0.8)
        found.append(Box(left + piece.begin * unit, top, width, BAR, "soft", None, min(2.0, width / 3)))
    return found


def node_bars(profile: Profile) -> list[Box]:
    """The bar of each node, in order."""
    rows, left, unit = timeline_rows(profile), left_of(profile), WIDE / (profile.span or 1.0)
    place = {name: at for at, name in enumerate(rows)}
    found = []
    for node, begin in zip(profile.nodes, profile.starts, strict=True):
        at, width = place[_row(node, rows)], max(node.milliseconds * unit, 0.8)
        top = TOP + ROW * (at + len(piece_rows(profile))) + (ROW - BAR) / 2
        found.append(Box(left + begin * unit, top, width, BAR, statement_role(at), None, min(2.0, width / 3)))
    return found


def _axis(profile: Profile, left: float, unit: float, rows: int) -> list[Mark]:
    bottom = TOP + ROW * rows
    found: list[Mark] = [Box(left, TOP, WIDE, ROW * rows, "panel", "grid", 0.0)]
    step = tick_step(profile.span)
    for number in range(int(profile.span / step) + 1 if profile.span else 1):
        x = left + number * step * unit
        found.append(Line((x, TOP), (x, bottom), "grid", 0.8))
        found.append(Text(x, bottom + 14, f"{number * step:g}", 10.5, "soft", "middle"))
    words = "milliseconds" if profile.pieces else "milliseconds in nodes"
    return [*found, Text(left + WIDE, bottom + 28, words, FONT, "ink", "end")]


def tick_step(whole: float) -> float:
    """A round distance of ticks, for about eight of them.

    >>> tick_step(1.0), tick_step(37.0), tick_step(0.004)
    (0.2, 5.0, 0.0005)
    """
    if whole <= 0:
        return 1.0
    power = 10.0 ** len(str(int(whole)))
    while power > whole / 8:
        power /= 10
    return next(float(f"{power * each:.6g}") for each in (1, 2, 5, 10) if power * each >= whole / 8)
