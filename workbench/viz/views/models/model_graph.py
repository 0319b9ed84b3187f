"""A model as a graph to be drawn: nodes, what flows between them, modules that fold, colours with their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from workbench.graph.terms.nodes import Call
from workbench.records import record

Kind = Literal["call", "input", "result", "control", "function", "folded"]
Path = tuple[str, ...]


@record(eq=False)
class GraphNode:
    """What is computed: `name` is what is called, `shape` its result in a few characters, `type` in full.

    `path` are the modules, functions and branches that it stands in, `details` lines about it, `calls` the calls of
    operators that it stands for: one, or all of a folded module.  `milliseconds` is what they took, if it is known.
    """

    id: str
    kind: Kind
    name: str
    label: str = ""
    path: Path = ()
    shape: str = ""
    type: str = ""
    details: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    milliseconds: float | None = None

    @property
    def where(self) -> str:
        """Its path as it is read."""
        return ".".join(self.path)


@record(eq=False)
class GraphEdge:
    """A value that goes from one node to another; `cut` says why the two are no kernel together."""

    source: str
    target: str
    words: str = ""
    cut: str = ""


@record
class Meaning:
    """One colour of a picture, with the shape that says the same, and what both mean of so many nodes."""

    role: str
    shape: str
    words: str
    count: int = 0

    def __str__(self) -> str:
        return f"{self.words} ({self.count})" if self.count else self.words


@record(eq=False)
class Colouring:
    """What colours mean in a picture, and of which meaning (by its place) a node is, by its id.

    `mixed` says of a folded module how many nodes of each meaning stand in it, where there are several.
    """

    title: str = ""
    meanings: tuple[Meaning, ...] = ()
    of: Mapping[str, int] = field(default_factory=dict)
    mixed: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


NO_COLOURS = Colouring()


@record(eq=False)
class ModelGraph:
    """The graph of a model: `title` says what it is, `facts` are lines that belong to the whole of it."""

    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    colouring: Colouring = NO_COLOURS
    facts: tuple[str, ...] = ()
    folded: frozenset[Path] = field(default=frozenset())

    @property
    def modules(self) -> tuple[Path, ...]:
        """Every module, function or branch in which nodes stand, the outer ones first, in order of occurrence."""
        return tuple(dict.fromkeys(node.path[:n] for node in self.nodes for n in range(1, len(node.path) + 1)))

    def node(self, name: str) -> GraphNode:
        """The node of an id; KeyError if there is none."""
        return {each.id: each for each in self.nodes}[name]
