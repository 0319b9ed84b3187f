"""What a tensor of the other framework is here: a term with its type, and its contents where they are known.

Contents that shape other tensors (the second input of a Reshape, the sizes that `Shape` gives) are followed as whole
numbers or dimensions, so that no shape depends on data as long as it can be told from the model's inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.graph.terms.nodes import Constant, Term
from workbench.lang.dtypes import INT64, DType

Array = np.ndarray[Any, Any]
Dims = tuple[Dimension, ...]


@dataclass(eq=False)
class Value:
    """A tensor: element type, dimensions, the term that computes it.

    `contents` are its elements, if they are known while the model is taken over: an array of numbers, or an array of
    objects that are dimensions.  The term of the latter is made when it is first asked for.
    """

    element: DType
    dims: Dims
    made: Term | Callable[[], Term]
    contents: Array | None = None

    @property
    def term(self) -> Term:
        """The term that computes it."""
        if callable(self.made):
            self.made = self.made()
        return self.made

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def array(self) -> Array | None:
        """Its elements, if all are numbers."""
        return self.contents if self.contents is not None and self.contents.dtype != object else None

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Its dimensions as numbers, None for those that vary."""
        return tuple(dim.constant for dim in self.dims)


def of_array(array: Array, element: DType) -> Value:
    """A constant."""
    return Value(element, dims_of(array.shape), Constant(array), array)


def dims_of(sizes: Sequence[int | Dimension]) -> Dims:
    """Dimensions of numbers or dimensions."""
    return tuple(dimension(size) for size in sizes)


def symbolic(contents: Any) -> Array:
    """An array of dimensions; of int64 numbers, if all are."""
    array = np.empty(np.shape(contents), object)
    array[...] = contents
    flat = [dimension(each) for each in array.reshape(-1)]
    if all(each.constant is not None for each in flat):
        return np.array([each.constant for each in flat], INT64.numpy).reshape(array.shape)
    for at, each in enumerate(flat):
        array.reshape(-1)[at] = each
    return array


def as_dims(value: Value) -> Dims | None:
    """The elements of a vector or scalar of whole numbers as dimensions; None if they are not known."""
    if value.contents is None:
        return None
    return tuple(each if isinstance(each, Dimension) else dimension(int(each)) for each in value.contents.reshape(-1))
