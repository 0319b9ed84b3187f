"""What the colours of a model's graph say: kinds of operators, groups of fusion, engines, what a pass changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from workbench.graph.engines.partitions import Partition, Placed
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.fusion.results import FusionResult, Group
from workbench.graph.memory.byte_counts import Bytes
from workbench.graph.memory.byte_counts import size_text as bytes_in_words
from workbench.graph.models import Model
from workbench.runtime.measuring.timing import duration
from workbench.viz.draw.palette import array_shape, statement_role
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.views.models.model_graph import Colouring, GraphNode, Meaning, ModelGraph
from workbench.viz.views.models.reading_graph import model_graph
from workbench.wording import number_of

KINDS = {
    OpPattern.OUT_FUSABLE: "products, windows, normalised rows",
    OpPattern.ELEMENTWISE: "cell by cell",
    OpPattern.BROADCAST: "cell by cell",
    OpPattern.INJECTIVE: "cells move",
    OpPattern.REDUCTION: "sums of whole axes",
    OpPattern.OPAQUE: "in a way of its own",
}


def _meaning(at: int, words: str, count: int = 0) -> Meaning:
    """The colour and shape of that place."""
    return Meaning(statement_role(at), array_shape(at), words, count)


def coloured(graph: ModelGraph, title: str, words: dict[str, str]) -> ModelGraph:
    """The graph with a colour for each different word of `words` (node → word), in order of occurrence."""
    found = list(dict.fromkeys(words.values()))
    counts = Counter(words.values())
    meanings = tuple(_meaning(n, each, counts[each]) for n, each in enumerate(found))
    return replace(graph, colouring=Colouring(title, meanings, {k: found.index(v) for k, v in words.items()}))


def by_kind(graph: ModelGraph) -> ModelGraph:
    """Colours for how the cells of a result depend on those of the arguments, read off each definition."""
    order = list(dict.fromkeys(KINDS.values()))
    words = {n.id: KINDS[op_pattern(operator_of(n.calls[0]))] for n in graph.nodes if n.kind == "call"}
    known = dict(sorted(words.items(), key=lambda item: order.index(item[1])))
    return coloured(graph, "operators, by what their definitions say", known)


def by_change(model: Model, before: Model, step: str) -> ModelGraph:
    """Colours for the calls that a pass made: those of which there were not so many alike before."""
    graph = model_graph(model)
    old = Counter(_signature(node) for node in model_graph(before).nodes if node.kind == "call")
    words: dict[str, str] = {}
    for node in graph.nodes:
        if node.kind == "call":
            made = old[_signature(node)] <= 0
            old[_signature(node)] -= 1
            words[node.id] = "new" if made else "as before"
    gone = sum(count for count in old.values() if count > 0)
    new = number_of(list(words.values()).count("new"), "new call")
    graph = replace(graph, facts=(f"{step}: {new}, {gone} gone",))
    return coloured(graph, f"calls after {step}", dict(sorted(words.items(), key=lambda item: item[1] != "new")))


def _signature(node: GraphNode) -> tuple[str, str, int]:
    return node.name, node.type, len(node.details)


# --- fusion


def fusion_graph(result: FusionResult) -> ModelGraph:
    """The model before fusion; a colour for each group, on each edge between kernels why it is there."""
    graph = model_graph(result.original)
    home = {call: at for at, group in enumerate(result.groups) for call in group.calls}
    of = {n.id: home[n.calls[0]] for n in graph.nodes if len(n.calls) == 1 and n.calls[0] in home}
    meanings = tuple(_meaning(at, " + ".join(group.names)) for at, group in enumerate(result.groups))
    cuts = {(cut.producer, cut.consumer): cut.reason for cut in result.cuts}
    call = {node.id: node.calls[0] for node in graph.nodes if len(node.calls) == 1}
    edges = tuple(
        replace(edge, cut=cuts.get((call[edge.source], call[edge.target]), ""))
        if edge.source in call and edge.target in call else edge
        for edge in graph.edges
    )  # fmt: skip
    nodes = tuple(
        replace(n, details=(*n.details, _group(result.groups[of[n.id]], of[n.id]))) if n.id in of else n
        for n in graph.nodes
    )
    count = f"{number_of(result.calls, 'call')} in {number_of(result.kernels, 'kernel')}"
    head = f"{result.rule}: {count}, {_bytes(result.bytes_saved)} less"
    title = "groups that are one kernel each" if meanings else ""
    return replace(graph, nodes=nodes, edges=edges, facts=(head,), colouring=Colouring(title, meanings, of))


def _group(group: Group, at: int) -> str:
    return f"group {at + 1} of {len(group.calls)} calls, {_bytes(group.bytes_saved)} less: {group}"


def _bytes(size: Bytes) -> str:
    return bytes_text(size) if isinstance(size, int) else f"{bytes_in_words(size)} bytes"


# --- engines


def partition_graph(divided: Partition) -> ModelGraph:
    """The divided model; a colour for each engine, each region a module."""
    graph = model_graph(divided.model)
    words, nodes = {}, []
    for node in graph.nodes:
        region = _region(divided, node)
        if region is not None:
            node = replace(node, details=(*node.details, *str(region).splitlines()))
        elif node.kind == "call":
            against = [each for each in divided.left if each.call.split("(")[0].strip() == node.name]
            node = replace(node, details=(*node.details, *(f"left to the host: {each}" for each in against[:1])))
        if node.kind == "call":
            words[node.id] = "host" if region is None else region.engine.name
        nodes.append(node)
    engines = [each.name for each in divided.engines]
    place = {name: at for at, name in enumerate([*engines, "host"])}
    order = dict(sorted(words.items(), key=lambda item: place.get(item[1], len(place))))
    totals = [f"expected, {name}: {duration(seconds)}" for name, seconds in divided.totals.items()]
    count = len(divided.regions)
    head = f"{number_of(count, 'region')} by {divided.by}, {number_of(len(divided.left), 'call')} left to the host"
    made = replace(graph, nodes=tuple(nodes), facts=(head, *totals, *map(str, divided.reports)))
    return coloured(made, "engines", order)


def _region(divided: Partition, node: GraphNode) -> Placed | None:
    names = (part.partition(" #")[0] for part in node.path)
    return next((divided.regions[name] for name in names if name in divided.regions), None)
