"""`channels_last`: pictures between convolutions stand with their channels innermost."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.models import Model
from workbench.graph.passes.support.layouts.applying import with_layouts
from workbench.graph.passes.support.layouts.choice import Layouts, cheapest
from workbench.graph.passes.support.layouts.crossings import cells_of, crossed_cells
from workbench.graph.passes.support.layouts.relayouts import Order, identity
from workbench.graph.passes.support.layouts.ways import (
    Types,
    Way,
    channels_of,
    innermost,
    is_concrete,
    ways_of,
)
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function
from workbench.graph.terms.nodes import Call, Constant, Function, Term
from workbench.graph.terms.types import TensorType
from workbench.graph.terms.walking import operands, postorder
from workbench.lang.dtypes import DType
from workbench.lang.expr import index_names, reads
from workbench.lang.operator import Statement
from workbench.records import record

LEAST = 2
"""Windows of a function that are worth other orders: a single one has its pictures moved there and back."""

AXES = 2
"""Axes along which its window moves, at least: the rows of pictures are short, those of signals fill registers."""


@record(eq=False)
class ChannelsLast(ModelPass):
    """Pictures between products over windows with known weights stand with the axis that the weights follow innermost.

    before → after:  conv(x, W)[n,f,y,x]   →   transpose(conv'(x, W')[n,y,x,f])

    So neighbours in memory are channels: a register holds sums of neighbouring filters and stores them as they are, and
    a window of each channel by itself has full lanes however short a row of the picture is.  Nothing is measured: it
    takes the orders in which the fewest cells are moved, stored or read across memory.
    """

    def apply(self, model: Model) -> Model:
        types = model.typing.types
        return each_function(model, lambda function: _converted(function, types))


def channels_last() -> ChannelsLast:
    """Pictures between convolutions stand with their channels innermost (NHWC of what is written NCHW)."""
    return ChannelsLast()


def _converted(function: Function, types: Types) -> Function:
    nodes = list(postorder(function))
    calls = [each for each in nodes if isinstance(each, Call) and is_concrete(each, types)]
    windows = [call for call in calls if _is_window(call, types)]
    if len(windows) < LEAST:
        return function
    wanted = {len(order): order for order in map(_wanted, windows)}
    among = {rank: (identity(rank), order) for rank, order in wanted.items()}
    ways = {call: ways_of(call, among, None, every_weight=False) for call in calls}
    layouts = _layouts(nodes, ways, wanted, types)
    found = cheapest(layouts)
    return function if found is None or found.cost >= layouts.plain_cost else with_layouts(function, found.ways)


def _layouts(
    nodes: list[Term], ways: Mapping[Call, tuple[Way, ...]], wanted: Mapping[int, Order], types: Types
) -> Layouts:
    """What each way and each movement costs, in cells."""
    among: dict[Term, float] = {
        term: cells_of(term, types) for call in ways for term in (*call.arguments, call)
    }
    moving: dict[Term, float] = {
        term: cells for term, cells in among.items()
        if not isinstance(term, Constant) and _rank(term, types) in wanted
    }  # fmt: skip
    plain = frozenset(each for node in nodes if node not in ways for each in operands(node))
    priced = {call: [(way, crossed_cells(call, way, types)) for way in own] for call, own in ways.items()}
    return Layouts(priced, moving, plain)


def _rank(term: Term, types: Types) -> int:
    of = types[term]
    assert isinstance(of, TensorType)
    return len(of.dims)


def _wanted(call: Call) -> Order:
    """The order of a product's result in which the axis that its weights follow is the innermost."""
    op = operator_of(call)
    return innermost(op.tensors[op.outputs[0]].rank, channels_of(call)[0])


def _is_window(call: Call, types: Types) -> bool:
    """Whether it sums up products of known weights with what lies in windows that move along several axes."""
    of = types[call]
    assert isinstance(of, TensorType)
    wide = isinstance(of.element, DType) and of.element.is_float and not of.element.is_half
    return wide and bool(channels_of(call)) and any(_moving(s) >= AXES for s in operator_of(call).statements())


def _moving(statement: Statement) -> int:
    """The axes of what a sum reads whose place is told by a cell of the result and by a term of the sum."""
    if statement.reduction is None:
        return 0
    free, summed = set(statement.indices("free")), set(statement.indices("reduction"))
    axes = [[index_names(s) for s in read.subscripts] for read in reads(*statement.values)]
    return max((sum(bool(names & free and names & summed) for names in each) for each in axes), default=0)
