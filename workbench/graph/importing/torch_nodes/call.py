"""A call of an operation of PyTorch while it is taken over: its arguments by name, and how it is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Dims, Value, symbolic
from workbench.graph.importing.written.elementwise import cast
from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.lang.dtypes import DTYPES, FLOAT32, INT64, DType

Result = Any  # a Value, a Dimension, or a tuple of them


class Surrounding(Protocol):
    """What a call with graphs inside needs of the graph that it stands in."""

    def branch(self, module: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The results of a graph that is an argument, for its operands."""
        ...


@dataclass(eq=False)
class Call:
    """A call: name of the operation, arguments by name, and `result` as PyTorch found it: what has shape and type."""

    name: str
    place: str
    arguments: Mapping[str, Any]
    result: Any
    g: Emitter
    around: Surrounding | None = None

    def __call__(self, name: str, default: Any = None) -> Any:
        """An argument; the default also stands for None."""
        found = self.arguments.get(name)
        return default if found is None else found

    def refuse(self, why: str) -> NoReturn:
        """Say that the call cannot be taken over."""
        raise UnsupportedModel(f"{self.place}: {why}")

    def value(self, name: str) -> Value:
        """An argument as a tensor; a number becomes a constant of the result's type."""
        found = self(name)
        if isinstance(found, Value):
            return found
        if found is None:
            self.refuse(f"its argument {name} is missing")
        return self.tensor(found)

    def optional(self, name: str) -> Value | None:
        """A tensor that may be left out."""
        found = self(name)
        return found if found is None or isinstance(found, Value) else self.tensor(found)

    def tensor(self, number: Any, element: DType | None = None) -> Value:
        """A number or size as a tensor without axes."""
        if isinstance(number, Value):
            return number
        if isinstance(number, Dimension):
            found = self.g.contents(symbolic(number))
            return cast(self.g, found, element) if element is not None else found
        natural = np.asarray(number)
        of = element or (FLOAT32 if natural.dtype.kind == "f" else INT64 if natural.dtype.kind == "i" else None)
        return self.g.constant(natural, DTYPES["bool"]) if of is None else self.g.scalar(number, of)

    @property
    def element(self) -> DType:
        """The element type of the (first) result."""
        first = self.result[0] if isinstance(self.result, tuple | list) else self.result
        return self.element_of(first.dtype)

    def element_of(self, dtype: Any) -> DType:
        """The element type that PyTorch calls so."""
        name = str(dtype).removeprefix("torch.")
        if name not in DTYPES:
            self.refuse(f"element type {name} is none of the workbench's: {', '.join(DTYPES)}")
        return DTYPES[name]

    def dims(self, sizes: Sequence[int | Dimension]) -> Dims:
        """Sizes as dimensions."""
        return tuple(dimension(size) for size in sizes)

    def number(self, name: str, default: Any = None) -> Any:
        """An argument that must be a number."""
        found = self(name, default)
        if isinstance(found, Dimension):
            if found.constant is None:
                self.refuse(f"its argument {name} varies")
            return found.constant
        return found

    def numbers(self, name: str, count: int | None = None, default: Sequence[int] = ()) -> list[int]:
        """An argument that must be a list of numbers; one stands for `count` equal ones."""
        found = self(name, default)
        found = [found] if isinstance(found, int | Dimension) else list(found)
        known = [each.constant if isinstance(each, Dimension) else each for each in found]
        plain = [each for each in known if each is not None]
        if len(plain) < len(known):
            self.refuse(f"its argument {name} varies")
        return plain * count if count and len(plain) == 1 else plain


Writer = Callable[[Call], Result]
