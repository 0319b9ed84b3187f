"""Expressions over all instances of a statement at once, as instructions over arrays whose axes are its indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from string import ascii_letters

import numpy as np

from workbench.errors import EngineError
from workbench.graph.engines.arrays.programs import Writer
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.lang.oracle.blocks import Block, affine_form
from workbench.lang.oracle.exact import exact, is_exact
from workbench.records import record

_LOGIC = ("&&", "||")
_MOST_GROWTH = 64


@record
class Cells:
    """A tensor: the value that holds it, its elements, where its indices start, and its extents."""

    value: int
    dtype: DType
    lower: tuple[int, ...]
    shape: tuple[int, ...]


@record
class Named:
    """A value whose axes belong to some indices, in the order of the statement."""

    value: int
    axes: tuple[str, ...]
    dtype: DType


class Expressions:
    """Writes expressions for the box of instances of one statement."""

    def __init__(self, write: Writer, block: Block, cells: Mapping[str, Cells]) -> None:
        self.write, self.block, self.cells = write, block, cells
        self._known: dict[tuple[int, bool], tuple[Expr, Named]] = {}

    def value(self, expr: Expr, *, guarded: bool = False) -> Named:
        """The value of an expression; a guarded read may be out of range, and then finds some number."""
        key = (id(expr), guarded)
        if key not in self._known:
            self._known[key] = (expr, self._compute(expr, guarded))
        return self._known[key][1]

    def _compute(self, expr: Expr, guarded: bool) -> Named:
        match expr:
            case Const(value, dtype):
                return self.constant(value, dtype)
            case Size(name, dtype):
                return self.constant(self.block.fixed[name], dtype)
            case Index(name, dtype):
                return self.index(name, dtype)
            case Read(tensor, subscripts, _):
                return self.read(self.cells[tensor], subscripts, guarded=guarded)
            case Unary(op, operand, dtype):
                return self.elementwise(f"unary {op}", [self.value(operand, guarded=guarded)], dtype)
            case Cast(operand, dtype):
                return self.cast(self.value(operand, guarded=guarded), dtype)
            case Binary(op, left, right, dtype):
                late = guarded or op in _LOGIC
                return self.elementwise(op, [self.value(left, guarded=guarded), self.value(right, guarded=late)], dtype)
            case Select(condition, then, otherwise, dtype):
                branches = [self.value(each, guarded=True) for each in (then, otherwise)]
                return self.elementwise("select", [self.value(condition, guarded=guarded), *branches], dtype)
            case Call(function, arguments, dtype):
                return self.elementwise(function, [self.value(each, guarded=guarded) for each in arguments], dtype)

    # --- elements

    def constant(self, value: float, dtype: DType) -> Named:
        """A number."""
        plain = bool(value) if dtype.kind == "bool" else float(value) if dtype.is_float else int(value)
        return Named(self.write("constant", value=plain, dtype=dtype.name), (), dtype)

    def index(self, name: str, dtype: DType) -> Named:
        """The values of an index, or the one that a size has."""
        if name not in self.block.lengths:
            return self.constant(self.block.fixed[name], dtype)
        start = self.block.starts[name]
        found = Named(self.write("range", start=start, stop=start + self.block.lengths[name]), (name,), INT64)
        return self.cast(found, dtype)

    def cast(self, value: Named, dtype: DType) -> Named:
        """The value in another type."""
        if value.dtype == dtype:
            return value
        if value.dtype.is_float and dtype.is_integral:
            raise EngineError("a float that becomes a whole number")
        return Named(self.write("cast", value.value, dtype=dtype.name), value.axes, dtype)

    def elementwise(self, function: str, operands: Sequence[Named], dtype: DType) -> Named:
        """A function of the language of values that broadcast by the names of their axes."""
        if dtype.is_integral and function in ("/", "<<", ">>"):
            raise EngineError(f"whole numbers and `{function}`")
        used = {axis for each in operands for axis in each.axes}
        axes = tuple(name for name in self.block.names if name in used)
        values = [self.spread(each, axes) for each in operands]
        return Named(self.write("elementwise", *values, function=function, dtype=dtype.name), axes, dtype)

    def spread(self, value: Named, axes: tuple[str, ...]) -> int:
        """The value with an axis of length 1 for each that it lacks."""
        missing = [at for at, axis in enumerate(axes) if axis not in value.axes]
        return self.write("insert", value.value, axes=missing) if missing and value.axes else value.value

    def arranged(self, value: Named, order: tuple[str, ...]) -> Named:
        """The value with its axes in another order; `""` among them is an axis of length 1."""
        wanted = [name for name in order if name in value.axes]
        if wanted == list(value.axes):
            return value
        lengths = [self.block.lengths[name] for name in value.axes]
        strides = dict(zip(value.axes, _strides(lengths), strict=True))
        shape = [self.block.lengths[name] for name in wanted]
        moved = self.write("view", value.value, pads=[], shape=shape, strides=[strides[n] for n in wanted], offset=0)
        return Named(moved, tuple(wanted), value.dtype)

    def expanded(self, value: Named, order: tuple[str, ...]) -> int:
        """The value with every axis of an order at its full length."""
        missing = [at for at, axis in enumerate(order) if axis not in value.axes]
        if not missing:
            return value.value
        found = self.write("insert", value.value, axes=missing)
        return self.write("expand", found, shape=[self.block.lengths.get(name, 1) for name in order])

    # --- reductions

    def contracted(self, operands: Sequence[Named], along: Sequence[str]) -> Named:
        """The sum of the product of values along some indices."""
        used = {axis for each in operands for axis in each.axes}
        axes = tuple(name for name in self.block.names if name in used)
        if len(axes) > len(ascii_letters):
            raise EngineError("more axes than a contraction has letters")
        letters = dict(zip(axes, ascii_letters, strict=False))
        kept = tuple(name for name in axes if name not in along)
        terms = ",".join("".join(letters[name] for name in each.axes) for each in operands)
        equation = f"{terms}->{''.join(letters[name] for name in kept)}"
        dtype = operands[0].dtype
        found = Named(self.write("einsum", *(each.value for each in operands), equation=equation), kept, dtype)
        repeats = prod(self.block.lengths[name] for name in along if name not in used)
        return found if repeats == 1 else self.elementwise("*", [found, self.constant(repeats, dtype)], dtype)

    def reduced(self, value: Named, function: str, along: Sequence[str]) -> Named:
        """The value combined along some indices; one that it lacks is repeated."""
        if not along:
            return value
        axes = tuple(name for name in self.block.names if name in value.axes or name in along)
        full = self.expanded(value, axes)
        places = [at for at, name in enumerate(axes) if name in along]
        kept = tuple(name for name in axes if name not in along)
        return Named(self.write("reduce", full, function=function, axes=places), kept, value.dtype)

    # --- reads

    def affine(self, subscript: Expr) -> tuple[int, dict[str, int]] | None:
        """`(constant, coefficients)` of a subscript that is affine in the indices."""
        return affine_form(subscript, self.block)

    def read(self, cells: Cells, subscripts: Sequence[Expr], *, guarded: bool) -> Named:
        """Cells at some subscripts: a strided view where they are affine, by their places where they are known."""
        if not subscripts:
            return Named(cells.value, (), cells.dtype)
        found = [self.affine(each) for each in subscripts]
        if any(each is None for each in found):
            return self._taken(cells, subscripts, guarded=guarded)
        forms = [each for each in found if each is not None]
        used = {name for _, coefficients in forms for name in coefficients}
        axes = tuple(name for name in self.block.names if name in used)
        pads, firsts = [], []
        for (constant, coefficients), low, extent in zip(forms, cells.lower, cells.shape, strict=True):
            least, most = self._ends(constant - low, coefficients)
            before, after = max(0, -least), max(0, most - extent + 1)
            pads.append([before, after])
            firsts.append(least + before)
        if any(any(pad) for pad in pads) and not guarded and self._has_instances():
            raise EngineError("a read that may be out of range")
        padded = [extent + sum(pad) for extent, pad in zip(cells.shape, pads, strict=True)]
        if prod(padded) > _MOST_GROWTH * (prod(cells.shape) + 1024):
            raise EngineError("a read far out of range")
        own = _strides(padded)
        strides = [sum(form[1].get(name, 0) * step for form, step in zip(forms, own, strict=True)) for name in axes]
        return self._view(cells, axes, pads, firsts, own, strides)

    def _view(
        self, cells: Cells, axes: tuple[str, ...], pads: list[list[int]], firsts: list[int], own: list[int],
        strides: list[int],
    ) -> Named:  # fmt: skip
        """The strided view; along an axis with a negative stride it begins at the other end, which nobody can have."""
        if any(stride < 0 for stride in strides):
            raise EngineError("a read backwards")
        shape = [self.block.lengths[name] for name in axes]
        padded = [extent + sum(pad) for extent, pad in zip(cells.shape, pads, strict=True)]
        offset = sum(first * step for first, step in zip(firsts, own, strict=True))
        if shape == padded and strides == own and offset == 0 and not any(any(pad) for pad in pads):
            return Named(cells.value, axes, cells.dtype)
        added = pads if any(any(pad) for pad in pads) else []
        found = self.write("view", cells.value, pads=added, shape=shape, strides=strides, offset=offset)
        return Named(found, axes, cells.dtype)

    def _ends(self, constant: int, coefficients: Mapping[str, int]) -> tuple[int, int]:
        """The least and the largest value of an affine form over the box."""
        least = most = constant
        for name, factor in coefficients.items():
            first = self.block.starts[name]
            last = first + self.block.lengths[name] - 1
            least += min(factor * first, factor * last)
            most += max(factor * first, factor * last)
        return least, most

    def _has_instances(self) -> bool:
        return all(self.block.shape)

    def _taken(self, cells: Cells, subscripts: Sequence[Expr], *, guarded: bool) -> Named:
        """Cells whose places do not depend on data, and so are known."""
        if not all(map(is_exact, subscripts)):
            raise EngineError("subscripts that are data")
        rank, place = len(self.block.names), np.zeros((1,) * len(self.block.names), np.int64)
        for subscript, low, extent, step in zip(
            subscripts, cells.lower, cells.shape, _strides(cells.shape), strict=True
        ):
            at = np.asarray(exact(subscript, self.block.grids)) - low
            inside = np.clip(at, 0, max(0, extent - 1))
            if not guarded and self._has_instances() and (inside != at).any():
                raise EngineError("a read that may be out of range")
            place = place + inside * step
        axes = tuple(name for at, name in enumerate(self.block.names) if place.ndim == rank and place.shape[at] > 1)
        shape = [self.block.lengths[name] for name in axes]
        if prod(cells.shape) == 0 or place.size > 1 << 20:
            raise EngineError("too many cells that are no strided view")
        found = self.write("take", cells.value, indices=[int(each) for each in place.reshape(-1)], shape=shape)
        return Named(found, axes, cells.dtype)


def _strides(shape: Sequence[int]) -> list[int]:
    """Strides of a dense array, in elements."""
    found = [1] * len(shape)
    for at in range(len(shape) - 2, -1, -1):
        found[at] = found[at + 1] * shape[at + 1]
    return found
