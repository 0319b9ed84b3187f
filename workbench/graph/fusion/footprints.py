"""Bytes of values, exactly and at the sizes for which decisions are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from workbench.graph.memory.byte_counts import Bytes
from workbench.graph.terms.dimensions import Dimension, dimension, shown, symbols, value_of
from workbench.graph.terms.types import TensorType
from workbench.lang.dtypes import DType
from workbench.records import record
from workbench.target import Target

USUAL = 128
"""What a dimension with a name is taken to be where nobody says."""


@record
class Machine:
    """What decides whether a value may stay near: a row in a part of the second cache, a small one in one of the first.

    `sizes` are what named dimensions are taken to be.
    """

    target: Target = field(default_factory=Target)
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def row_bytes(self) -> int:
        """The largest row that stays in the cache beside what else is there."""
        return self.target.cache_bytes[1] // 4

    @property
    def small_bytes(self) -> int:
        """The largest value that stays in the first cache until it is read."""
        return self.target.cache_bytes[0] // 4


def bytes_of(of: TensorType) -> Bytes:
    """The bytes of a tensor, over the names of its dimensions."""
    assert isinstance(of.element, DType)
    total = dimension(of.element.bytes)
    for dim in of.dims:
        total = total * dim
    return total.constant if total.constant is not None else total


def bytes_at(of: TensorType, machine: Machine) -> int:
    """The bytes of a tensor at the sizes that decisions are made for."""
    found = bytes_of(of)
    if isinstance(found, int):
        return found
    return max(0, value_of(found, {name: machine.sizes.get(name, USUAL) for name in symbols(found)}))


def elements_at(of: TensorType, depth: int) -> str:
    """How many elements one row has, behind so many axes."""
    total: Dimension = dimension(1)
    for dim in of.dims[depth:]:
        total = total * dim
    return shown(total)
