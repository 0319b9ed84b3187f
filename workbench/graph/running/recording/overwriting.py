"""Calls whose result may be written over an input: each cell is computed from that input's same cell alone."""

from __future__ import annotations

from functools import lru_cache

from workbench.graph.running.recording.recordings import OperatorCall, RecordedCall, Value
from workbench.lang.expr import Index, Read, walk
from workbench.lang.operator import Operator, Statement


def overwritable(call: RecordedCall) -> tuple[Value, ...]:
    """The inputs that a call's one result may overwrite, as far as the call itself is asked.

    A kernel of such an operator is compiled without a promise about aliases: it reads a cell of such an input only on
    the way to the store of that cell.
    """
    if not isinstance(call, OperatorCall) or len(call.results) != 1 or call.initial[0] is not None:
        return ()
    (result,), names = call.results, read_at_own_cell(call.op)
    refused = {value for name, value in call.inputs.items() if name not in names}
    like = [value for value in call.inputs.values() if (value.shape, value.dtype) == (result.shape, result.dtype)]
    return tuple(dict.fromkeys(value for value in like if value not in refused and value.shape))


@lru_cache(maxsize=4096)
def read_at_own_cell(op: Operator) -> frozenset[str]:
    """The inputs of which each cell of the output reads the same cell, and no other."""
    match op.body:
        case (Statement(reduction=None, condition=None, targets=(target,), values=(value,)) as only,):
            subscripts = target.subscripts
        case _:
            return frozenset()
    free = only.indices()
    plain = all(isinstance(each, Index) for each in subscripts) and len(set(subscripts)) == len(subscripts)
    if not plain or len(free) != len(subscripts) or set(op.tensors) != {*op.parameters, *op.outputs} - set(op.scalars):
        return frozenset()
    reads = [node for node in walk(value) if isinstance(node, Read)]
    elsewhere = {read.tensor for read in reads if read.subscripts != subscripts}
    return frozenset(read.tensor for read in reads) - elsewhere
