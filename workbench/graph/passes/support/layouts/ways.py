"""The ways in which a call may be computed: which of its arrays stand in which order.

Nothing is known of operators by name.  What only combines cells of one place takes and gives all its arrays in one
order, what only moves them may vanish, anything else may take and give each array in an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.passes.support.channels import scaled_by
from workbench.graph.passes.support.layouts.relayouts import Order, composed, identity, inverse, moves, relaid
from workbench.graph.terms.nodes import Call, Constant, Primitive, Term
from workbench.graph.terms.types import TensorType, Type
from workbench.lang.dtypes import DType
from workbench.lang.expr import Index, Read, walk
from workbench.lang.operator import Operator
from workbench.records import record

MOST_WAYS = 32
Types = Mapping[Term, Type]
Candidates = Mapping[int, tuple[Order, ...]]
"""By the number of axes: the orders that arrays may stand in, as they are written first."""


@record
class Way:
    """The orders of the arguments and of the result of a call; `vanishes` if it then gives its argument as it is."""

    arguments: tuple[Order, ...]
    result: Order
    vanishes: bool = False

    def operator(self, op: Operator) -> Operator | None:
        """The operator that computes it so; None if the language cannot say it."""
        names = zip((*inputs_of(op), op.outputs[0]), (*self.arguments, self.result), strict=True)
        return relaid(op, tuple(names))

    @property
    def is_plain(self) -> bool:
        """Whether every array stands as it is written."""
        return all(order == identity(len(order)) for order in (*self.arguments, self.result))


def is_movable(node: Term, types: Types) -> bool:
    """Whether a node is a call of an operator with one result, of tensors whose orders may change."""
    if not isinstance(node, Call) or not isinstance(node.function, Primitive):
        return False
    op = node.function.operator
    if len(op.outputs) != 1 or len(inputs_of(op)) != len(node.arguments) or op.tensors[op.outputs[0]].rank < 2:
        return False
    return all(isinstance(types.get(each), TensorType) for each in (*node.arguments, node))


def is_concrete(call: Call, types: Types) -> bool:
    """Whether it is such a call, and the element types are known."""
    if not is_movable(call, types):
        return False
    of = [types[each] for each in (*call.arguments, call)]
    return all(isinstance(each, TensorType) and isinstance(each.element, DType) for each in of)


# --- orders worth trying


def candidates(calls: Iterable[Call], wished: Order | None) -> dict[int, tuple[Order, ...]]:
    """Orders by number of axes: as written; what is wished; else the axes that weights follow innermost; what undoes
    the movements that are there."""
    found: dict[int, dict[Order, None]] = {}
    for call in calls:
        op = operator_of(call)
        order = moves(op)
        if order is not None:
            own = found.setdefault(len(order), {identity(len(order)): None})
            own |= {order: None, inverse(order): None}
        rank = op.tensors[op.outputs[0]].rank
        for axis in (channels_of(call) if wished is None else ()) if rank > 2 else ():
            found.setdefault(rank, {identity(rank): None})[innermost(rank, axis)] = None
    if wished is not None:
        found.setdefault(len(wished), {identity(len(wished)): None})[wished] = None
    return {rank: tuple(orders) for rank, orders in found.items()}


def channels_of(call: Call) -> tuple[int, ...]:
    """The axes of the result that follow known weights."""
    op = operator_of(call)
    known = [
        name
        for name, each in zip(inputs_of(op), call.arguments, strict=True)
        if isinstance(each, Constant) and each.array.dtype.kind in "fiu" and each.array.ndim
    ]
    if not known or len(known) == len(call.arguments) or op_pattern(op) <= OpPattern.BROADCAST:
        return ()
    return tuple(dict.fromkeys(each.axis for each in scaled_by(op, tuple(known))))


def innermost(rank: int, axis: int) -> Order:
    """The order with one axis last, the others as they are."""
    return (*(at for at in range(rank) if at != axis), axis)


# --- ways


def ways_of(
    call: Call, among: Candidates, wished: Order | None, *, every_weight: bool = True
) -> tuple[Way, ...]:  # fmt: skip
    """The ways to compute a call; the first is as it is written.

    Of weights each order that may serve where nothing is wished.  Unless `every_weight`, that which follows the result;
    and what has no weights takes and gives arrays in one order.
    """
    op = operator_of(call)
    ranks = [op.tensors[name].rank for name in inputs_of(op)]
    plain = Way(tuple(map(identity, ranks)), identity(op.tensors[op.outputs[0]].rank))
    order = moves(op)
    if order is not None:
        return (plain, *_vanishing(order, among))
    if op_pattern(op) <= OpPattern.BROADCAST:
        return tuple(dict.fromkeys((plain, *(each for each in _together(op, among) if each.operator(op)))))
    every = _separately(call, op, among, every_weight=every_weight and wished is None)
    found = [each for each in every if each.operator(op) is not None]
    if wished is not None and channels_of(call):
        as_wished = [each for each in found if _is_as_wished(call, each, wished)]
        return tuple(as_wished) or (plain,)
    return tuple(dict.fromkeys((plain, *found)))[:MOST_WAYS]


def _vanishing(order: Order, among: Candidates) -> Iterator[Way]:
    """Where the result stands in memory as the argument does, nothing moves."""
    orders = among.get(len(order), ())
    for result in orders:
        argument = composed(order, result)
        if argument in orders:
            yield Way((argument,), result, vanishes=True)


def _together(op: Operator, among: Candidates) -> Iterator[Way]:
    rank = op.tensors[op.outputs[0]].rank
    for order in among.get(rank, ()):
        inside = (op.tensors[name].rank for name in inputs_of(op))
        yield Way(tuple(order if each == rank else identity(each) for each in inside), order)


def _separately(call: Call, op: Operator, among: Candidates, *, every_weight: bool) -> Iterator[Way]:
    """Every choice for what is not known; weights are read along the innermost axis of the result, or as written."""
    names = inputs_of(op)
    known = [isinstance(each, Constant) for each in call.arguments]
    free = [at for at, is_known in enumerate(known) if not is_known]
    choices = [among.get(op.tensors[names[at]].rank, (identity(op.tensors[names[at]].rank),)) for at in free]
    rank = op.tensors[op.outputs[0]].rank
    for result in among.get(rank, (identity(rank),)):
        orders_of = [_weight_orders(op, names[at], result) if known[at] else () for at in range(len(names))]
        weights = orders_of if every_weight else [each[-1:] for each in orders_of]
        own = [list(orders) for orders in choices]
        if len(free) > 2 or not (every_weight or channels_of(call)):
            own = [_alike(orders, result, single=every_weight or len(free) > 2) for orders in own]
        every = iter(own)
        yield from (Way(chosen, result) for chosen in product(*(w or next(every) for w in weights)))


def _alike(orders: list[Order], result: Order, *, single: bool) -> list[Order]:
    """The order of the result, for an argument with as many axes; else as written, or any if not a `single` one."""
    return [o for o in orders if o == result] or ([identity(len(orders[0]))] if single else orders)


def _weight_orders(op: Operator, name: str, result: Order) -> tuple[Order, ...]:
    """The order in which a constant is written, and the one whose innermost axis is that of the result."""
    rank = op.tensors[name].rank
    if result == identity(len(result)) or rank < 2:
        return (identity(rank),)
    found: dict[Order, None] = {identity(rank): None}
    for statement in op.statements():
        targets = [each for each in statement.targets if each.tensor == op.outputs[0]]
        inner = {each.subscripts[result[-1]] for each in targets}
        for part in (each for value in statement.values for each in walk(value)):
            if isinstance(part, Read) and part.tensor == name:
                axes = [at for at, s in enumerate(part.subscripts) if isinstance(s, Index) and s in inner]
                found |= {innermost(rank, at): None for at in axes}
    return tuple(found)


def _is_as_wished(call: Call, way: Way, wished: Order) -> bool:
    """Whether all arrays of so many axes that are not known stand as is wished."""
    pairs = [(order, call.arguments[at]) for at, order in enumerate(way.arguments)]
    orders = [order for order, each in pairs if not isinstance(each, Constant)]
    return all(order == wished for order in (*orders, way.result) if len(order) == len(wished))
