"""`convert_layout`: each array stands in memory as those who compute it and read it need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from workbench.errors import ModelError, shown
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.models import Model
from workbench.graph.passes.support.layouts.applying import with_layouts
from workbench.graph.passes.support.layouts.choice import Layouts, cheapest
from workbench.graph.passes.support.layouts.costs import Cost, Costs
from workbench.graph.passes.support.layouts.relayouts import Order, identity, moves
from workbench.graph.passes.support.layouts.ways import Types, Way, candidates, is_concrete, ways_of
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.walking import operands, postorder
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
    calls = [each for each in nodes if isinstance(each, Call) and is_concrete(each, types)]
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
    return function if all(way.is_plain for way in chosen.values()) else with_layouts(function, chosen)


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


def movements(model: Model) -> list[Any]:
    """The calls of a model that only put an array into another order."""
    nodes = postorder(*model.functions.values())
    calls = (each for each in nodes if isinstance(each, Call) and isinstance(each.function, Primitive))
    return [each for each in calls if (order := moves(operator_of(each))) and order != identity(len(order))]
