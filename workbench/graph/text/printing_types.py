"""Types and dimensions in the form in which they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.graph.terms.datatypes import DataDefinition, Variant
from workbench.graph.terms.dimensions import Dimension, dimension, names_of_sizes, replaced, shown
from workbench.graph.terms.types import (
    DataType,
    ElementVariable,
    FunctionType,
    Quantified,
    ReferenceType,
    TensorType,
    TupleType,
    Type,
    TypeVariable,
)
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.dtypes import DType

Rename = Callable[[str], str]


def _same(name: str) -> str:
    return name


def print_type(of: Type, rename: Rename = _same) -> str:
    """A type as it is written.

    >>> from workbench.graph.terms.dimensions import dimension
    >>> from workbench.lang.dtypes import FLOAT32
    >>> print_type(FunctionType((TensorType(FLOAT32, (dimension("n"),)),), TupleType(())))
    'fn(float32[n]) -> ()'
    """
    match of:
        case TensorType(element, dims):
            inside = [print_dimension(dim, rename) for dim in dims]
            brackets = f"[{', '.join(inside)}]" if dims or isinstance(element, ElementVariable) else ""
            return (element.name if isinstance(element, DType) else rename(element.name)) + brackets
        case TupleType((only,)):
            return f"({print_type(only, rename)},)"
        case TupleType(items):
            return f"({_list(items, rename)})"
        case FunctionType(parameters, result):
            return f"fn({_list(parameters, rename)}) -> {print_type(result, rename)}"
        case ReferenceType(inner):
            return f"ref({print_type(inner, rename)})"
        case DataType(name, arguments):
            return f"{name}<{_list(arguments, rename)}>" if arguments else name
        case TypeVariable(name):
            return rename(name)


def _list(types: Iterable[Type], rename: Rename) -> str:
    return ", ".join(print_type(of, rename) for of in types)


def print_dimension(of: Dimension, rename: Rename = _same) -> str:
    """A dimension as it is written."""
    if rename is _same:
        return shown(of)
    renamed = replaced(of, {name: dimension(rename(name)) for name in names_of_sizes(of)})
    return shown(Polynomial(dict(sorted(renamed.terms, key=str))))


def print_quantified(declared: tuple[Quantified, ...], rename: Rename = _same) -> str:
    """`<a, t: floats>`, or nothing."""
    inside = [rename(q.name) + (f": {q.elements or 'any'}" if q.kind == "element" else "") for q in declared]
    return f"<{', '.join(inside)}>" if inside else ""


def print_definition(definition: DataDefinition) -> str:
    """`type List<a> = Nil | Cons(a, List<a>)`."""
    parameters = f"<{', '.join(definition.parameters)}>" if definition.parameters else ""
    return f"type {definition.name}{parameters} = {' | '.join(map(_variant, definition.variants))}"


def _variant(variant: Variant) -> str:
    return f"{variant.name}({_list(variant.fields, _same)})" if variant.fields else variant.name
