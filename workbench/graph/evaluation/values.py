"""Values of models: arrays, tuples, data, cells and closures; and what of Python is taken for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.records import record

_LONGEST = 12


@record(slots=True, eq=False, repr=False)
class Data:
    """A value of a data type: its constructor and what that holds.

    Equal if all that is inside is equal, arrays element by element; lists may be as long as they like.
    """

    constructor: str
    fields: tuple[Any, ...] = ()

    def __init__(self, constructor: str, fields: tuple[Any, ...] = ()) -> None:
        # In less than half the time that a record takes: a list of a model is one of these for each element.
        _put_constructor(self, constructor)
        _put_fields(self, fields)

    def __eq__(self, other: object) -> bool:
        return same(self, other)

    __hash__ = None  # type: ignore[assignment]  # arrays have no hash either

    def __iter__(self) -> Iterator[Any]:
        """The elements of a list; of any other data, its fields."""
        return iter(to_list(self) if self.constructor in ("Cons", "Nil") else self.fields)

    def __repr__(self) -> str:
        if self.constructor in ("Cons", "Nil"):
            elements = to_list(self)
            inside = ", ".join(map(_short, elements[:_LONGEST]))
            return f"[{inside}{', ...' if len(elements) > _LONGEST else ''}]"
        return f"{self.constructor}({', '.join(map(_short, self.fields))})" if self.fields else self.constructor


_put_constructor = Data.constructor.__set__  # type: ignore[attr-defined]
_put_fields = Data.fields.__set__  # type: ignore[attr-defined]


def _short(value: Any) -> str:
    if isinstance(value, Data) and value.constructor not in ("Cons", "Nil"):
        return f"{value.constructor}(...)" if value.fields else value.constructor
    if isinstance(value, np.ndarray) and value.ndim:
        return f"{value.dtype.name}{list(value.shape)}"
    return str(value)


@dataclass(eq=False)
class Cell:
    """What a reference refers to: a place for one value, which a model may overwrite."""

    value: Any


def data(constructor: str, *fields: Any) -> Data:
    """A value of a data type by its constructor, as models take and give it.

    >>> data("Some", 3)
    Some(3)
    """
    return Data(constructor, fields)


def list_of(elements: Iterable[Any]) -> Data:
    """A list of a model from the elements of one in Python."""
    found = Data("Nil")
    for element in reversed(list(elements)):
        found = Data("Cons", (element, found))
    return found


def to_list(of: Data) -> list[Any]:
    """The elements of a model's list.

    >>> to_list(list_of([1, 2, 3]))
    [1, 2, 3]
    """
    found: list[Any] = []
    while of.constructor == "Cons":
        first, of = of.fields
        found.append(first)
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal, arrays bit for bit except that any NaN is like another; without recursion."""
    stack = [(a, b)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, Data) and isinstance(right, Data):
            if left.constructor != right.constructor or len(left.fields) != len(right.fields):
                return False
            stack += zip(left.fields, right.fields, strict=True)
        elif isinstance(left, tuple) and isinstance(right, tuple):
            if len(left) != len(right):
                return False
            stack += zip(left, right, strict=True)
        elif isinstance(left, Cell) and isinstance(right, Cell):
            stack.append((left.value, right.value))
        elif not _same_array(left, right):
            return False
    return True


def _same_array(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Data | tuple | Cell) or isinstance(b, Data | tuple | Cell) or callable(a) or callable(b):
        return False
    left, right = np.asarray(a), np.asarray(b)
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return bool(np.all((left == right) | ((left != left) & (right != right))))
