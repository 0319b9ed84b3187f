"""What a gradient keeps or computes again, with its bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import mul

from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.algebra.polynomial import number
from workbench.lang.derived.text.source import Source
from workbench.lang.dtypes import FLOAT32
from workbench.lang.operator import Tensor
from workbench.lang.oracle.exact import exact
from workbench.lang.printing.printer import show
from workbench.records import record


@record(repr=False)
class Kept:
    """A value between inputs and outputs: its name, its element type and its extents, as tensors have them."""

    tensor: Tensor
    element: str
    element_bytes: int

    @property
    def name(self) -> str:
        """Its name, as `saved=` takes it."""
        return self.tensor.name

    def bytes(self, **sizes: int) -> int:
        """Its bytes for some sizes."""
        extents = (max(0, int(exact(each, sizes))) for each in self.tensor.extent)
        return reduce(mul, extents, self.element_bytes)

    def __str__(self) -> str:
        shape = ", ".join(show(each) for each in self.tensor.extent)
        total = reduce(mul, map(polynomial, self.tensor.extent), number(self.element_bytes))
        return f"{self.name}: {self.element}{f'({shape})' if shape else ''}, {show(bound(total))} bytes"

    __repr__ = __str__


def kept(tensors: Iterable[Tensor], source: Source) -> tuple[Kept, ...]:
    """The tensors as values with their bytes; of a type variable those of float32, its default."""
    found = []
    for tensor in tensors:
        element = source.word(tensor.dtype)
        varies = tensor.dtype == source.stands_for
        found.append(Kept(tensor, element, (FLOAT32 if varies else tensor.dtype).bytes))
    return tuple(found)


