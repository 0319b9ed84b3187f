"""`domain`: the iteration domain on two axes, its statements in colours, its dependences as arrows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd, hypot

from workbench.poly.programs.program import DependenceKind, Program
from workbench.schedules import Schedule, Verdict
from workbench.viz.draw.axes import Axes, axes_for
from workbench.viz.draw.geometry import hull, is_convex
from workbench.viz.draw.palette import glyph, shape, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import XY, Line, Mark, Marker, Polygon, Scene, Text, above, beside, paragraph
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.domain_data import Arrow, Domain, Layer, Panel, domain_data
from workbench.viz.views.domain.small_problem import drawn_of
from workbench.wording import number_of

# Kind → (colour role, width, dashes, opacity).
STROKES: dict[DependenceKind, tuple[str, float, tuple[float, float] | None, float]] = {
    "flow": ("ink", 1.3, None, 0.85),
    "anti": ("ink", 1.2, (5.0, 3.0), 0.7),
    "output": ("ink", 1.3, (1.2, 3.0), 0.8),
    "reduction": ("soft", 1.2, None, 0.5),
}
CROWDED = 160
SHORT = 14.0  # of several arrows between points so near, one is drawn


def domain(
    value: Program | Schedule | Verdict,
    x: str | None = None,
    y: str | None = None,
    sizes: Mapping[str, int] | None = None,
    statement: str | None = None,
) -> Picture:
    """The instances of a program's statements on two of its dims (of a schedule: dims or loops), with dependences.

    Axes that are not named are those along which dependences run.  Sizes that are symbolic or large are replaced by
    small ones, which the caption says; `sizes` fixes them.  Statements that share no loop stand in panels of their
    own; `statement` picks one panel.  Of a schedule or verdict that is illegal, a witness of each violated dependence
    is drawn in red.  Arrows that others of their kind imply are left out.  Of a schedule with too many instances to
    draw (one mapped to a GPU), the same steps are drawn on a smaller problem, which the caption says.

    Raises WorkbenchError for an axis, size or statement that does not exist.
    """
    found, said = drawn_of(value, Asked(x, y, sizes, statement), domain_data)
    found = replace(found, notes=(*said, *found.notes))
    return Picture(_domain_text(found), domain_scene(found), data=found)


def domain_scene(found: Domain, *, limit: float = 860.0) -> Scene:
    """Panels side by side as far as `limit` pixels allow, then the legend of the arrows and what must be said."""
    panels = beside([panel_scene(p) for p in found.panels], limit=limit)
    kinds: list[DependenceKind] = [
        k for k in STROKES if any(a.kind == k and not a.bad for p in found.panels for a in p.arrows)
    ]
    bad = any(a.bad for p in found.panels for a in p.arrows)
    return above(panels, legend(kinds, bad=bad), paragraph(captions(found), panels.width), gap=8)


def legend(kinds: list[DependenceKind], *, bad: bool = False) -> Scene:
    """One sample of each kind of arrow."""
    marks: list[Mark] = []
    x = 0.0
    names: list[tuple[str, Line]] = [(k, stroke(k, (0, 0), (0, 0))) for k in kinds]
    if bad:
        names.append(("violated", Line((0, 0), (0, 0), "bad", 2.4, head=True)))
    for name, line in names:
        marks.append(Line((x, 9), (x + 30, 9), line.role, line.width, line.dash, True, 0.0, line.opacity))
        marks.append(label := Text(x + 36, 13, name, 12, "soft"))
        x += 36 + label.width + 20
    return Scene(x, 18 if marks else 0, tuple(marks))


def stroke(kind: DependenceKind, start: XY, end: XY, bend: float = 0.0, *, faint: bool = False) -> Line:
    """An arrow in the style of its kind."""
    role, width, dash, opacity = STROKES[kind]
    return Line(start, end, role, width, dash, True, bend, opacity * (0.6 if faint else 1.0))


def panel_scene(panel: Panel) -> Scene:
    """Title, outlines, arrows, points, axes; painted in an order that keeps points on top."""
    axes = _axes(panel)
    shifts = offsets(panel.layers)
    title = _titles(panel.layers)
    marks: list[Mark] = []
    for layer, shift in zip(panel.layers, shifts, strict=True):
        marks += _outline(axes, layer, shift)
    marks += axes.marks()
    marks += _arrows(axes, panel, shifts)
    for layer, shift in zip(panel.layers, shifts, strict=True):
        marks += _points(axes, layer, shift, len(set(shifts)) > 1)
    label = f"iteration domain of {', '.join(layer.statement for layer in panel.layers)}"
    body = Scene(axes.width, axes.height, tuple(marks), label)
    return above(Scene(title.width, title.height, title.marks, label), body, gap=2)


def _axes(panel: Panel) -> Axes:
    cells = [c for layer in panel.layers for c in layer.cells]
    lanes: dict[str, set[int]] = {"x": set(), "y": set()}
    for layer in panel.layers:
        for i, letter in enumerate("xy"):
            if letter in layer.lane:
                lanes[letter] |= {c[i] for c in layer.cells}
    for i, letter in enumerate("xy"):
        lanes[letter] -= {c[i] for layer in panel.layers if letter not in layer.lane for c in layer.cells}
    return axes_for(panel.x, panel.y, cells, lanes["x"] if panel.x else (), lanes["y"] if panel.y else ())


def _titles(layers: tuple[Layer, ...]) -> Scene:
    """A key: the marker of each statement and the statement itself."""
    marks: list[Mark] = []
    x, y, width = 0.0, 0.0, 0.0
    for layer in layers:
        role = statement_role(layer.number)
        text = Text(x + 13, y + 13, f"{layer.statement}({', '.join(layer.dims)})", 12.5, role, bold=True)
        if x and x + text.width > 340:
            x, y = 0.0, y + 19
            text = Text(13, y + 13, text.text, 12.5, role, bold=True)
        marks += [Marker(x + 5, y + 8.5, role, shape(layer.number), 4.6), text]
        x += 13 + text.width * 1.02 + 12
        width = max(width, x)
    return Scene(width, y + 21, tuple(marks))


def offsets(layers: tuple[Layer, ...]) -> list[float]:
    """How far each layer moves off the middle of its cells (in cells), so that statements that share some are seen."""
    count = len(layers)
    shared = [any(a is not b and a.cells.keys() & b.cells.keys() for b in layers) for a in layers]
    members = [i for i in range(count) if shared[i]]
    step = min(0.34, 0.72 / max(1, len(members)))
    return [(members.index(i) - (len(members) - 1) / 2) * step if shared[i] else 0.0 for i in range(count)]


def _outline(axes: Axes, layer: Layer, shift: float) -> list[Mark]:
    if len(layer.cells) < 3 or not is_convex(layer.cells):
        return []
    corners = tuple(axes.at(x + shift, y + shift) for x, y in hull(layer.cells))
    return [Polygon(corners, statement_role(layer.number), 0.10, axes.unit * 0.3)]


def _points(axes: Axes, layer: Layer, shift: float, crowded: bool) -> list[Mark]:
    size = min(5.2, axes.unit * (0.12 if crowded else 0.17))
    role, form = statement_role(layer.number), shape(layer.number)
    return [Marker(*axes.at(x + shift, y + shift), role, form, size, name) for (x, y), name in layer.cells.items()]


def _arrows(axes: Axes, panel: Panel, shifts: list[float]) -> list[Mark]:
    faint = len(panel.arrows) > CROWDED
    pairs: dict[frozenset[tuple[int, tuple[int, int]]], int] = {}
    marks: list[Mark] = []
    for arrow in panel.arrows:
        ends = frozenset({(arrow.source, arrow.start), (arrow.target, arrow.end)})
        nth = 0 if arrow.bad else pairs.get(ends, -1) + 1
        pairs[ends] = nth
        line = _arrow(axes, arrow, shifts, nth, faint=faint)
        if not nth or arrow.bad or hypot(line.end[0] - line.start[0], line.end[1] - line.start[1]) > SHORT:
            marks.append(line)
    return marks


def _arrow(axes: Axes, arrow: Arrow, shifts: list[float], nth: int, *, faint: bool) -> Line:
    """From rim to rim; bent when it would run over other points or over another arrow of the same two points."""
    a, b = shifts[arrow.source], shifts[arrow.target]
    start, end = axes.at(arrow.start[0] + a, arrow.start[1] + a), axes.at(arrow.end[0] + b, arrow.end[1] + b)
    length = hypot(end[0] - start[0], end[1] - start[1]) or 1.0
    over = gcd(arrow.end[0] - arrow.start[0], arrow.end[1] - arrow.start[1]) > 1 and a == b
    bend = min(length * 0.16, axes.unit * 0.6) * over + nth * max(5.0, 0.1 * length) * (1 if nth % 2 else -1)
    rim = min(axes.unit * 0.2, 6.5, length * 0.3)
    dx, dy = (end[0] - start[0]) / length * rim, (end[1] - start[1]) / length * rim
    start, end = (start[0] + dx, start[1] + dy), (end[0] - dx, end[1] - dy)
    if arrow.bad:
        return Line(start, end, "bad", 2.6, None, True, bend)
    return stroke(arrow.kind, start, end, bend, faint=faint)


# -- The words that go with a domain: its captions, and its form as plain text --

SHARED = "∗"


def captions(found: Domain) -> list[str]:
    """What a reader must know: sizes, instances behind a point, what is not shown."""
    notes = [f"Violated: {'; '.join(p.violated)}." for p in found.panels if p.violated]
    notes += [_sentence(note) for note in found.notes]
    notes += _behind(found)
    within = sum(p.within or 0 for p in found.panels)
    if any(p.within is None for p in found.panels):
        notes.append("There are too many dependences to draw; choose smaller sizes.")
    if within:
        notes.append(f"Dependences between instances of one place: at {number_of(within, 'point')}.")
    hidden = [name for p in found.panels for name in p.hidden]
    if hidden:
        notes.append(f"Not shown (on neither axis): {', '.join(hidden)}.")
    return notes


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


def _behind(found: Domain) -> list[str]:
    """Which statements have several instances behind a point, and along which dims."""
    behind: dict[str, list[str]] = {}
    for panel in found.panels:
        for layer in panel.layers:
            if layer.folded:
                behind.setdefault(", ".join(layer.folded), []).append(layer.statement)
    said = [f"all {others} ({', '.join(names)})" for others, names in behind.items()]
    return [f"A point stands for {'; '.join(said)}."] if said else []


def _domain_text(found: Domain) -> str:
    """Panels as characters, one glyph a statement, then the arrows in numbers."""
    parts = [f"iteration domain of {found.title}"]
    for panel in found.panels:
        parts += ["", *_panel_lines(panel)]
    notes = captions(found)
    return "\n".join([*parts, "", *notes] if notes else parts)


def _panel_lines(panel: Panel) -> list[str]:
    keys = [
        f"{glyph(layer.number)} {layer.statement}({', '.join(layer.dims)})" for layer in panel.layers
    ]
    counts: dict[str, int] = {}
    for arrow in panel.arrows:
        name = "violated" if arrow.bad else arrow.kind
        counts[name] = counts.get(name, 0) + 1
    arrows = ", ".join(f"{n} {kind}" for kind, n in counts.items())
    return ["  ".join(keys), *_grid(panel), *([f"arrows: {arrows}"] if arrows else [])]


def _grid(panel: Panel) -> list[str]:
    cells = {c for layer in panel.layers for c in layer.cells}
    if not cells:
        return ["(no instances)"]
    columns = range(min(c[0] for c in cells), max(c[0] for c in cells) + 1)
    rows = range(min(c[1] for c in cells), max(c[1] for c in cells) + 1)
    wide = max(len(str(v)) for v in columns) + 1
    margin = max([len(panel.y), *(len(str(v)) for v in rows)]) if panel.y else 0
    head = f"{panel.y:>{margin}} " + "".join(f"{v:>{wide}}" for v in columns) + f"  {panel.x}"
    lines = [head.rstrip()]
    for y in rows:
        label = str(y) if panel.y else ""
        lines.append((f"{label:>{margin}} " + "".join(f"{_glyph(panel, (x, y)):>{wide}}" for x in columns)).rstrip())
    return lines


def _glyph(panel: Panel, cell: tuple[int, int]) -> str:
    here = [layer for layer in panel.layers if cell in layer.cells]
    return "" if not here else glyph(here[0].number) if len(here) == 1 else SHARED
