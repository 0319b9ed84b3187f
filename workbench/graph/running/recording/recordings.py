"""`Recording`: a straight piece of a model at given sizes, as the list of calls that it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from workbench.graph.terms.types import TupleType, Type
from workbench.lang.operator import Operator
from workbench.records import record

Array = np.ndarray[Any, Any]


@record(slots=True, eq=False, repr=False)
class Value:
    """A tensor of a recording: its element type and shape; `array` holds what a constant contains."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    array: Array | None = None

    @property
    def bytes(self) -> int:
        """What its elements take."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def ghost(self) -> Array:
        """An array of this type and shape without contents, for questions about calls."""
        return ghost(self.dtype, self.shape)

    def __repr__(self) -> str:
        return f"<Value {self.name}: {self.dtype}{list(self.shape)}>"


def ghost(dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """An array without contents, and almost without memory."""
    return np.broadcast_to(np.zeros((), dtype), shape)


Nested = Any
"""A value, an array, or a tuple of such."""


@record(slots=True, eq=False)
class OperatorCall:
    """A call of an operator: sizes by name, the inputs by parameter, what outputs hold before (where that counts)."""

    name: str
    op: Operator
    sizes: dict[str, int]
    inputs: dict[str, Value]
    initial: tuple[Value | None, ...]
    results: tuple[Value, ...]
    label: str = ""

    @property
    def reads(self) -> tuple[Value, ...]:
        """Every tensor it needs."""
        return (*self.inputs.values(), *(each for each in self.initial if each is not None))


@record(slots=True, eq=False)
class ForeignCall:
    """A call of a function of Python that stands for a function of the model."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Nested, ...]
    nested: Nested
    label: str = ""

    @property
    def reads(self) -> tuple[Value, ...]:
        """Every tensor it needs."""
        return tuple(flat(self.arguments))

    @property
    def results(self) -> tuple[Value, ...]:
        """Every tensor it gives."""
        return tuple(flat(self.nested))


RecordedCall = OperatorCall | ForeignCall


@record(slots=True, eq=False)
class Recording:
    """Calls in order, from the tensors that are given to those that are asked for."""

    inputs: tuple[Value, ...]
    calls: tuple[RecordedCall, ...]
    outputs: Nested

    @property
    def constants(self) -> tuple[Value, ...]:
        """The constants that calls read or that are results, each once."""
        every = [each for call in self.calls for each in call.reads] + list(flat(self.outputs))
        return tuple(dict.fromkeys(each for each in every if each.array is not None))

    def __str__(self) -> str:
        return "\n".join(_line(call) for call in self.calls)


def _line(call: RecordedCall) -> str:
    inputs = ", ".join(each.name for each in call.reads)
    results = ", ".join(f"{each.name}: {each.dtype.name}{list(each.shape)}" for each in call.results)
    return f"{call.name}({inputs}) → {results}"


def flat(nested: Nested) -> Iterator[Any]:
    """What is in tuples in tuples, from left to right."""
    if isinstance(nested, tuple):
        for item in nested:
            yield from flat(item)
    else:
        yield nested


def mapped(nested: Nested, change: Callable[[Any], Any]) -> Nested:
    """The same tuples with other things inside."""
    return tuple(mapped(item, change) for item in nested) if isinstance(nested, tuple) else change(nested)


def in_tuples(of: Type | None, waiting: Iterator[Any]) -> Nested:
    """What is waiting, in the tuples of a type."""
    return tuple(in_tuples(item, waiting) for item in of.items) if isinstance(of, TupleType) else next(waiting)


