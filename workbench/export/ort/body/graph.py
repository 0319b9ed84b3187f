"""A graph of ONNX that is being written: nodes in order, none twice, with graphs of loops and branches inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, ValueInfoProto, helper, numpy_helper


@dataclass
class Graph:
    """Nodes, written by calling it with an operator's name; what the graphs around it hold may be used too.

    Nodes compute, they change nothing: one that is asked for again is the one that is there.
    """

    outer: Graph | None = None
    nodes: list[NodeProto] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
    _known: dict[Any, str] = field(default_factory=dict)

    def __call__(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The name of a node's one output."""
        key = (operator, inputs, repr(sorted(attributes.items())))
        found = self._found(key)
        if found is None:
            found = self._known[key] = self.fresh(operator)
            self.nodes.append(helper.make_node(operator, inputs, [found], **attributes))
        return found

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        """A constant tensor."""
        array = np.asarray(value, dtype)
        key = ("Constant", array.dtype, array.shape, array.tobytes())
        found = self._found(key)
        if found is None:
            found = self._known[key] = self.fresh("Constant")
            tensor = numpy_helper.from_array(array, name=found)
            self.nodes.append(helper.make_node("Constant", [], [found], value=tensor))
        return found

    def fresh(self, word: str) -> str:
        """A name that nothing has: those of operators hold no point."""
        return f"{word}.{next(self.numbers)}"

    def result(self, name: str) -> str:
        """A value under a name of this graph's own: it may not return one of a graph around it."""
        found = self.fresh("result")
        self.nodes.append(helper.make_node("Identity", [name], [found]))
        return found

    def inner(self) -> Graph:
        """A graph for the body of a loop, or for a branch."""
        return Graph(self, numbers=self.numbers)

    def living(self, outputs: Sequence[str]) -> list[NodeProto]:
        """The nodes that some results need."""
        needed, found = set(outputs), []
        for node in reversed(self.nodes):
            if needed.intersection(node.output):
                found.append(node)
                needed |= _used(node)
        return found[::-1]

    def proto(self, name: str, inputs: list[Any], outputs: list[Any]) -> GraphProto:
        """The graph of a loop's body, or of a branch."""
        return helper.make_graph(self.living([o.name for o in outputs]), name, inputs, outputs)

    def _found(self, key: Any) -> str | None:
        graph: Graph | None = self
        while graph is not None:
            if key in graph._known:
                return graph._known[key]
            graph = graph.outer
        return None


def _used(node: NodeProto) -> set[str]:
    """What a node reads, also in the graphs inside it."""
    inner = (each for attribute in node.attribute for each in attribute.g.node)
    outputs = (output.name for attribute in node.attribute for output in attribute.g.output)
    return {*node.input, *outputs}.union(*map(_used, inner))


def graph_value(name: str, element: int, rank: int) -> ValueInfoProto:
    """What goes into or out of a graph."""
    return helper.make_tensor_value_info(name, element, [None] * rank)
