"""A function whose calls are computed in chosen ways: operators over other orders, and the movements that are left."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.passes.support.layouts.relayouts import Order, composed, identity, inverse, transposition
from workbench.graph.passes.support.layouts.ways import Way
from workbench.graph.passes.support.rewriting import rewritten
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.walking import operands, with_operands


def with_layouts(function: Function, chosen: Mapping[Call, Way]) -> Function:
    """The function with each call in its way; what is read in another order than it stands in is moved."""
    return rewritten(function, _Applied(chosen).change)


class _Applied:
    """Terms as they stand in memory: each node of the function has a new term and its order."""

    def __init__(self, chosen: Mapping[Call, Way]) -> None:
        self.chosen = chosen
        self.moved: dict[tuple[Term, Order], Term] = {}

    def change(self, node: Term, inside: tuple[Term, ...]) -> Term:
        way = self.chosen.get(node) if isinstance(node, Call) else None
        if way is None:
            return with_operands(node, tuple(map(self.plainly, operands(node), inside)))
        assert isinstance(node, Call)
        function, *arguments = inside
        stood = [
            self.in_order(old, new, order)
            for old, new, order in zip(node.arguments, arguments, way.arguments, strict=True)
        ]
        if way.vanishes:
            return stood[0]
        if way.is_plain:
            return with_operands(node, (function, *stood))
        op = way.operator(operator_of(node))
        assert op is not None
        return Call(Primitive(op), tuple(stood), node.sizes, node.label, node.span)

    def plainly(self, old: Term, new: Term) -> Term:
        """A term as it is written, for whoever knows nothing of orders."""
        way = self.chosen.get(old) if isinstance(old, Call) else None
        return new if way is None else self.in_order(old, new, identity(len(way.result)))

    def in_order(self, old: Term, new: Term, wanted: Order) -> Term:
        """A term in an order: as it is, reordered now if it is known, or moved once for all who want that."""
        way = self.chosen.get(old) if isinstance(old, Call) else None
        there = identity(len(wanted)) if way is None else way.result
        step = composed(inverse(there), wanted)
        if step == identity(len(step)):
            return new
        if (old, wanted) not in self.moved:
            self.moved[old, wanted] = _moved(new, step)
        return self.moved[old, wanted]


def _moved(term: Term, order: Order) -> Term:
    if isinstance(term, Constant):
        return Constant(np.ascontiguousarray(np.transpose(term.array, order)), term.span)
    return Call(Primitive(transposition(len(order), order)), (term,))
