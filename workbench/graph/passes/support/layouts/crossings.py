"""What orders of axes cost, told without measuring: the cells that a kernel reads or writes across memory.

Lanes walk along the innermost axis of what is written.  What is read along another axis then, or in steps, is put
together cell by cell; sums over windows have their filters in lanes, whose cells are no neighbours where another axis
is the innermost.
"""

from __future__ import annotations

from math import prod

from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.fusion.patterns import OpPattern, op_pattern
from workbench.graph.passes.support.layouts.ways import Types, Way, channels_of
from workbench.graph.terms.dimensions import symbols, value_of
from workbench.graph.terms.nodes import Call, Constant, Term
from workbench.graph.terms.types import TensorType
from workbench.lang.algebra.normal_form import growth
from workbench.lang.expr import Index, Read, index_names, reads
from workbench.lang.operator import Operator

SIZE = 32
"""What a named dimension is taken to be."""

TURNED = 0.5
"""Moved cells that a cell costs which is stored across the lanes it was summed up in: it is turned in registers."""


def cells_of(term: Term, types: Types) -> float:
    """The cells of a tensor."""
    of = types[term]
    assert isinstance(of, TensorType)
    return float(prod(value_of(dim, dict.fromkeys(symbols(dim), SIZE)) for dim in of.dims))


def crossed_cells(call: Call, way: Way, types: Types) -> float:
    """The cells of a call's result that cost as much as moving them, for the way in which it is computed."""
    op = operator_of(call)
    if way.vanishes or op_pattern(op) <= OpPattern.BROADCAST:
        return 0.0
    known = {name for name, each in zip(inputs_of(op), call.arguments, strict=True) if isinstance(each, Constant)}
    ordered = way.operator(op)
    assert ordered is not None
    read = {read.tensor for statement in ordered.statements() for read in reads(*statement.values)}
    unknown = read - known - {*op.outputs}
    turned = _turned(op, call, way)
    if turned and not any(_follows(op, name, channels_of(call)[0]) for name in unknown):
        return TURNED * cells_of(call, types)
    return (TURNED * turned + _is_read_across(ordered, unknown)) * cells_of(call, types)


def _turned(op: Operator, call: Call, way: Way) -> bool:
    """Whether sums of neighbouring filters do not stand side by side."""
    channels = channels_of(call)
    return bool(channels) and way.result[-1] not in channels


def _follows(op: Operator, name: str, axis: int) -> bool:
    """Whether an array is read at the place of a cell of the result along an axis."""
    for statement in op.statements():
        results = [target for target in statement.targets if target.tensor == op.outputs[0]]
        own = {name for target in results for name in index_names(target.subscripts[axis])}
        if any(own & index_names(s) for r in reads(*statement.values) if r.tensor == name for s in r.subscripts):
            return True
    return False


def _is_read_across(op: Operator, arrays: set[str]) -> bool:
    """Whether one of these arrays is read in steps or across memory while what is written is walked along."""
    for statement in op.statements():
        inner = [target.subscripts[-1] for target in statement.targets if target.subscripts]
        names = {each.name for each in inner if isinstance(each, Index)}
        found = (read for read in reads(*statement.values) if read.tensor in arrays)
        if any(_is_across(read, name) for read in found for name in names):
            return True
    return False


def _is_across(read: Read, index: str) -> bool:
    *outer, last = read.subscripts or (None,)
    if any(index in index_names(each) for each in outer if each is not None):
        return True
    return last is not None and index in index_names(last) and growth(last, index) != 1
