"""A call: which array is which parameter, what the sizes are, and whether all of it fits the operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import index
from typing import Any

import numpy as np

from workbench.errors import CallError, unknown_name
from workbench.lang.dtypes import DTYPES, DType, from_numpy
from workbench.lang.expr import Const, Expr, Size
from workbench.lang.facts import unknowns
from workbench.lang.folding import fold
from workbench.lang.generics import instantiate
from workbench.lang.operator import Operator
from workbench.lang.parser import parse
from workbench.lang.printer import show, type_name
from workbench.lang.unify import limits


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class _Slot:
    """One array of the call: an input tensor, or an output that may be given."""

    name: str
    rank: int
    dtype: DType
    variable: str
    symbols: tuple[tuple[int, str], ...]
    others: tuple[tuple[int, Expr], ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What `bind` needs of an operator, computed once."""

    inputs: dict[str, _Slot]
    outputs: dict[str, _Slot]
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
    types = _types(op, plan, tensors, outputs)
    _solve(op, plan, tensors, outputs, sizes)
    _check_conditions(op, sizes)
    data = {name: _datum(op, name, given[name], types.get(v, d) if v else d) for name, (d, v) in plan.data.items()}
    return Binding(instantiate(op, types) if op.generic else op, sizes, tensors, data, outputs)


@lru_cache(maxsize=1024)
def _plan(op: Operator) -> _Plan:
    variables = _variables(op) if op.generic else {}
    inputs = {name for name in op.parameters if name not in op.scalars and op.tensors[name].rank > 0}
    data = {name: (op.tensors[name].dtype, variables.get(name, "")) for name in op.parameters
            if name not in op.scalars and name not in inputs}  # fmt: skip
    return _Plan(
        {name: _slot(op, name, variables) for name in op.parameters if name in inputs},
        {name: _slot(op, name, variables) for name in op.outputs},
        frozenset((*op.scalars, *op.size_names)),
        data,
    )


def _slot(op: Operator, name: str, variables: dict[str, str]) -> _Slot:
    tensor = op.tensors[name]
    symbols = tuple((d, extent.name) for d, extent in enumerate(tensor.extent) if isinstance(extent, Size))
    others = tuple((d, extent) for d, extent in enumerate(tensor.extent) if not isinstance(extent, Size))
    return _Slot(name, tensor.rank, tensor.dtype, variables.get(name, ""), symbols, others)


def _variables(op: Operator) -> dict[str, str]:
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
        raise CallError(
            f"{op.name} expected {len(op.parameters)} inputs but found {len(arrays)}: {', '.join(op.parameters)}"
        )
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
        return index(value)
    except TypeError:
        shown = type(value).__name__
        raise CallError(f"{op.name}: {name!r} shapes the program: expected an integer but found {shown}") from None


def _outputs(op: Operator, out: Any) -> dict[str, Any]:
    given = out if isinstance(out, tuple | list) else (out,) if out is not None else ()
    if given and len(given) != len(op.outputs):
        raise CallError(
            f"{op.name}: out= expected {len(op.outputs)} arrays ({', '.join(op.outputs)}) but found {len(given)}; "
            "write None for one that the call shall allocate"
        )
    outputs = {name: array for name, array in zip(op.outputs, given, strict=False) if array is not None}
    for name in op.outputs:
        if op.tensors[name].role == "inout" and name not in outputs:
            raise CallError(
                f"{op.name}: {name!r} is read before it is written; give its initial contents as out=... "
                "(or, if it should start from the identity, write its reduction with `!`)"
            )
    return outputs


# --- types


def _types(op: Operator, plan: _Plan, tensors: dict[str, Any], outputs: dict[str, Any]) -> dict[str, DType]:
    types: dict[str, DType] = {}
    origin: dict[str, str] = {}
    pairs = [(slot, tensors[name]) for name, slot in plan.inputs.items()]
    pairs += [(plan.outputs[name], array) for name, array in outputs.items()]
    for slot, array in pairs:
        found = element_type(op, slot.name, array)
        if slot.variable:
            if types.setdefault(slot.variable, found) != found:
                known = f"{slot.variable} = {types[slot.variable].name} from {origin[slot.variable]}"
                raise CallError(f"{op.name}: {known}; {slot.name} has {found.name}")
            origin.setdefault(slot.variable, slot.name)
        elif found != slot.dtype and not (op.generic and slot.name in op.outputs):
            raise CallError(
                f"{op.name}: {slot.name} expected type {type_name(slot.dtype)} but found {found.name}; "
                f"convert the array, or use {op.name}.astype({found.name!r})"
            )
    return types


def element_type(op: Operator, name: str, array: Any) -> DType:
    """The element type of anything with a dtype; CallError if the language has no such type."""
    try:
        found = _known(array.dtype)
    except AttributeError:
        shown = type(array).__name__
        raise CallError(f"{op.name}: {name} expected an array (with shape and dtype) but found {shown}") from None
    if found is None:
        known = ", ".join(DTYPES)
        raise CallError(f"{op.name}: {name} has dtype {array.dtype}, which is not an element type; known: {known}")
    return found


@cache
def _known(np_dtype: Any) -> DType | None:
    if isinstance(np_dtype, np.dtype):
        return from_numpy(np_dtype)
    return DTYPES.get(str(np_dtype).rpartition(".")[2])


def _datum(op: Operator, name: str, value: Any, dtype: DType) -> bool | int | float:
    """A scalar that carries data, as a Python number of the right kind."""
    shape = tuple(getattr(value, "shape", ()))
    if shape:
        raise CallError(f"{op.name}: {name} expected a tensor with 0 dimensions but found {len(shape)}")
    plain = value.item() if hasattr(value, "item") else value
    if dtype.is_float and isinstance(plain, int | float) and not isinstance(plain, bool):
        return float(plain)
    if dtype.is_integral and isinstance(plain, int) and not isinstance(plain, bool):
        lowest, largest = limits(dtype)
        if lowest <= plain <= largest:
            return plain
        raise CallError(f"{op.name}: {name} = {plain} does not fit into {dtype.name} ({lowest} to {largest})")
    if dtype.kind == "bool" and isinstance(plain, bool):
        return plain
    raise CallError(f"{op.name}: {name} expected type {type_name(dtype)} but found {type(plain).__name__}")


# --- sizes


def _solve(op: Operator, plan: _Plan, tensors: dict[str, Any], outputs: dict[str, Any], sizes: dict[str, int]) -> None:
    shapes = [(slot, _shape(op, slot, tensors[name])) for name, slot in plan.inputs.items()]
    results = [(plan.outputs[name], _shape(op, plan.outputs[name], array)) for name, array in outputs.items()]
    telling = shapes + [(s, shape) for s, shape in results if op.tensors[s.name].role == "inout"]
    for slot, shape in telling:
        for dimension, name in slot.symbols:
            extent = shape[dimension]
            if sizes.setdefault(name, extent) != extent:
                raise _mismatch(op, telling, slot, dimension, name, sizes[name], extent)
    if len(sizes) < len(plan.shaping):
        _solve_others(telling, sizes)
        missing = sorted(plan.shaping - sizes.keys())
        if missing:
            known = ", ".join(f"{name}={value}" for name, value in sizes.items()) or "nothing"
            raise CallError(f"{op.name}: no shape tells {missing[0]}; give it as {missing[0]}=... (known: {known})")
    for slot, shape in shapes:
        for dimension, extent in slot.others:
            _check_extent(op, slot, dimension, extent, shape[dimension], sizes)
    for slot, shape in results:
        for dimension, extent in enumerate(op.tensors[slot.name].extent):
            _check_extent(op, slot, dimension, extent, shape[dimension], sizes)


def _shape(op: Operator, slot: _Slot, array: Any) -> tuple[int, ...]:
    shape = tuple(array.shape)
    if len(shape) != slot.rank:
        plural = "s" if slot.rank != 1 else ""
        raise CallError(
            f"{op.name}: {slot.name} expected a tensor with {slot.rank} dimension{plural} but found {len(shape)} "
            f"(shape {shape})"
        )
    return shape


def _mismatch(
    op: Operator,
    telling: list[tuple[_Slot, tuple[int, ...]]],
    slot: _Slot,
    dimension: int,
    name: str,
    previous: int,
    found: int,
) -> CallError:
    source = "the keyword"
    for other, shape in telling:
        places = [d for d, symbol in other.symbols if symbol == name and shape[d] == previous]
        if places and (other, places[0]) != (slot, dimension):
            source = f"{other.name}, dimension {places[0]}"
            break
    return CallError(
        f"{op.name}: mismatched sizes for {name}: {name} = {previous} from {source}; "
        f"{slot.name}, dimension {dimension} has {found}"
    )


def _solve_others(telling: list[tuple[_Slot, tuple[int, ...]]], sizes: dict[str, int]) -> None:
    """Dimensions that are arithmetic, each solved for its one unknown, as long as that finds any."""
    equations = [(extent, shape[dimension]) for slot, shape in telling for dimension, extent in slot.others]
    progress = True
    while progress:
        progress = False
        for expr, extent in equations:
            unknown = unknowns(expr) - sizes.keys()
            if len(unknown) == 1:
                (name,) = unknown
                value = _root(expr, name, extent, sizes)
                if value is not None:
                    sizes[name], progress = value, True


def _root(expr: Expr, name: str, extent: int, sizes: dict[str, int]) -> int | None:
    """The value of `name` at which a linear expression is `extent`; rounded down, the check comes later."""
    at_0, at_1, at_2 = (fold(expr, {**sizes, name: x}) for x in (0, 1, 2))
    slope = at_1 - at_0
    return (extent - at_0) // slope if slope and at_2 - at_1 == slope else None


def _check_extent(op: Operator, slot: _Slot, dimension: int, extent: Expr, found: int, sizes: dict[str, int]) -> None:
    expected = max(0, fold(extent, sizes))
    if expected != found:
        where = f"{op.name}: {slot.name}, dimension {dimension}"
        if isinstance(extent, Const):
            raise CallError(f"{where} expected the constant size {expected} but found {found}")
        known = ", ".join(f"{name} = {sizes[name]}" for name in sorted(unknowns(extent)))
        raise CallError(f"{where} expected {show(extent)} = {expected} ({known}) but found {found}")


def _check_conditions(op: Operator, sizes: dict[str, int]) -> None:
    for condition in op.conditions:
        if not fold(condition.expr, sizes):
            known = ", ".join(f"{name} = {sizes[name]}" for name in sorted(unknowns(condition.expr)))
            raise CallError(f"{op.name}: {show(condition.expr)} does not hold for {known}: {condition.reason}")
