"""A node of ONNX while it is taken over: its inputs as values, its attributes, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Array, Dims, Value, as_dims
from workbench.lang.dtypes import DTYPES, DType


class Surrounding(Protocol):
    """What a node with graphs inside needs of the graph that it stands in."""

    def branch(self, graph: Any, inputs: Sequence[Value]) -> list[Value]:
        """The results of a graph that stands inside a node, for its inputs."""
        ...


@dataclass(eq=False)
class Node:
    """A node: type, name for messages, inputs (None where one is left out), attributes and the version of its set."""

    type: str
    place: str
    inputs: list[Value | None]
    attributes: Mapping[str, Any]
    opset: int
    g: Emitter
    outputs: int = 1
    around: Surrounding | None = None
    wanted: tuple[bool, ...] = field(default=(True,))

    def __call__(self, name: str, default: Any = None) -> Any:
        """An attribute."""
        return self.attributes.get(name, default)

    def refuse(self, why: str) -> NoReturn:
        """Say that the node cannot be taken over."""
        raise UnsupportedModel(f"{self.place}: {why}")

    def input(self, at: int) -> Value:
        """An input that must be there."""
        found = self.optional(at)
        if found is None:
            self.refuse(f"input {at} is missing")
        return found

    def optional(self, at: int) -> Value | None:
        """An input, None where it is left out."""
        return self.inputs[at] if at < len(self.inputs) else None

    def given(self) -> list[Value]:
        """The inputs that are there."""
        return [value for value in self.inputs if value is not None]

    def array(self, at: int, what: str) -> Array:
        """The elements of an input that shapes the result, which must be known."""
        found = self.input(at).array
        if found is None:
            self.unknown(at, what)
        return found

    def integers(self, at: int, what: str) -> list[int]:
        """The elements of an input that shapes the result as numbers."""
        return [int(each) for each in self.array(at, what).reshape(-1)]

    def dims(self, at: int, what: str) -> Dims:
        """The elements of an input that shapes the result as dimensions."""
        found = as_dims(self.input(at))
        if found is None:
            self.unknown(at, what)
        return found

    def unknown(self, at: int, what: str) -> NoReturn:
        """Say that an input is data of a run, and must be known to write the definition."""
        names = self.g.sources_of(self.input(at))
        text = f"its {what} (input {at}) is data of a run, and what it computes, or its shape, depends on it"
        if names:
            given = ", ".join(f"{name!r}: ..." for name in names)
            text += f"; where it is always the same, give it: from_onnx(model, constants={{{given}}})"
        raise UnsupportedModel(f"{self.place}: {text}", names)

    def axes(self, attribute: str, at: int) -> list[int] | None:
        """Axes, which were an attribute in early versions and are an input in later ones; None if left out."""
        if attribute in self.attributes:
            return list(self.attributes[attribute])
        if self.optional(at) is None:
            return None
        return self.integers(at, attribute)

    def element(self, number: int) -> DType:
        """The element type that ONNX numbers so."""
        found = element_of(number)
        if found is None:
            self.refuse(f"element type {element_name(number)} is none of the workbench's: {', '.join(DTYPES)}")
        return found


Writer = Callable[[Node], Value | Sequence[Value | None]]
_NAMES = {"float": "float32", "double": "float64"}


def element_name(number: int) -> str:
    """ONNX's name of an element type."""
    from onnx import TensorProto

    return TensorProto.DataType.Name(number)


def element_of(number: int) -> DType | None:
    """The element type that ONNX numbers so; None if the workbench has none such."""
    name = element_name(number).lower()
    return DTYPES.get(_NAMES.get(name, name))


def scalar_of(value: Value) -> float | None:
    """The one element of a constant."""
    array = value.array
    return np.asarray(array).reshape(-1)[0].item() if array is not None and array.size == 1 else None
