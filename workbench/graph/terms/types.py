"""Types of models: tensors with named dimensions, tuples, functions, references, data types, variables.

Types are plain values: equal where they are written alike.  A variable whose name begins with `?` is unknown, that is,
inference looks for it; any other is quantified by the function that declares it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.graph.terms.dimensions import Dimension, names_of_sizes
from workbench.lang.dtypes import DType
from workbench.records import record


@record(slots=True)
class ElementVariable:
    """An element type that varies: `t` of `t[n, m]`."""

    name: str

    def __str__(self) -> str:
        return self.name


Element = DType | ElementVariable


@record(slots=True)
class TensorType:
    """`float32[n, 2*k + 1]`: an array of elements with these dimensions; a scalar has none."""

    element: Element
    dims: tuple[Dimension, ...] = ()


@record(slots=True)
class TupleType:
    """`(a, b)`; `()` is the type of the empty tuple."""

    items: tuple[Type, ...]


@record(slots=True)
class FunctionType:
    """`fn(a, b) -> c`."""

    parameters: tuple[Type, ...]
    result: Type


@record(slots=True)
class ReferenceType:
    """`ref(a)`: a cell that holds one value, which can be overwritten."""

    of: Type


@record(slots=True)
class DataType:
    """`List<a>`: a data type by name, with its arguments."""

    name: str
    arguments: tuple[Type, ...] = ()


@record(slots=True)
class TypeVariable:
    """A type that varies: `a` of `fn id<a>(x: a) -> a`."""

    name: str


Type = TensorType | TupleType | FunctionType | ReferenceType | DataType | TypeVariable

UNIT = TupleType(())


@record(slots=True)
class Quantified:
    """A variable that a function declares, `<a, t: floats>`.

    `kind` says what it stands for; `elements` is the class of an element type ("" for any): floats, integers, numbers.
    """

    name: str
    kind: str = "type"
    elements: str = ""


@record(slots=True)
class Scheme:
    """A type that holds for every meaning of the variables it quantifies (Damas and Milner, 1982)."""

    variables: tuple[Quantified, ...]
    type: Type


def parts(of: Type) -> tuple[Type, ...]:
    """The types directly inside a type."""
    match of:
        case TensorType() | TypeVariable():
            return ()
        case TupleType(items):
            return items
        case FunctionType(parameters, result):
            return (*parameters, result)
        case ReferenceType(inner):
            return (inner,)
        case DataType(_, arguments):
            return arguments


def rebuilt(of: Type, inner: tuple[Type, ...]) -> Type:
    """The same type with other types directly inside."""
    match of:
        case TensorType() | TypeVariable():
            return of
        case TupleType():
            return TupleType(inner)
        case FunctionType():
            return FunctionType(inner[:-1], inner[-1])
        case ReferenceType():
            return ReferenceType(inner[0])
        case DataType(name, _):
            return DataType(name, inner)


def walk_type(of: Type) -> Iterator[Type]:
    """The type and every type inside it, outer ones first."""
    stack = [of]
    while stack:
        found = stack.pop()
        yield found
        stack.extend(reversed(parts(found)))


def map_type(of: Type, change: Callable[[Type], Type]) -> Type:
    """The type rebuilt from the inside out; `change` sees each part after what is inside it."""
    inner = tuple(map_type(part, change) for part in parts(of))
    return change(rebuilt(of, inner) if inner else of)


def variables_of(of: Type) -> dict[str, str]:
    """Names of the variables of a type in order of occurrence, each with its kind: type, element or dimension."""
    found: dict[str, str] = {}
    for part in walk_type(of):
        match part:
            case TypeVariable(name):
                found.setdefault(name, "type")
            case TensorType(element, dims):
                if isinstance(element, ElementVariable):
                    found.setdefault(element.name, "element")
                for dim in dims:
                    for name in names_of_sizes(dim):
                        found.setdefault(name, "dimension")
            case _:
                pass
    return found
