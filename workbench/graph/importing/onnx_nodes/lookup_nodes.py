"""Gathers, scatters, selections."""

from __future__ import annotations

from workbench.graph.importing.onnx_nodes.node import Node, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import lookups, movement
from workbench.graph.terms.dimensions import dimension


def gather(node: Node) -> Value:
    """Slices where indices say, along an axis."""
    return lookups.gather(node.g, node.input(0), node.input(1), node("axis", 0))


def gather_elements(node: Node) -> Value:
    """Elements where indices say, along an axis."""
    return lookups.gather_elements(node.g, node.input(0), node.input(1), node("axis", 0))


def gather_nd(node: Node) -> Value:
    """Slices at places of several coordinates."""
    return lookups.gather_nd(node.g, node.input(0), node.input(1), node("batch_dims", 0))


def scatter_elements(node: Node) -> Value:
    """Elements put where indices say, along an axis."""
    x, indices, updates = (node.input(at) for at in range(3))
    return lookups.scatter_elements(node.g, x, indices, updates, node("axis", 0), node("reduction", "none"))


def scatter_nd(node: Node) -> Value:
    """Slices put at places of several coordinates."""
    x, indices, updates = (node.input(at) for at in range(3))
    return lookups.scatter_nd(node.g, x, indices, updates, node("reduction", "none"))


def one_hot(node: Node) -> Value:
    """A new axis with one value at an index and another elsewhere."""
    indices, values = node.input(0), node.input(2)
    (depth,) = node.integers(1, "depth")
    off, on = (
        movement.reshape(node.g, movement.sliced(node.g, values, 0, dimension(at), dimension(1), 1), ())
        for at in (0, 1)
    )
    return lookups.one_hot(node.g, indices, depth, off, on, node("axis", -1))


def top_k(node: Node) -> list[Value]:
    """The largest or smallest elements along an axis, in order, and their places."""
    (count,) = node.dims(1, "k")
    return list(lookups.top_k(node.g, node.input(0), count, node("axis", -1), largest=bool(node("largest", 1))))


WRITERS: dict[str, Writer] = {
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "OneHot": one_hot,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "TopK": top_k,
}
