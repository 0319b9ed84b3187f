"""The NumPy oracle: what an operator means, evaluated without any polyhedral machinery.

Statements run strictly one after another on whole arrays, block by block; every read is checked
where its guards hold.  Slow next to compiled code, but it shares nothing with it.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.errors import CallError, shown
from workbench.lang.binding.arrays import Binding, bind
from workbench.lang.operator import For, Operator, Step, Tensor
from workbench.lang.oracle.exact import exact
from workbench.lang.oracle.numbers import Arithmetic
from workbench.lang.oracle.sequential import as_one_statement, is_of_cells, run_cells
from workbench.lang.oracle.statements import execute
from workbench.lang.oracle.values import Cells, Memory

Array = np.ndarray[Any, Any]


def evaluate(
    op: Operator,
    /,
    *arrays: Any,
    accumulate: Literal["double"] | None = "double",
    out: Any = None,
    **scalars: Any,
) -> Array | tuple[Array, ...]:
    """The outputs of an operator, computed with NumPy: one array, or a tuple in the order of `op.outputs`.

    `accumulate="double"` computes every float in float64 and rounds once a value is stored (a
    reduction at the end of its statement); `None` computes in the declared types, as compiled code does.
    `out` holds the initial contents of outputs that are accumulated into or written in part; it is
    read, never changed.  Raises `CallError` for arrays that do not fit and for reads out of range.
    """
    if accumulate not in ("double", None):
        raise CallError(f"{op.name}: accumulate={shown(accumulate)} is unknown; known: 'double', None")
    bound = bind(op, arrays, scalars, out)
    try:
        memory = {name: _cells(tensor, bound) for name, tensor in bound.op.tensors.items()}
        with np.errstate(all="ignore"):
            _steps(bound.op.body, dict(bound.sizes), memory, Arithmetic(wide=accumulate == "double"))
    except MemoryError as error:
        raise CallError(f"{op.name}: not enough memory to evaluate it with NumPy: {error}") from error
    results = tuple(memory[name].array for name in op.outputs)
    return results[0] if len(results) == 1 else results


def _cells(tensor: Tensor, bound: Binding) -> Cells:
    """A tensor's cells before the first statement: the caller's array, a copy of `out`, or zeros."""
    given = bound.arrays | bound.scalars | bound.out
    lower = tuple(int(exact(e, bound.sizes)) for e in tensor.lower)
    shape = tuple(max(0, int(exact(e, bound.sizes))) for e in tensor.extent)
    array = _zeros(tensor, shape)
    if given.get(tensor.name) is not None:
        array[...] = given[tensor.name]
    return Cells(tensor.name, tensor.dtype, lower, array)


def _zeros(tensor: Tensor, shape: tuple[int, ...]) -> Array:
    try:
        return np.zeros(shape, tensor.dtype.numpy)
    except ValueError as error:  # more dimensions than NumPy has, or more elements than an address reaches
        raise CallError(f"{tensor.name} of shape {shape} is no array that NumPy can make: {error}") from error


def _steps(body: tuple[Step, ...], fixed: dict[str, int], memory: Memory, arithmetic: Arithmetic) -> None:
    for step in body:
        if not isinstance(step, For):
            execute(step, fixed, memory, arithmetic)
        elif whole := as_one_statement(step):
            execute(whole, fixed, memory, arithmetic)
        elif is_of_cells(step):
            run_cells(step, fixed, memory, arithmetic)
        else:
            axis = step.axis
            for value in range(int(exact(axis.lower, fixed)), int(exact(axis.upper, fixed))):
                _steps(step.body, {**fixed, axis.index: value}, memory, arithmetic)
