"""`dataflow`: statements in the order they run, the arrays between them, bytes on every edge; it leads into each nest.

The layout is that of channel routing: each array that statements hand on has a vertical track, and tracks are shared
by arrays that are never needed at once (Hashimoto and Stevens, Wire routing by optimizing channel assignment, 1971).
"""

from __future__ import annotations

from textwrap import wrap

from workbench.errors import WorkbenchError
from workbench.poly.programs.program import Program
from workbench.records import record
from workbench.schedules import Schedule, Verdict
from workbench.viz.draw.markup import Markup, element, join
from workbench.viz.draw.palette import array_glyph, array_role, array_shape, glyph, shape, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.scene import Box, Line, Mark, Marker, Scene, Text, above, move, paragraph
from workbench.viz.draw.svg import svg_text
from workbench.viz.frames.coordinates import Subject, subject
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.domain_data import Panel, domain_data
from workbench.viz.views.domain.domain_view import captions, panel_scene
from workbench.viz.views.program.dataflow_data import Dataflow, Edge, Nest, Step, dataflow_data

STUB, HEAD, PAD = 20.0, 21.0, 8.0  # pixels of a row with an edge, of a nest's title, around a nest
TRACK = 15.0
TITLE, TOP, GAP = 12.5, 22.0, 8.0  # letters of the title, pixels of its row and below it
LONGEST, WIDEST, MOST_LINES = 46, 78, 3  # letters of what an instance does: beside its name, below it, and how often
MOST_NESTS = 24


def dataflow(value: Program | Schedule | Verdict) -> Picture:
    """What flows from statement to statement: a row for each as they run, boxes around those that share loops.

    Arrays from outside come in on the left; what a statement writes leaves on the right, and runs down to those that
    read it.  On each edge stand the bytes of the distinct cells that the statement touches, or the array's shape while
    a size is open.  As HTML each nest can be opened: its iteration domain is below.

    Raises WorkbenchError for what is no program, schedule or verdict.
    """
    of = subject(value)
    found = dataflow_data(of)
    scene = dataflow_scene(found)
    return Picture(dataflow_text(found), scene, join([svg_text(scene, styled=False), *_inside(of, found)]), data=found)


# -- Layout: how high each row is, which track each array runs on --


@record
class Row:
    """A statement's place: its top, and the edges on its left and on its right, one below another."""

    step: Step
    top: float
    left: tuple[Edge, ...]
    right: tuple[Edge, ...]

    @property
    def height(self) -> float:
        lines = len({text.y for text in _words(self.step)})
        return STUB * max(lines, len(self.left), len(self.right)) + 4

    def at(self, place: int) -> float:
        """Where an edge meets the statement."""
        return self.top + STUB * place + 15


@record
class Layout:
    """Rows, boxes of nests (top, height, title), tracks of arrays, and where the columns begin."""

    rows: tuple[Row, ...]
    nests: tuple[tuple[float, float, str], ...]
    tracks: dict[str, int]
    left: float
    middle: float
    right: float

    def track(self, array: str) -> float:
        """The pixel of an array's track."""
        return self.left + self.middle + self.right + 12 + TRACK * self.tracks[array]


def _layout(found: Dataflow) -> Layout:
    rows: list[Row] = []
    boxes: list[tuple[float, float, str]] = []
    y = 0.0
    for nest in found.nests:
        start, y = y, y + HEAD
        for step in nest.steps:
            outside = tuple(e for e in step.reads if found.places[e.array] == "outside")
            handed = tuple(e for e in step.reads if e not in outside)
            rows.append(row := Row(step, y, outside, (*handed, *step.writes)))
            y += row.height
        boxes.append((start, y - start + 3, _loops(nest)))
        y += PAD + 3
    edges = [_label(e) for r in rows for e in r.left], [_label(e) for r in rows for e in r.right]
    left, right = (max((t.width + 46 for t in own), default=0.0) for own in edges)
    titles = [text.x + text.width for r in rows for text in _words(r.step)]
    middle = max([*titles, *(Text(0, 0, title, 11).width for _, _, title in boxes)]) + 2 * PAD + 4
    return Layout(tuple(rows), tuple(boxes), _tracks(rows), left, middle, right)


def _tracks(rows: list[Row]) -> dict[str, int]:
    """Array → track: from its first row to its last none but it runs there.  The shortest stay next to the rows."""
    spans: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        for edge in row.right:
            spans.setdefault(edge.array, []).append(number)
    taken: list[list[tuple[int, int]]] = []
    found: dict[str, int] = {}
    for array, own in sorted(spans.items(), key=lambda item: (item[1][-1] - item[1][0], item[1][0])):
        first, last = own[0], own[-1]
        free = (n for n, track in enumerate(taken) if all(last < a or b < first for a, b in track))
        found[array] = place = next(free, len(taken))
        if place == len(taken):
            taken.append([])
        taken[place].append((first, last))
    return found


def _loops(nest: Nest) -> str:
    return f"for {', '.join(nest.loops)}" if nest.loops else "once"


# -- Marks --


def dataflow_scene(found: Dataflow) -> Scene:
    """Boxes, statements, edges, tracks; then what the marks mean."""
    own = _layout(found)
    marks: list[Mark] = [m for box in own.nests for m in _box(own, *box)]
    marks += [m for array in own.tracks for m in _track(own, array)]
    for row in own.rows:
        marks += _statement(own, row)
        marks += [m for n, edge in enumerate(row.left) for m in _from_outside(own, row.at(n), edge)]
        marks += [m for n, edge in enumerate(row.right) for m in _handed_on(own, found, row.at(n), edge)]
    head = Text(0, 13, f"dataflow of {found.title}", TITLE, bold=True)
    wide = own.left + own.middle + own.right + 12 + TRACK * (1 + max(own.tracks.values(), default=0)) + 12
    high = max((top + height for top, height, _ in own.nests), default=0.0)
    body = Scene(wide, high, tuple(marks))
    first = Scene(head.width, TOP, (head,), head.text)
    return above(first, body, paragraph(_notes(found), max(wide, 420)), gap=GAP)


def statement_boxes(found: Dataflow) -> dict[str, tuple[float, float, float, float]]:
    """Where `dataflow_scene` has each statement: left, top, width, height."""
    own = _layout(found)
    return {row.step.name: (own.left, row.top + TOP + GAP, own.middle, row.height) for row in own.rows}


def _box(own: Layout, top: float, height: float, title: str) -> list[Mark]:
    x = own.left
    return [
        Box(x, top, own.middle, height, "panel", None, 6, 0.8),
        Box(x, top, own.middle, height, None, "grid", 6),
        Text(x + PAD, top + 14, title, 11, "soft", mono=True),
    ]


def _words(step: Step) -> list[Text]:
    """Name and dims, then what an instance does: beside it, or below it if it is long."""
    title = f"{step.name}({', '.join(step.dims)})"
    name = Text(PAD + 14, 0, title, 12, statement_role(step.number), mono=True, bold=True)
    if len(step.line) <= LONGEST:
        begins = 16.0 if step.begins is not None else 0.0
        return [name, Text(name.x + name.width + 10 + begins, 0, step.line, 11, "soft", mono=True)]
    lines = wrap(step.line, WIDEST, max_lines=MOST_LINES, placeholder=" …")
    return [name, *(Text(name.x, STUB * n, line, 11, "soft", mono=True) for n, line in enumerate(lines, 1))]


def _statement(own: Layout, row: Row) -> list[Mark]:
    step, base = row.step, row.at(0)
    name, *lines = _words(step)
    mark = Marker(own.left + PAD + 5, base - 3, statement_role(step.number), shape(step.number), 4.6)
    marks: list[Mark] = [mark, *(move(text, own.left, base + 1) for text in (name, *lines))]
    if step.begins is not None:
        x, role = own.left + name.x + name.width + 11, statement_role(step.begins)
        marks.append(Marker(x, base - 3, role, shape(step.begins), 3.8, "begins the cells"))
    return marks


def _label(edge: Edge) -> Text:
    """Name and bytes of an edge."""
    amount = edge.shape if edge.touched_bytes is None else bytes_text(edge.touched_bytes)
    return Text(0, 0, f"{edge.array}  {amount}", 11, array_role(edge.number))


def edge_label(edge: Edge) -> str:
    """Name of an array, and its bytes or its shape."""
    return _label(edge).text


def _from_outside(own: Layout, y: float, edge: Edge) -> list[Mark]:
    """A mark, name and bytes, and an arrow into the statement."""
    role, text = array_role(edge.number), _label(edge)
    end = own.left
    return [
        Marker(end - text.width - 38, y - 3.5, role, array_shape(edge.number), 4.4),
        move(text, end - text.width - 30, y),
        Line((end - 26, y - 3.5), (end - 1, y - 3.5), role, 1.3, head=True),
    ]


def _handed_on(own: Layout, found: Dataflow, y: float, edge: Edge) -> list[Mark]:
    """Between a statement and an array's track, with the name and bytes above the line."""
    role, start, x = array_role(edge.number), own.left + own.middle, own.track(edge.array)
    line = y + 2.0
    text = move(_label(edge), start + 26, line - 3)
    reads = edge.kind == "read"
    near, far = (start + 1, line), (x, line)
    marks: list[Mark] = [Line(far if reads else near, near if reads else far, role, 1.3, head=reads), text]
    marks.append(Marker(start + 18, line - 6.5, role, array_shape(edge.number), 4.2))
    form = "square" if found.places[edge.array] == "result" else "disc"
    return marks if reads else [*marks, Marker(x, line, role, form, 3.2)]


def _track(own: Layout, array: str) -> list[Mark]:
    """From the array's first edge to its last."""
    places = [(row.at(n) + 2.0, edge) for row in own.rows for n, edge in enumerate(row.right) if edge.array == array]
    x, (first, edge), (last, _) = own.track(array), places[0], places[-1]
    return [Line((x, first), (x, last), array_role(edge.number), 2.0)] if last > first else []


def _notes(found: Dataflow) -> list[str]:
    results = [name for name, place in found.places.items() if place == "result"]
    begun = any(step.begins is not None for step in found.steps)
    return [
        "Left: what comes from outside.  Right: what is handed on, from ● (■ a result) to the arrows.",
        *(["A small mark beside a name is its .init, which sets the cells first."] if begun else []),
        *([f"Results: {', '.join(results)}."] if results else []),
    ]


def dataflow_text(found: Dataflow) -> str:
    """The nests as indented lines, each statement with what it reads and writes."""
    lines = [f"dataflow of {found.title}"]
    for nest in found.nests:
        lines.append(f"  {_loops(nest)}")
        lines += [f"    {_said(step)}" for step in nest.steps]
    return "\n".join(lines)


def _said(step: Step) -> str:
    reads = ", ".join(f"{array_glyph(e.number)} {_label(e).text}" for e in step.reads) or "nothing"
    writes = ", ".join(f"{array_glyph(e.number)} {_label(e).text}" for e in step.writes)
    return f"{glyph(step.number)} {step.name}({', '.join(step.dims)}): {reads} → {writes}"


# -- Into the nests --


def _inside(of: Subject, found: Dataflow) -> list[Markup]:
    """For each nest its iteration domain, to be opened; nothing where there is one nest, or too many."""
    if not 1 < len(found.nests) <= MOST_NESTS:
        return []
    try:
        drawn = domain_data(of, Asked())
    except WorkbenchError:
        return []
    notes = element("div", " ".join(captions(drawn)), class_="wb-note")
    return [*(_opened(panel) for panel in drawn.panels), notes]


def _opened(panel: Panel) -> Markup:
    names = ", ".join(layer.statement for layer in panel.layers)
    drawing = svg_text(panel_scene(panel), styled=False)
    return element("details", element("summary", f"into the nest of {names}"), drawing)
