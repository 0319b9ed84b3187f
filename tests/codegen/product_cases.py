"""Calls of the micro-kernels of products on blocks with all kinds of strides, and what they must give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.codegen.c.unit import PRELUDE
from workbench.codegen.cmath.helper import BASE
from workbench.lang.dtypes import DTYPES
from workbench.schedules.kernels.product_frame import Pair, ProductInstruction
from workbench.schedules.kernels.products import INSTRUCTIONS

Array = np.ndarray[Any, Any]
SIZES = ((35, 53, 67), (1, 1, 1), (67, 99, 530))
TURNED = ((False, False, False), (True, False, True), (False, True, False))


@dataclass(frozen=True)
class Case:
    """An instruction for two element types."""

    own: ProductInstruction
    pair: Pair

    @property
    def name(self) -> str:
        return self.own.kernel_name(*self.pair)

    @property
    def source(self) -> str:
        """The micro-kernel as a function that others may call."""
        return self.own.kernel(*self.pair).source.replace("static void wb_", "void wb_")


def cases(first: Sequence[str]) -> list[Case]:
    """Those of processors whose features begin like this."""
    return [Case(own, p) for own in INSTRUCTIONS if own.isa[0].startswith(tuple(first)) for p in own.operands]


def unit(chosen: Sequence[Case]) -> str:
    """One C file with their functions."""
    return "\n".join([BASE.source, PRELUDE, *(c.source for c in chosen)])


@dataclass(frozen=True)
class Block:
    """A call: arrays as they lie in memory, strides in elements, sizes."""

    arrays: tuple[Array, Array, Array]
    strides: tuple[tuple[int, int], ...]
    sizes: tuple[int, int, int]

    def views(self) -> list[Array]:
        """A, B and C as matrices."""
        m, n, k = self.sizes
        shapes = ((m, k), (k, n), (m, n))
        return [
            np.lib.stride_tricks.as_strided(a, shape, [s * a.itemsize for s in strides])
            for a, shape, strides in zip(self.arrays, shapes, self.strides, strict=True)
        ]


def blocks(case: Case) -> Iterator[Block]:
    """Awkward sizes; each operand as it is or transposed, in a larger matrix."""
    kinds = (*case.pair, case.own.result)
    for seed, ((m, n, k), turned) in enumerate(zip(SIZES, TURNED, strict=True)):
        arrays, strides = [], []
        for number, (kind, shape, turn) in enumerate(zip(kinds, ((m, k), (k, n), (m, n)), turned, strict=True)):
            rows, columns = shape[::-1] if turn else shape
            arrays.append(numbers(kind, (rows, columns + 3), 10 * seed + number))
            strides.append((1, columns + 3) if turn else (columns + 3, 1))
        yield Block((arrays[0], arrays[1], arrays[2]), tuple(strides), (m, n, k))


def numbers(kind: str, shape: tuple[int, ...], seed: int) -> Array:
    """Integers of the whole range with its ends, floats of both signs."""
    random, dtype = np.random.default_rng(seed), DTYPES[kind].numpy
    if DTYPES[kind].is_float:
        return random.standard_normal(shape).astype("float32").astype(dtype)
    ends = np.iinfo(dtype)
    found = random.integers(ends.min, ends.max + 1, shape).astype(dtype)
    found[0], found[-1] = ends.min, ends.max
    return found


def assert_right(case: Case, block: Block, result: Array) -> None:
    """The whole result, its cells between the rows too: integers exactly, floats as sums of k roundings allow."""
    a, b, c = (x.astype("int32" if case.own.result == "int32" else "float64") for x in block.views())
    after = Block((*block.arrays[:2], result), block.strides, block.sizes).views()[2]
    beside = np.ones(result.shape, bool)
    Block((*block.arrays[:2], beside), block.strides, block.sizes).views()[2][...] = False
    np.testing.assert_array_equal(result[beside], block.arrays[2][beside], err_msg=case.name)
    if case.own.result == "int32":
        np.testing.assert_array_equal(after, c + a @ b, err_msg=case.name)
        return
    bound = 2 * (block.sizes[2] + 2) * 2.0**-24 * (abs(c) + abs(a) @ abs(b))
    assert np.all(abs(after - (c + a @ b)) <= bound), case.name
