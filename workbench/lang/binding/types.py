"""Element types of a call's arrays and scalars."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import DTYPES, DType, from_numpy
from workbench.lang.expr import Expr
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import type_name
from workbench.lang.unify import limits
from workbench.records import record


@record(slots=True)
class Slot:
    """One array of the call: an input tensor, or an output that may be given."""

    name: str
    rank: int
    dtype: DType
    variable: str
    symbols: tuple[tuple[int, str], ...]
    others: tuple[tuple[int, Expr], ...]


def type_variables(op: Operator, slots: list[tuple[Slot, Any]]) -> dict[str, DType]:
    """The types that the arrays give to the type variables; CallError for an array of another type."""
    types: dict[str, DType] = {}
    origin: dict[str, str] = {}
    for slot, array in slots:
        found = array_element_type(op, slot.name, array)
        if slot.variable:
            if types.setdefault(slot.variable, found) is not found:
                known = f"{slot.variable} = {types[slot.variable].name} from {origin[slot.variable]}"
                raise CallError(f"{op.name}: {known}; {slot.name} has {found.name}")
            origin.setdefault(slot.variable, slot.name)
        elif found is not slot.dtype and not (op.generic and slot.name in op.outputs):
            expected = f"{op.name}: {slot.name} expected type {type_name(slot.dtype)} but found {type_name(found)}"
            raise CallError(f"{expected}; {_conversion(op, slot, found, slots)}")
    return types


def _conversion(op: Operator, slot: Slot, found: DType, slots: list[tuple[Slot, Any]]) -> str:
    """What to do about an array of the wrong type: one alone is converted, where all have it the operator may be."""
    alike = [(each, array) for each, array in slots if each.dtype is slot.dtype and not each.variable]
    if found.kind == "bool" or any(array_element_type(op, each.name, array) is not found for each, array in alike):
        array = next(array for each, array in slots if each is slot)
        library = str(array.dtype).rpartition(".")[0]
        how = f"to({library}.{slot.dtype.name})" if library else f"astype({slot.dtype.name!r})"
        return f"convert this array: {slot.name}.{how}"
    arrays = "arrays" if len(alike) > 1 else "array"
    return f"convert the {arrays} to {slot.dtype.name}, or use {op.name}.astype({type_name(found)!r})"


def array_element_type(op: Operator, name: str, array: Any) -> DType:
    """The element type of anything with a dtype; CallError if the language has no such type."""
    try:
        found = _known(array.dtype)
    except AttributeError:
        shown = type(array).__name__
        raise CallError(f"{op.name}: {name} expected an array (with shape and dtype) but found {shown}") from None
    refuse_masked(array, f"{op.name}: {name}")
    if found is None:
        known = f"known: {', '.join(DTYPES)}. Convert the array, for example with .astype('float32')"
        raise CallError(f"{op.name}: {name} has dtype {array.dtype}, which is not an element type; {known}")
    return found


def refuse_masked(array: Any, where: str) -> None:
    """CallError for a masked array with masked elements: an operator knows no missing values."""
    if type(array) is not np.ndarray and isinstance(array, np.ndarray) and np.any(getattr(array, "mask", False)):
        count = int(np.count_nonzero(np.ma.getmaskarray(array)))
        raise CallError(
            f"{where} is a masked array with {count} of {array.size} elements masked, which an operator cannot leave "
            "out; give a value for them (array.filled(0)), or what lies below the mask (array.data)"
        )


@cache
def _known(np_dtype: Any) -> DType | None:
    if isinstance(np_dtype, np.dtype):
        return from_numpy(np_dtype)
    return DTYPES.get(str(np_dtype).rpartition(".")[2])


def datum(op: Operator, name: str, value: Any, dtype: DType) -> bool | int | float:
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
