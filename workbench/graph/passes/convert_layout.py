"""`convert_layout`: each array stands in memory as those who compute it and read it need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from workbench.errors import ModelError, shown
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.models import Model
from workbench.graph.passes.model_pass import ModelPass
from workbench.graph.passes.support.layouts.choice import Layouts, cheapest
from workbench.graph.passes.support.layouts.costs import Cost, Costs
from workbench.graph.passes.support.layouts.relayouts import Order, composed, identity, inverse, moves, transposition
from workbench.graph.passes.support.layouts.ways import (
    Types,
    Way,
    candidates,
    is_movable,
    operator_of,
    ways_of,
)
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.types import TensorType
from workbench.graph.terms.walking import operands, postorder, with_operands
from workbench.lang.dtypes import DType
from workbench.records import record

WORTH = 0.97
"""Layouts are left as they are unless others take at most so much of the time: two measurements differ by as much."""


@record(eq=False)
class ConvertLayout(ModelPass):
    """Arrays between calls stand in the order of axes that costs least in all.

    before → after:  conv(x, W)[n,f,y,x]   →   transpose(conv'(transpose(x), W')[n,y,x,f])

    Each call's operator is written anew from its definition over arrays in other orders.  Products with known weights
    may take and give each array as it is written, or with the axis that the weights follow innermost; what combines
    cells of one place follows; a transposition that is there already vanishes where both sides agree; weights are
    reordered now.  An integer program takes the choice with the least time: of the calls' kernels and of the movements
    that are left, both measured, unless `cost` tells them.  With `to`, the products take that order whatever it costs,
    and the fewest cells are moved.  Values of parameters, results, and everything but calls stay as they are written.
    """

    to: Order | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    cost: Cost | None = None

    def apply(self, model: Model) -> Model:
        types = model.typing.types
        return each_function(model, lambda function: _converted(function, types, self))


def convert_layout(
    to: Iterable[int] | None = None, *, sizes: Mapping[str, int] | None = None, cost: Cost | None = None
) -> ConvertLayout:  # fmt: skip
    """Arrays between calls in the orders that cost least, as measured here; or products in the order `to`.

    `to` is an order of axes, (0, 2, 3, 1) for NHWC of what is written NCHW.  `sizes` are numbers for named dimensions
    (32 otherwise), with which is measured; `cost(operator, shapes)` is asked instead of measuring.  ModelError if `to`
    is no order.
    """
    order = None if to is None else tuple(to)
    if order is not None and (len(order) < 2 or sorted(order) != list(range(len(order)))):
        raise ModelError(f"convert_layout: to={shown(to)} is no order of axes; expected (0, 2, 3, 1), or the like")
    return ConvertLayout(order, tuple(sorted((sizes or {}).items())), cost)


def _converted(function: Function, types: Types, options: ConvertLayout) -> Function:
    nodes = list(postorder(function))
    calls = [each for each in nodes if isinstance(each, Call) and _is_concrete(each, types)]
    among = candidates(calls, options.to)
    ways = {call: ways_of(call, among, options.to) for call in calls}
    if all(way.is_plain for own in ways.values() for way in own):
        return function
    costs = Costs(types, dict(options.sizes), options.cost, options.to is None)
    layouts = _layouts(nodes, ways, costs)
    found = cheapest(layouts)
    if found is None or (options.to is None and found.cost > WORTH * layouts.plain_cost):
        return function
    chosen = found.ways
    return function if all(way.is_plain for way in chosen.values()) else rewritten(function, _Rewriting(chosen).change)


def _is_concrete(call: Call, types: Types) -> bool:
    if not is_movable(call, types):
        return False
    of = [types[each] for each in (*call.arguments, call)]
    return all(isinstance(each, TensorType) and isinstance(each.element, DType) for each in of)


def _layouts(nodes: list[Term], ways: Mapping[Call, tuple[Way, ...]], costs: Costs) -> Layouts:
    moving: dict[Term, float] = {}
    for call, own in ways.items():
        for at, term in enumerate((*call.arguments, call)):
            orders = {(*way.arguments, way.result)[at]: None for way in own}
            order = next((each for each in orders if each != identity(len(each))), None)
            if order is not None and not isinstance(term, Constant) and term not in moving:
                moving[term] = costs.of_moving(term, order)
    plain = frozenset(each for node in nodes if node not in ways for each in operands(node))
    return Layouts({call: _priced(call, own, costs) for call, own in ways.items()}, moving, plain)


def _priced(call: Call, ways: tuple[Way, ...], costs: Costs) -> list[tuple[Way, float]]:
    """The ways with their costs; where orders change nothing but who moves, they cost nothing."""
    if len(ways) == 1 or (moves(operator_of(call)) is None and op_pattern(operator_of(call)) <= OpPattern.BROADCAST):
        return [(way, 0.0) for way in ways]
    found = [(way, costs.of_way(call, way)) for way in ways]
    return [each for each in found if np.isfinite(each[1])] or [(ways[0], 0.0)]


# --- the function with the chosen layouts


class _Rewriting:
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


def movements(model: Model) -> list[Any]:
    """The calls of a model that only put an array into another order."""
    nodes = postorder(*model.functions.values())
    calls = (each for each in nodes if isinstance(each, Call) and isinstance(each.function, Primitive))
    return [each for each in calls if (order := moves(operator_of(each))) and order != identity(len(order))]
