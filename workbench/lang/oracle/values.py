"""Values of expressions over a block of instances: every array broadcasts against the block's box.

An index that does not occur costs nothing (its axis has length 1), an affine read inside its
tensor is a strided view, everything else is gathered.  Conditions travel down as guards: a read
that is out of range matters only where its guard is true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from workbench.errors import CallError
from workbench.lang.algebra.normal_form import is_index_arithmetic
from workbench.lang.dtypes import DType
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    Unary,
    children,
)
from workbench.lang.oracle.blocks import Affine, Array, Block, affine_form
from workbench.lang.oracle.builtins import builtin
from workbench.lang.oracle.exact import exact, is_exact
from workbench.lang.oracle.numbers import BINARY, Arithmetic, shift, store

Guard = Array | None


@dataclass
class Cells:
    """The cells of one tensor: `array[index - lower]`, in its element type or a working type."""

    name: str
    dtype: DType
    lower: tuple[int, ...]
    array: Array


Memory = dict[str, Cells]


@dataclass
class Values:
    """Evaluates expressions for all instances of a block.

    `reading` remembers by identity which nodes read a cell; it may be shared by the blocks of one
    statement, whose expressions live as long as it does.
    """

    memory: Mapping[str, Cells]
    block: Block
    arithmetic: Arithmetic
    statement: str = ""
    reading: dict[int, bool] = field(default_factory=dict)
    _known: dict[int, Array] = field(default_factory=dict)

    def value(self, expr: Expr, guard: Guard = None) -> Array:
        """The value in its working type; reads are checked where `guard` holds."""
        # Lets are inlined as shared nodes: without this a chain of lets costs exponential time.
        if guard is not None and self._reads(expr):
            return self._compute(expr, guard)
        if id(expr) not in self._known:
            self._known[id(expr)] = self._compute(expr, guard)
        return self._known[id(expr)]

    def _reads(self, expr: Expr) -> bool:
        """Whether a guard can matter: something inside is read at a subscript."""
        if id(expr) not in self.reading:
            below = any([self._reads(child) for child in children(expr)])
            self.reading[id(expr)] = below or (isinstance(expr, Read) and bool(expr.subscripts))
        return self.reading[id(expr)]

    def _compute(self, expr: Expr, guard: Guard) -> Array:
        match expr:
            case Const(value, dtype):
                return self.arithmetic.constant(value, dtype)
            case Size(name, dtype) | Index(name, dtype):
                return np.asarray(self.block.grids[name]).astype(dtype.numpy)
            case Read():
                return self._read(expr, guard)
            case Unary(op, operand, dtype):
                return self._typed(_unary(op, self.value(operand, guard)), dtype)
            case Cast(operand, dtype):
                return self.arithmetic.cast(self.value(operand, guard), operand.dtype, dtype)
            case Binary():
                return self._binary(expr, guard)
            case Select(condition, then, otherwise, dtype):
                chosen = self.value(condition, guard)
                yes = self.value(then, _both(guard, chosen))
                no = self.value(otherwise, _both(guard, ~chosen))
                return self._typed(np.where(chosen, yes, no), dtype)
            case Call(function, arguments, dtype):
                return self._call(function, [self.value(a, guard) for a in arguments], dtype)

    def _binary(self, expr: Binary, guard: Guard) -> Array:
        if expr.op in COMPARISONS and is_index_arithmetic(expr.left) and is_index_arithmetic(expr.right):
            return BINARY[expr.op](self.subscript(expr.left, guard), self.subscript(expr.right, guard))
        left = self.value(expr.left, guard)
        if expr.op in ("&&", "||"):
            guard = _both(guard, left if expr.op == "&&" else ~left)
        right = self.value(expr.right, guard)
        if expr.op in ("<<", ">>"):
            return shift(expr.op, left, right, expr.dtype)
        return self._typed(BINARY[expr.op](left, right), expr.dtype)

    def _call(self, function: str, arguments: list[Array], dtype: DType) -> Array:
        if function == "nextafter":  # the neighbour depends on the declared type
            arguments = [store(a, dtype) for a in arguments]
        return self._typed(builtin(function)(*arguments), dtype)

    def _typed(self, values: Any, dtype: DType) -> Array:
        return self.arithmetic.load(values, dtype)

    def _read(self, read: Read, guard: Guard) -> Array:
        cells = self.memory[read.tensor]
        values = strided_view(cells, [affine_form(s, self.block) for s in read.subscripts], self.block)
        if values is None:
            values = self._gather(cells, read, guard)
        return self.arithmetic.load(values, read.dtype)

    def _gather(self, cells: Cells, read: Read, guard: Guard) -> Array:
        positions = self.positions(cells, read.subscripts, guard)
        if cells.array.size == 0:
            return np.zeros((1,) * len(self.block.shape), cells.array.dtype)
        return cells.array[tuple(positions)]

    def positions(self, cells: Cells, subscripts: tuple[Expr, ...], guard: Guard) -> list[Array]:
        """Array positions along each dimension: checked where `guard` holds, moved inside elsewhere."""
        found = []
        for subscript, lower, extent in zip(subscripts, cells.lower, cells.array.shape, strict=True):
            at = self.subscript(subscript, guard)
            at = at - lower if lower else at
            if at.size and (at.min() < 0 or at.max() >= extent):
                outside = (at < 0) | (at >= extent)
                self._refuse(cells, outside if guard is None else outside & guard, at + lower)
                at = np.minimum(np.maximum(at, 0), extent - 1)
            found.append(at)
        return found

    def subscript(self, expr: Expr, guard: Guard) -> Array:
        """A subscript as an int64 array: exact if it is made of indices and sizes, else as typed."""
        values = exact(expr, self.block.grids) if is_exact(expr) else self.value(expr, guard)
        at = np.asarray(values).astype(np.int64, copy=False)
        return at.reshape(_padded(at.shape, len(self.block.shape)))

    def _refuse(self, cells: Cells, outside: Array, subscripts: Array) -> None:
        if not outside.any():
            return
        everywhere = np.broadcast_to(outside, self.block.shape)
        where = tuple(int(p) for p in np.unravel_index(int(np.argmax(everywhere)), self.block.shape))
        subscript = int(np.broadcast_to(subscripts, self.block.shape)[where])
        raise CallError(
            f"statement {self.statement!r} reaches {cells.name} out of range: "
            f"at {self.block.instance(where)} a subscript is {subscript}, "
            f"but {cells.name} has shape {cells.array.shape}"
            f"{f' starting at {cells.lower}' if any(cells.lower) else ''}; "
            "guard the access with a condition, or correct the index values"
        )


def _unary(op: str, values: Array) -> Array:
    if op == "-":
        return np.negative(values)
    return np.logical_not(values) if op == "!" else np.invert(values)


def _both(guard: Guard, condition: Array) -> Array:
    return condition if guard is None else guard & condition


def _padded(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return shape if len(shape) == rank else (1,) * (rank - len(shape)) + shape


def strided_view(cells: Cells, subscripts: list[Affine], block: Block) -> Array | None:
    """A view of `cells` at affine subscripts over the block (axes that do not occur have length 1).

    None if a subscript is not affine or leaves the tensor.
    """
    steps = dict.fromkeys(block.names, 0)
    origin = []
    dimensions = zip(subscripts, cells.lower, cells.array.shape, cells.array.strides, strict=True)
    for subscript, lower, extent, stride in dimensions:
        first = _first_position(subscript, lower, extent, block)
        if subscript is None or first is None:
            return None
        origin.append(first)
        for name, coefficient in subscript[1].items():
            steps[name] += coefficient * stride
    used = {name for s in subscripts if s for name in s[1]}
    shape = tuple(length if name in used else 1 for name, length in block.lengths.items())
    corner = cells.array[(*(slice(p, p + 1) for p in origin), ...)]
    return as_strided(corner, shape, tuple(steps[name] for name in block.names), writeable=False)


def _first_position(subscript: Affine, lower: int, extent: int, block: Block) -> int | None:
    """Position of a subscript at the block's first instance, if it stays inside for all of them."""
    if subscript is None:
        return None
    first = smallest = largest = subscript[0] - lower
    for name, coefficient in subscript[1].items():
        start, reach = coefficient * block.starts[name], coefficient * (block.lengths[name] - 1)
        first += start
        smallest += start + min(0, reach)
        largest += start + max(0, reach)
    return first if smallest >= 0 and largest < extent else None
