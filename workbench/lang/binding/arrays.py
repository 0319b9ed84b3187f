"""A call: which array is which parameter, what the sizes are, and whether all of it fits the operator."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np

from workbench.errors import CallError, OperatorError, unknown_name
from workbench.lang.binding.sizes import check_conditions, solve_sizes
from workbench.lang.binding.types import Slot, datum, type_variables
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Size
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate
from workbench.lang.syntax.parser import parse
from workbench.lang.unify import limits
from workbench.records import record


@record(slots=True)
class Binding:
    """One call of an operator, checked.

    `op` is the operator with its type variables fixed by the arrays.  `sizes` holds every size symbol and
    every integer scalar that shapes the program, `arrays` the input tensors as given, `scalars` the
    scalars that carry data as Python numbers, `out` the output arrays that were given.
    """

    op: Operator
    sizes: dict[str, int]
    arrays: dict[str, Any]
    scalars: dict[str, bool | int | float]
    out: dict[str, Any]


@record(slots=True)
class _Plan:
    """What `bind` needs of an operator, computed once."""

    inputs: dict[str, Slot]
    outputs: dict[str, Slot]
    shaping: frozenset[str]
    data: dict[str, tuple[DType, str]]


def bind(op: Operator, arrays: tuple[Any, ...], scalars: Mapping[str, Any], out: Any = None) -> Binding:
    """Check the arrays and scalars of a call and find its sizes.

    `arrays` are the positional arguments in the order of `op.parameters`, `scalars` the keywords (scalars,
    input tensors, or size symbols that no shape tells), `out` one array or a tuple, one for each output
    (None where not given).  Raises CallError that names the parameter and says where a size came from.
    """
    plan = _plan(op)
    given = _given(op, plan, arrays, scalars)
    outputs = _outputs(op, out)
    sizes = {name: value for name, value in given.items() if name in plan.shaping}
    tensors = {name: given[name] for name in plan.inputs}
    slots = [(slot, tensors[name]) for name, slot in plan.inputs.items()]
    results = [(plan.outputs[name], array) for name, array in outputs.items()]
    types = type_variables(op, slots + results)
    solve_sizes(op, slots, results, plan.shaping, sizes)
    check_conditions(op, sizes)
    data = {name: datum(op, name, given[name], types.get(v, d) if v else d) for name, (d, v) in plan.data.items()}
    return Binding(_instance(op, types) if op.generic else op, sizes, tensors, data, outputs)


def with_array_types(op: Operator, arrays: Mapping[str, Any]) -> Operator:
    """The operator with its type variables fixed by arrays, by name; CallError for an array of another type."""
    plan = _plan(op)
    slots = {**plan.inputs, **plan.outputs}
    types = type_variables(op, [(slots[name], array) for name, array in arrays.items()])
    return _instance(op, types) if op.generic else op


def _instance(op: Operator, types: dict[str, DType]) -> Operator:
    try:
        return instantiate(op, types)
    except OperatorError as error:
        given = ", ".join(f"{name} = {of.name}" for name, of in types.items())
        raise CallError(f"{op.name} means nothing for {given}:\n{error}") from None


@lru_cache(maxsize=1024)
def _plan(op: Operator) -> _Plan:
    known = type_variables_of(op) if op.generic else {}
    inputs = {name for name in op.parameters if name not in op.scalars and op.tensors[name].rank > 0}
    data = {name: (op.tensors[name].dtype, known.get(name, "")) for name in op.parameters
            if name not in op.scalars and name not in inputs}  # fmt: skip
    return _Plan(
        {name: _slot(op, name, known) for name in op.parameters if name in inputs},
        {name: _slot(op, name, known) for name in op.outputs},
        frozenset((*op.scalars, *op.size_names)),
        data,
    )


def _slot(op: Operator, name: str, variables: dict[str, str]) -> Slot:
    tensor = op.tensors[name]
    symbols = tuple((d, extent.name) for d, extent in enumerate(tensor.extent) if isinstance(extent, Size))
    others = tuple((d, extent) for d, extent in enumerate(tensor.extent) if not isinstance(extent, Size))
    return Slot(name, tensor.rank, tensor.dtype, variables.get(name, ""), symbols, others)


def type_variables_of(op: Operator) -> dict[str, str]:
    """Which type variable each parameter and annotated output is of."""
    define = next(define for define in parse(op.text).defs() if define.name.name == op.name)
    return {
        parameter.name.name: parameter.type.element.name
        for parameter in (*define.parameters, *define.outputs)
        if parameter.type and parameter.type.element.name in op.generic
    }


# --- arguments


def _given(op: Operator, plan: _Plan, arrays: tuple[Any, ...], scalars: Mapping[str, Any]) -> dict[str, Any]:
    if len(arrays) > len(op.parameters):
        expected = f"{len(op.parameters)} inputs ({', '.join(op.parameters)})"
        raise CallError(f"{op.name} expected {expected} but found {len(arrays)}")
    given = dict(zip(op.parameters, arrays, strict=False))
    for name, value in scalars.items():
        if name in given:
            raise CallError(f"{op.name}: {name!r} is given twice, by position and by keyword")
        if name not in op.parameters and name not in op.size_names:
            raise CallError(f"{op.name}: {unknown_name('parameter', name, (*op.parameters, *op.size_names))}")
        given[name] = value
    missing = [name for name in op.parameters if name not in given]
    if missing:
        raise CallError(
            f"{op.name} expected {len(op.parameters)} inputs but found {len(op.parameters) - len(missing)}: "
            f"missing {', '.join(missing)}"
        )
    for name in plan.shaping & given.keys():
        given[name] = _integer(op, name, given[name])
    return given


def _integer(op: Operator, name: str, value: Any) -> int:
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = index(value)
    except TypeError:
        shown = type(value).__name__
        raise CallError(f"{op.name}: {name!r} shapes the program: expected an integer but found {shown}") from None
    dtype = op.tensors[name].dtype if name in op.tensors else INT64
    lowest, largest = limits(dtype)
    if not lowest <= number <= largest:
        raise CallError(f"{op.name}: {name} = {number} does not fit into {dtype.name} ({lowest} to {largest})")
    if number > limits(INT64)[1]:
        lowest, largest = limits(INT64)
        numbers = f"expected {lowest} to {largest}, the numbers of int64"
        raise CallError(f"{op.name}: {name} = {number} shapes the program: {numbers}")
    return number


def _outputs(op: Operator, out: Any) -> dict[str, Any]:
    given = out if isinstance(out, tuple | list) else (out,) if out is not None else ()
    if given and len(given) != len(op.outputs):
        raise CallError(
            f"{op.name}: out= expected {len(op.outputs)} arrays ({', '.join(op.outputs)}) "
            f"but found {len(given)}; write None for one that the call shall allocate"
        )
    outputs = {name: array for name, array in zip(op.outputs, given, strict=False) if array is not None}
    for name in op.outputs:
        if op.tensors[name].role == "inout" and name not in outputs:
            raise CallError(
                f"{op.name}: {name!r} is read before it is written; give its initial contents as out=... "
                "(or, if it should start from the identity, write its reduction with `!`)"
            )
    return outputs
