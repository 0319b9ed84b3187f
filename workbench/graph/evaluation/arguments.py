"""Arguments of an evaluation: Python's values as values of a type, lists as `List`, None as the empty `Option`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.errors import CallError, shown, unknown_name
from workbench.graph.evaluation.values import Cell, Data, list_of
from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.types import DataType, ReferenceType, TensorType, TupleType, Type
from workbench.graph.terms.walking import Steps, run
from workbench.graph.text.printing_types import print_type
from workbench.lang.dtypes import DTYPES, DType, from_numpy


def checked_argument(value: Any, of: Type, known: Datatypes, where: str) -> Any:
    """A value as one of the type; CallError that says where it is not."""
    return value if _is_one(value, of, known) else run(_converted(value, of, known, where))


def _is_one(value: Any, of: Type, known: Datatypes) -> bool:
    """Whether a value of arrays, tuples and data is one of the type as it is; quick, because data may be large."""
    fields: dict[tuple[int, str], tuple[Type, ...] | None] = {}
    same = {of: of}
    stack = [(value, of)]
    while stack:
        each, kind = stack.pop()
        if type(each) is np.ndarray:
            if not isinstance(kind, TensorType) or len(kind.dims) != each.ndim or not _has_type(each, kind):
                return False
        elif type(each) is Data and isinstance(kind, DataType):
            key = id(kind), each.constructor
            if key not in fields:
                inside = _fields(each.constructor, kind, known)
                fields[key] = None if inside is None else tuple(same.setdefault(field, field) for field in inside)
            expected = fields[key]
            if expected is None or len(expected) != len(each.fields):
                return False
            stack += zip(each.fields, expected, strict=True)
        elif type(each) is tuple and isinstance(kind, TupleType) and len(kind.items) == len(each):
            stack += zip(each, kind.items, strict=True)
        else:
            return False
    return True


def _has_type(array: Any, of: TensorType) -> bool:
    element = of.element
    return array.dtype == element.numpy if isinstance(element, DType) else from_numpy(array.dtype) is not None


def _fields(constructor: str, of: DataType, known: Datatypes) -> tuple[Type, ...] | None:
    """The types of a constructor's fields in a data type; None if it is of another one."""
    definition, variant = known.constructors.get(constructor, (None, None))
    if definition is None or variant is None or definition.name != of.name:
        return None
    return definition.field_types(variant, of.arguments)


def _converted(value: Any, of: Type, known: Datatypes, where: str) -> Steps[Any]:
    match of:
        case TensorType():
            return _array(value, of, where)
        case TupleType(items):
            if not isinstance(value, tuple | list) or len(value) != len(items):
                raise _unexpected(value, of, where)
            found = []
            for at, (each, item) in enumerate(zip(value, items, strict=True)):
                found.append((yield _converted(each, item, known, f"{where}.{at}")))
            return tuple(found)
        case DataType():
            return (yield _data(value, of, known, where))
        case ReferenceType():
            if not isinstance(value, Cell):
                raise _unexpected(value, of, where)
            return value
        case _:
            return np.asarray(value) if isinstance(value, int | float | np.generic) else value


def _unexpected(value: Any, of: Type, where: str) -> CallError:
    return CallError(f"{where}: expected a value of type {print_type(of)} but found {shown(value)}")


def _array(value: Any, of: TensorType, where: str) -> Any:
    if isinstance(value, Data | str) or value is None or callable(value):
        raise _unexpected(value, of, where)
    wanted = of.element if isinstance(of.element, DType) else None
    plain = isinstance(value, bool | int | float | list | tuple)
    try:
        array = np.asarray(value, wanted.numpy if plain and wanted is not None else None)
    except (ValueError, TypeError, OverflowError) as error:
        raise CallError(f"{where}: expected {print_type(of)}: {error}") from None
    found = from_numpy(array.dtype)
    if found is None:
        raise CallError(f"{where} has dtype {array.dtype}, which is no element type; known: {', '.join(DTYPES)}")
    if wanted is not None and found != wanted:
        fix = f"convert it: .astype({wanted.name!r})"
        raise CallError(f"{where}: expected type {print_type(of)} but found {found.name}{list(array.shape)}; {fix}")
    if array.ndim != len(of.dims):
        raise CallError(f"{where}: expected {print_type(of)} but found an array of shape {array.shape}")
    return array


# --- data


def _data(value: Any, of: DataType, known: Datatypes, where: str) -> Steps[Data]:
    """Data from data, or from what Python has for it."""
    if of.name == "List" and not isinstance(value, Data):
        return (yield _list(value, of, known, where))
    if of.name == "Option" and not isinstance(value, Data):
        value = Data("None") if value is None else Data("Some", (value,))
    if of.name == "Tree" and not isinstance(value, Data):
        value = _tree(value, of, where)
    if not isinstance(value, Data):
        raise _unexpected(value, of, where)
    definition, variant = known.constructors.get(value.constructor, (None, None))
    if definition is None or variant is None or definition.name != of.name:
        names = [each.name for each in known.types[of.name].variants]
        raise CallError(f"{where}: {unknown_name(f'constructor of {of.name}', value.constructor, names)}")
    if len(variant.fields) != len(value.fields):
        counted = f"expected {len(variant.fields)} fields but found {len(value.fields)}"
        raise CallError(f"{where}: {variant.name}: {counted}")
    fields, types = [], definition.field_types(variant, of.arguments)
    for at, (each, field) in enumerate(zip(value.fields, types, strict=True)):
        fields.append((yield _converted(each, field, known, f"{where}.{variant.name}.{at}")))
    return Data(value.constructor, tuple(fields))


def _list(value: Any, of: DataType, known: Datatypes, where: str) -> Steps[Data]:
    if isinstance(value, str) or not isinstance(value, Iterable) or (isinstance(value, np.ndarray) and value.ndim == 0):
        raise _unexpected(value, of, where)
    elements = list(value)
    if _is_one(as_it_is := list_of(elements), of, known):
        return as_it_is
    found = []
    for at, each in enumerate(elements):
        found.append((yield _converted(each, of.arguments[0], known, f"{where}[{at}]")))
    return list_of(found)


def _tree(value: Any, of: DataType, where: str) -> Data:
    """A tree from `None`, or from `(value, left, right)`."""
    if value is None:
        return Data("Leaf")
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise CallError(f"{where}: a {print_type(of)} is None or (value, left, right), not {shown(value)}")
    return Data("Node", tuple(value))
