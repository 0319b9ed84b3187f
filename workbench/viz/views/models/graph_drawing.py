"""The drawing of a model's graph: boxes with their colours, edges with what flows along them, a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import dist

from workbench.records import record
from workbench.viz.draw.scene import (
    SANS_WIDTH,
    XY,
    Box,
    Line,
    Mark,
    Marker,
    Path,
    Scene,
    Text,
    above,
    paragraph,
    place,
)
from workbench.viz.views.models.graph_layout import (
    BELOW,
    NAME,
    SMALL,
    Layout,
    Placed,
    box_height,
    frame_name,
    laid_out,
    second_line,
)
from workbench.viz.views.models.model_graph import Colouring, GraphEdge, GraphNode, ModelGraph

TIP, MOST_MEANINGS = 8.0, 8
FILL = {"input": "ground", "result": "ground", "control": "panel", "function": "panel"}


@record(eq=False)
class Chart:
    """The graph without title and legend: its scene, and where in it each node's box stands and each cut's cross."""

    scene: Scene
    boxes: Mapping[str, Placed]
    cuts: Mapping[GraphEdge, XY]


def graph_chart(graph: ModelGraph) -> Chart:
    """The drawing of the graph alone."""
    layout = laid_out(graph)
    marks = [*_frames(graph, layout), *_edges(graph, layout), *_nodes(graph, layout)]
    frames = layout.frames.values()
    left, top = min([0.0, *(f.x for f in frames)]), min([0.0, *(f.y for f in frames)])
    right = max([layout.width, *(f.x + f.width for f in frames)])
    bottom = max([layout.height, *(f.y + f.height for f in frames)])
    dx, dy = 1 - left, 8 - top
    drawn = Scene(layout.width, layout.height, tuple(marks))
    scene = Scene(right - left + 2, bottom - top + 10, place(drawn, dx, dy), graph.title)
    boxes = {name: Placed(b.x + dx, b.y + dy, b.width, b.height) for name, b in layout.boxes.items()}
    cuts = {e: _along(r, 0.5) for e, r in zip(graph.edges, layout.routes, strict=True) if e.cut}
    return Chart(scene, boxes, {edge: (x + dx, y + dy) for edge, (x, y) in cuts.items()})


def graph_scene(graph: ModelGraph) -> Scene:
    """Title, facts, legend and graph, one below another."""
    chart = graph_chart(graph).scene
    width = max(chart.width, 420.0)
    head = Text(0, 13, _shortened(graph.title, width), 12.5, bold=True)
    heading = Scene(head.width, 18, (head,), graph.title)
    return above(heading, paragraph(graph.facts, width), legend_scene(graph.colouring, width), chart, gap=8)


def _shortened(text: str, width: float) -> str:
    most = int(width / (12.5 * SANS_WIDTH))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def legend_scene(colouring: Colouring, width: float) -> Scene:
    """What colours and shapes mean, in lines as wide as the picture; of many meanings only how often each occurs."""
    if len(colouring.meanings) > MOST_MEANINGS:
        counts = Counter(each.words for each in colouring.meanings).most_common()
        listed = ", ".join(f"{words} ({count})" for words, count in counts[:MOST_MEANINGS])
        more = f", and {len(counts) - MOST_MEANINGS} other kinds" if len(counts) > MOST_MEANINGS else ""
        head = f"{len(colouring.meanings)} {colouring.title}, neighbours in other colours"
        return paragraph([f"{head}: {listed}{more}"], width)
    title = Text(0, 14, f"{colouring.title}:", 11.5, "soft")
    x, y = title.width + 10, 14.0
    marks: list[Mark] = [title] if colouring.meanings else []
    for each in colouring.meanings:
        words = Text(0, 0, str(each), 11.5)
        if x and x + words.width + 18 > width:
            x, y = 0.0, y + 18
        marks += [Marker(x + 6, y - 4, each.role, each.shape, 4.6), Text(x + 16, y, str(each), 11.5)]
        x += words.width + 32
    return Scene(width, y + 6, tuple(marks))


# --- nodes


def _nodes(graph: ModelGraph, layout: Layout) -> Iterator[Mark]:
    for node in graph.nodes:
        at = graph.colouring.of.get(node.id)
        meant = None if at is None else graph.colouring.meanings[at]
        yield from _node(node, layout.boxes[node.id], None if meant is None else (meant.role, meant.shape))
        yield from _shares(graph.colouring, node.id, layout.boxes[node.id])


def _shares(colouring: Colouring, name: str, box: Placed) -> Iterator[Mark]:
    """A strip at the lower border of a folded module: which part of its nodes means what."""
    counts = colouring.mixed.get(name, {})
    x, whole = box.x + 6, max(sum(counts.values()), 1)
    for at, count in counts.items():
        width = (box.width - 12) * count / whole
        yield Box(x, box.y + box.height - 5.5, width, 4, colouring.meanings[at].role, None, 1.0)
        x += width


def _node(node: GraphNode, box: Placed, colour: tuple[str, str] | None) -> Iterator[Mark]:
    round_ = box.height / 2 if node.kind in ("input", "result") else 5.0
    fill, edge = FILL.get(node.kind, "panel"), "soft" if colour is None else colour[0]
    if node.kind == "folded":
        yield Box(box.x + 3, box.y + 3, box.width, box.height, "ground", edge, round_)
    yield Box(box.x, box.y, box.width, box.height, "ground", None, round_)
    if colour is not None:
        yield Box(box.x, box.y, box.width, box.height, colour[0], None, round_, 0.16)
        yield Box(box.x, box.y, box.width, box.height, None, edge, round_)
        yield Marker(box.x + 12, box.y + box.height / 2, colour[0], colour[1], 4.4)
    else:
        yield Box(box.x, box.y, box.width, box.height, fill, edge, round_)
    yield from _words(node, box, 7.0 if colour is not None else 0.0)


def _words(node: GraphNode, box: Placed, shift: float) -> Iterator[Mark]:
    middle, below = box.x + box.width / 2 + shift, second_line(node)
    bold, italic = node.kind in ("call", "folded"), node.kind in ("control", "function")
    yield Text(middle, box.y + 15.5, node.name, NAME, "ink", "middle", bold=bold, italic=italic)
    if below:
        yield Text(middle, box.y + 29, below, SMALL, "soft", "middle")
    if node.shape:
        yield Text(box.x + box.width / 2, box.y + box_height(node) + BELOW - 4, node.shape, SMALL, "soft", "middle")


# --- edges and frames


def _edges(graph: ModelGraph, layout: Layout) -> Iterator[Mark]:
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        role = "ink" if edge.cut else "soft"
        yield Path(tuple(curve(route)), role, 1.1, 0.85)
        yield Line((route[-1][0], route[-1][1] - TIP), route[-1], role, 1.1, head=True)
        if edge.words:
            yield from _label(edge, route)
    for edge, route in zip(graph.edges, layout.routes, strict=True):
        if edge.cut:
            x, y = _along(route, 0.5)
            yield Marker(x, y, "ink", "cross", 3.5, edge.cut)


def _label(edge: GraphEdge, route: tuple[XY, ...]) -> Iterator[Mark]:
    x, y = _along(route[-2:], 0.45)
    words = Text(x, y + 3.5, edge.words, SMALL, "soft", "middle", italic=True)
    yield Box(x - words.width / 2 - 2, y - 6, words.width + 4, 13, "ground", None, 2.0, 0.9)
    yield words


def _along(route: tuple[XY, ...], part: float) -> XY:
    """The point behind that part of an edge's length."""
    pieces = list(pairwise(curve(route)))
    left = part * sum(dist(a, b) for a, b in pieces)
    for a, b in pieces:
        if (length := dist(a, b)) >= left and length:
            return a[0] + (b[0] - a[0]) * left / length, a[1] + (b[1] - a[1]) * left / length
        left -= length
    return route[-1]


def curve(route: tuple[XY, ...]) -> list[XY]:
    """Points along an edge that leaves and enters vertically, up to its arrow; a level piece stays one."""
    found = [route[0]]
    tip = route[-1][0], route[-1][1] - TIP
    for (x0, y0), (x1, y1) in pairwise((*route[:-1], tip)):
        if abs(x0 - x1) < 0.5 or abs(y0 - y1) < 0.5:
            found.append((x1, y1))
            continue
        for step in range(1, 11):
            t = step / 10
            eased = t * t * (3 - 2 * t)
            found.append((x0 + (x1 - x0) * eased, y0 + (y1 - y0) * t))
    return found


def _frames(graph: ModelGraph, layout: Layout) -> Iterator[Mark]:
    for path, frame in layout.frames.items():
        yield Box(frame.x, frame.y, frame.width, frame.height, "panel", "grid", 6.0, 0.75)
        yield Text(frame.x + 6, frame.y + 11, frame_name(path), 9.5, "soft", italic=True)
