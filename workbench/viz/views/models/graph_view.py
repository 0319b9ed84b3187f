"""`graph`: a model as a picture: what is computed of what, shapes between, colours for what one asks about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError, shown
from workbench.graph.engines.partitions import Partition
from workbench.graph.fusion.results import FusionResult
from workbench.graph.models import Model
from workbench.viz.draw.pictures import Picture
from workbench.viz.views.models.colouring import by_change, by_kind, fusion_graph, partition_graph
from workbench.viz.views.models.folding import MOST_NODES, default_folds, folded, paths_named
from workbench.viz.views.models.graph_drawing import graph_scene
from workbench.viz.views.models.model_graph import GraphNode, ModelGraph
from workbench.viz.views.models.reading_graph import model_graph
from workbench.wording import number_of

if TYPE_CHECKING:
    from workbench.graph.running.built_models import BuiltModel
    from workbench.graph.running.profiling.profiles import Profile


def graph(
    value: Model | FusionResult | Partition | BuiltModel, /, folds: Iterable[str] | None = None, *,
    profile: Profile | None = None, changes: bool = False, most: int = MOST_NODES,
) -> Picture:  # fmt: skip
    """The graph of a model, of one that was fused, divided among engines, or built.

    Of a model colours are kinds of operators, as definitions show them (with `changes`, what its last pass made); of a
    fusion the groups, with a cross on each edge between two kernels whose title is the reason; of a partition the
    engines.  `folds` are modules, functions and branches (`"layers.0"`) to be drawn as one node each; unless it is
    given, so many are folded that about `most` nodes are left.  With the `profile` of the built model nodes have times.
    WorkbenchError for a value that is none of these, or a module that is not there.
    """
    whole = whole_graph(value, changes=changes)
    whole = whole if profile is None else with_times(whole, profile)
    chosen = default_folds(whole, most) if folds is None else paths_named(whole, folds)
    drawn = folded(whole, chosen)
    return Picture(graph_text(drawn), graph_scene(drawn), data=drawn)


def whole_graph(value: Any, *, changes: bool = False) -> ModelGraph:
    """The graph of any value that has one, nothing folded."""
    match value:
        case Model():
            if changes and (step := next((a for a in reversed(value.trace) if a.changed), None)) is not None:
                return by_change(value, step.before, str(step.step))
            return by_kind(model_graph(value))
        case FusionResult():
            return fusion_graph(value)
        case Partition():
            return partition_graph(value)
    if hasattr(value, "is_straight"):  # importing what builds takes longer than drawing
        return by_kind(model_graph(value.model))
    raise WorkbenchError(f"graph: expected a model, fused, divided or built, but found {shown(value)}")


def with_times(graph: ModelGraph, profile: Profile) -> ModelGraph:
    """The graph with the milliseconds of each call, found by operator and label, in order.

    Of a model with control flow a call has those of all its runs together.
    """
    if profile.pieces:
        return _with_times_together(graph, profile)
    times: dict[tuple[str, str], list[float]] = {}
    for each in profile.nodes:
        times.setdefault((each.operator, each.label), []).append(each.milliseconds)
    nodes = []
    for node in graph.nodes:
        waiting = times.get((node.name, node.label), []) if node.kind == "call" else []
        nodes.append(replace(node, milliseconds=waiting.pop(0)) if waiting else node)
    left = sum(len(rest) for rest in times.values())
    more = (f"not in this graph: {number_of(left, 'node')} of the profile",) if left else ()
    return replace(graph, nodes=tuple(nodes), facts=(*graph.facts, *more))


def _with_times_together(graph: ModelGraph, profile: Profile) -> ModelGraph:
    """Calls that several nodes may be, or none, have no time."""
    times: dict[tuple[str, str], float] = {}
    for each in profile.nodes:
        key = each.operator.removesuffix("_vmap"), each.label
        times[key] = times.get(key, 0.0) + each.milliseconds
    counts = Counter((node.name, node.label) for node in graph.nodes if node.kind == "call")
    nodes = tuple(
        replace(node, milliseconds=times.get(key)) if node.kind == "call" and counts[key] == 1 else node
        for node in graph.nodes
        if (key := (node.name, node.label))
    )
    several = sorted({name for (name, label), count in counts.items() if count > 1 and (name, label) in times})
    more = (f"several nodes share the times of {', '.join(several)}",) if several else ()
    return replace(graph, nodes=nodes, facts=(*graph.facts, *more))


# --- in words


def graph_text(graph: ModelGraph) -> str:
    """A line for each node: what it takes, its shape, its colour in words; then cuts."""
    lines = [graph.title, *(f"  {each}" for each in graph.facts)]
    named = {node.id: f"%{at}" for at, node in enumerate(graph.nodes)}
    takes: dict[str, list[str]] = {node.id: [] for node in graph.nodes}
    for edge in graph.edges:
        takes[edge.target].append(named[edge.source] + (f" as {edge.words}" if edge.words else ""))
    rows = [(named[n.id], _call(n, takes[n.id]), n.type, _said(graph, n)) for n in graph.nodes]
    widths = [min(max(len(row[at]) for row in rows), 64) for at in range(3)] if rows else []
    for row in rows:
        lines.append("  " + "  ".join(f"{c:<{w}}" for c, w in zip(row, [*widths, 0], strict=True)).rstrip())
    if graph.folded:
        lines.append(f"  folded: {', '.join('.'.join(path) for path in sorted(graph.folded))}")
    both = {node.id: f"{named[node.id]} {node.name}" for node in graph.nodes}
    cuts = [f"  {both[e.source]} | {both[e.target]}: {e.cut}" for e in graph.edges if e.cut]
    return "\n".join([*lines, *(["cuts", *cuts] if cuts else [])])


def _call(node: GraphNode, takes: list[str]) -> str:
    where = f" in {node.where}" if node.path else ""
    held = f" [{node.label}]" if node.kind == "folded" else ""
    return f"{node.name}({', '.join(takes)}){held}{where}" if takes else f"{node.name}{held}{where}"


def _said(graph: ModelGraph, node: GraphNode) -> str:
    at = graph.colouring.of.get(node.id)
    words = "" if at is None else graph.colouring.meanings[at].words
    time = "" if node.milliseconds is None else f"{node.milliseconds:.4f} ms"
    return ", ".join(filter(None, (words, time)))
