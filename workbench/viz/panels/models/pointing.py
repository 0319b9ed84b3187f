"""Pictures of a model for the front end: their marks, and what can be pointed at in them, with what is said of it."""

from __future__ import annotations

from typing import Any

from workbench.graph.memory import MemoryPlan
from workbench.graph.running.profiling.profiles import NodeTime, Profile
from workbench.runtime.measuring.timing import duration
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.scene import Box, Line, Mark, Marker, Path, Polygon, Scene, Text
from workbench.viz.messages.modelling import Colour, ModelPicture, Module, Picture, Place
from workbench.viz.views.models.arena_view import arena_boxes, arena_scene, arena_text
from workbench.viz.views.models.graph_drawing import MOST_MEANINGS, Chart, graph_chart
from workbench.viz.views.models.graph_view import graph_text
from workbench.viz.views.models.model_graph import Colouring, GraphEdge, GraphNode, ModelGraph
from workbench.viz.views.models.timeline_view import WIDE, left_of, node_bars, timeline_chart, timeline_text

CROSS = 7.0


def graph_picture(graph: ModelGraph) -> ModelPicture:
    """The graph; its nodes and cuts can be pointed at."""
    chart = graph_chart(graph)
    places = [_node(graph, node, chart) for node in graph.nodes]
    names = {node.id: node.name for node in graph.nodes}
    places += [_cut(edge, names, chart) for edge in graph.edges if edge.cut]
    return {"picture": picture_payload(chart.scene), "places": places, "words": graph_text(graph)}


def _node(graph: ModelGraph, node: GraphNode, chart: Chart) -> Place:
    box, at = chart.boxes[node.id], graph.colouring.of.get(node.id)
    colour = "" if at is None else graph.colouring.meanings[at].words
    label = f"{node.label}: " if node.label and node.kind != "folded" else ""
    held = f", {node.label}" if node.kind == "folded" else ""
    time = "" if node.milliseconds is None else f", {duration(node.milliseconds / 1e3)}"
    facts = filter(None, (colour, f"in {node.where}" if node.path else ""))
    return {
        "id": node.id, "box": [box.x, box.y, box.width, box.height],
        "words": f"{label}{node.name}{held}{f': {node.type}' if node.type else ''}{time}",
        "details": [*facts, *node.details], "opens": node.id if node.kind == "call" else "",
        "module": node.name if node.kind == "folded" else node.where,
    }  # fmt: skip


def _cut(edge: GraphEdge, names: dict[str, str], chart: Chart) -> Place:
    x, y = chart.cuts[edge]
    words = f"cut between {names[edge.source]} and {names[edge.target]}"
    box = [x - CROSS, y - CROSS, 2 * CROSS, 2 * CROSS]
    name = f"{edge.source}-{edge.target}"
    return {"id": name, "box": box, "words": words, "details": [edge.cut], "opens": "", "module": ""}


def legend_payload(colouring: Colouring) -> list[Colour]:
    """What the colours mean; of many only the first."""
    first = colouring.meanings[:MOST_MEANINGS]
    found: list[Colour] = [{"role": each.role, "shape": each.shape, "words": str(each)} for each in first]
    if len(colouring.meanings) > len(first):
        more = f"and {len(colouring.meanings) - len(first)} more, neighbours in other colours"
        found.append({"role": "", "shape": "", "words": more})
    return found


def modules_payload(whole: ModelGraph, drawn: ModelGraph) -> list[Module]:
    """The modules of several nodes, the outer ones before those in them, and whether each is one node now."""
    counts: dict[tuple[str, ...], int] = {}
    for node in whole.nodes:
        for depth in range(1, len(node.path) + 1):
            counts[node.path[:depth]] = counts.get(node.path[:depth], 0) + 1
    places = {path: at for at, path in enumerate(whole.modules)}
    order = sorted(counts, key=lambda path: [places[path[:n]] for n in range(1, len(path) + 1)])
    return [
        {"name": ".".join(path), "depth": len(path) - 1, "count": counts[path], "folded": path in drawn.folded}
        for path in order
        if counts[path] > 1 and not any(path[:n] in drawn.folded for n in range(1, len(path)))
    ]


def time_picture(profile: Profile, graph: ModelGraph) -> ModelPicture:
    """The timeline; a zoom makes its axis longer."""
    left = left_of(profile)
    by_name = {(node.name, node.label): node.id for node in graph.nodes if node.kind == "call"}
    places: list[Place] = []
    for at, (node, box, begin) in enumerate(zip(profile.nodes, node_bars(profile), profile.starts, strict=True)):
        opens = by_name.get((node.operator, node.label), "")
        places.append(_bar(f"t{at}", node, box, begin, opens))
    scene = timeline_chart(profile)
    return {"picture": picture_payload(scene, (left, left + WIDE)), "places": places, "words": timeline_text(profile)}


def _bar(name: str, node: NodeTime, box: Box, begin: float, opens: str) -> Place:
    label = f"{node.label}: " if node.label else ""
    details = [f"begins after {duration(begin / 1e3)}", *filter(None, (node.sizes, node.rate))]
    return {
        "id": name, "box": [box.x, box.y, box.width, box.height], "opens": opens, "module": "", "details": details,
        "words": f"{label}{node.name}: {duration(node.milliseconds / 1e3)}",
    }  # fmt: skip


def memory_picture(plan: MemoryPlan) -> ModelPicture:
    """The arena over time; its buffers can be pointed at."""
    steps = [step.name for step in plan.lifetimes.steps] + ["the end"]
    boxes = arena_boxes(plan)
    places: list[Place] = [
        {
            "id": each.buffer, "box": [box.x, box.y, box.width, box.height], "opens": "", "module": "",
            "words": f"{each.buffer}: {bytes_text(each.size)} at {each.offset}",
            "details": [f"needed from {steps[each.first]} to {steps[each.last]}"],
        }
        for each in plan.places if (box := boxes.get(each.buffer)) is not None
    ]  # fmt: skip
    return {"picture": picture_payload(arena_scene(plan)), "places": places, "words": arena_text(plan)}


# -- A scene as plain data: a list for each mark, its kind first; `js/src/graphs/marks.ts` draws them --

def picture_payload(scene: Scene, stretch: tuple[float, float] | None = None) -> Picture:
    """The scene; `stretch` is where the axis begins and ends that a zoom makes longer, if only that is to grow."""
    marks = [found for mark in scene.marks if (found := mark_payload(mark)) is not None]
    return {
        "width": round(scene.width, 1), "height": round(scene.height, 1), "marks": marks,
        "stretch": None if stretch is None else list(stretch),
    }  # fmt: skip


def mark_payload(mark: Mark) -> list[Any] | None:
    """One mark; nothing for polygons, which pictures of models have none of."""
    match mark:
        case Line(start, end, role, width, _, head, _, opacity):
            return ["line", *_px(*start, *end), role, width, head, opacity]
        case Path(points, role, width, opacity):
            return ["path", _px(*(value for point in points for value in point)), role, width, opacity]
        case Box(x, y, width, height, fill, edge, radius, opacity):
            return ["box", *_px(x, y, width, height), fill, edge, radius, opacity]
        case Marker(x, y, role, shape, size, _):
            return ["marker", *_px(x, y), role, shape, size]
        case Text(x, y, text, size, role, anchor, mono, bold, italic):
            style = "".join(letter for letter, set_ in zip("mbi", (mono, bold, italic), strict=True) if set_)
            return ["text", *_px(x, y), text, size, role, anchor, style]
        case Polygon():
            return None


def _px(*values: float) -> list[float]:
    return [round(value, 1) for value in values]
