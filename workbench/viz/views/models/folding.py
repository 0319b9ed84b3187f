"""Modules of a model's graph folded into one node each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from workbench.errors import WorkbenchError, unknown_name
from workbench.viz.views.models.model_graph import Colouring, GraphEdge, GraphNode, ModelGraph, Path
from workbench.wording import number_of

MOST_NODES = 32
"""Nodes of a picture for which modules are folded, unless somebody says which."""


def folded(graph: ModelGraph, modules: Iterable[Path]) -> ModelGraph:
    """The graph with each of these modules as one node; one in which a single node stands is left as it is."""
    wanted = frozenset(modules)
    home: dict[str, Path] = {}
    for node in graph.nodes:
        found = next((node.path[:n] for n in range(1, len(node.path) + 1) if node.path[:n] in wanted), None)
        if found is not None:
            home[node.id] = found
    sizes = Counter(home.values())
    home = {name: path for name, path in home.items() if sizes[path] > 1}
    members: dict[Path, list[GraphNode]] = {}
    for node in graph.nodes:
        if node.id in home:
            members.setdefault(home[node.id], []).append(node)
    ids = {name: folded_id(path) for name, path in home.items()}
    leaving = {e.source for e in graph.edges if home.get(e.source) != home.get(e.target)}
    made = {path: _folded(path, inside, leaving) for path, inside in members.items()}
    nodes = dict.fromkeys(made[home[n.id]] if n.id in home else n for n in graph.nodes)
    colouring = _colours(graph.colouring, {folded_id(path): members[path] for path in made})
    edges = _edges(graph, ids)
    return replace(graph, nodes=tuple(nodes), edges=edges, colouring=colouring, folded=frozenset(made))


def folded_id(path: Path) -> str:
    """The id of the node that a folded module is."""
    return f"f{'/'.join(path)}"


def _folded(path: Path, inside: list[GraphNode], leaving: set[str]) -> GraphNode:
    ends = [node for node in inside if node.id in leaving]
    names = Counter(node.name for node in inside if node.kind in ("call", "function"))
    kinds = ", ".join(f"{count} {name}" if count > 1 else name for name, count in names.most_common(6))
    more = ", …" if len(names) > 6 else ""
    known = [node.milliseconds for node in inside if node.milliseconds is not None]
    return GraphNode(
        folded_id(path), "folded", ".".join(path), _count(inside), path[:-1],
        ends[0].shape if len(ends) == 1 else "", ends[0].type if len(ends) == 1 else "",
        (f"{_count(inside)}: {kinds}{more}",), tuple(call for node in inside for call in node.calls),
        sum(known) if known else None,
    )  # fmt: skip


def _count(inside: list[GraphNode]) -> str:
    calls = sum(len(node.calls) for node in inside)
    return number_of(calls, "call") if calls else number_of(len(inside), "node")


def _edges(graph: ModelGraph, ids: dict[str, str]) -> tuple[GraphEdge, ...]:
    """The edges between what is left, each once."""
    found: dict[tuple[str, str, str], GraphEdge] = {}
    for edge in graph.edges:
        source, target = ids.get(edge.source, edge.source), ids.get(edge.target, edge.target)
        if source == target and (edge.source in ids or edge.target in ids):
            continue
        key = source, target, "" if target in ids.values() else edge.words
        known = found.get(key)
        if known is None or not known.cut:
            found[key] = GraphEdge(source, target, key[2], edge.cut)
    return tuple(found.values())


def _colours(colouring: Colouring, members: dict[str, list[GraphNode]]) -> Colouring:
    """A module all of whose nodes mean the same has that colour, another one its shares."""
    of, mixed = dict(colouring.of), {}
    for name, inside in members.items():
        counts = Counter(colouring.of[node.id] for node in inside if node.id in colouring.of)
        if len(counts) == 1:
            of[name] = next(iter(counts))
        elif counts:
            mixed[name] = dict(sorted(counts.items()))
    return replace(colouring, of=of, mixed=mixed)


def default_folds(graph: ModelGraph, most: int = MOST_NODES) -> frozenset[Path]:
    """The modules to fold so that about so many nodes are left: all of one depth, the deepest for which it is so."""
    depth = max((len(path) for path in graph.modules), default=0)
    for level in range(depth + 1, 0, -1):
        wanted = [path for path in graph.modules if len(path) == level and not path[0].startswith("fn ")]
        if len(folded(graph, wanted).nodes) <= most or level == 1:
            return folded(graph, wanted).folded
    return frozenset()


def paths_named(graph: ModelGraph, names: Iterable[str]) -> frozenset[Path]:
    """The modules of these names, `layers.0`; WorkbenchError that lists the known ones."""
    known = {".".join(path): path for path in graph.modules}
    for name in names:
        if name not in known:
            raise WorkbenchError(f"graph: {unknown_name('module', str(name), known)}")
    return frozenset(known[name] for name in names)
