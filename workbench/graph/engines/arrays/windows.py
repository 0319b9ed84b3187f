"""Windows: which calls of known sizes are convolutions or the largest elements of windows, by their definitions.

Libraries have one function for such a call; as a strided view and a contraction it would copy every window.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from workbench.errors import EngineError
from workbench.graph.engines.arrays.lowering import sizes_of
from workbench.graph.engines.sites import Site
from workbench.graph.evaluation.operators import inputs_of
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Select, Unary
from workbench.lang.operator import Operator, Statement
from workbench.lang.oracle.contractions import factors
from workbench.lang.oracle.exact import exact, is_exact
from workbench.records import record

Sizes = Mapping[str, int]
MOST_CELLS = 1 << 20
"""Of an array whose cells are looked at one by one."""
NO_WINDOW = "no window of pictures"


@record
class Window:
    """A window over pictures (N, C, *space), as libraries take it; a number for each axis of space.

    Of a convolution `operands` are the places of pictures, weights (F, C / groups, *extents) and, where it adds one,
    bias (F) among the arguments of the call; of the largest elements (`extents` tells of what) the pictures' alone.
    """

    operands: tuple[int, ...]
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    groups: int = 1
    is_largest: bool = False


def window_of(site: Site) -> Window | None:
    """What a call of known shapes is as a window of floats; None if its definition is another, or does not show it."""
    if site.dtypes not in (("float32",), ("float64",)):
        return None  # libraries have such functions of floats
    if any(0 in each.shape for each in (*site.arguments, *site.results)):
        return None  # of nothing each library has an idea of its own
    try:
        return _Looked(site).window()
    except EngineError:
        return None


def lengths_of(statement: Statement, sizes: Sizes) -> dict[str, int]:
    """How many values each index of a statement has, all from 0; EngineError where one begins elsewhere, or varies."""
    found = {}
    for each in statement.ranges:
        if each.bounding or int(_exact(each.lower, sizes)) != 0:
            raise EngineError(NO_WINDOW)
        found[each.index] = int(_exact(each.upper, sizes))
    return found


def _exact(expr: Expr, known: Mapping[str, Any]) -> Any:
    if not is_exact(expr):
        raise EngineError(NO_WINDOW)
    try:
        return exact(expr, known)
    except KeyError:
        raise EngineError(NO_WINDOW) from None


class _Looked:
    """A definition that is looked at: an optional border, the window, an optional bias."""

    def __init__(self, site: Site) -> None:
        op = site.operator
        if op.promises or len(op.outputs) != 1 or not all(isinstance(each, Statement) for each in op.body):
            raise EngineError(NO_WINDOW)
        self.op: Operator = op
        self.sizes: Sizes = sizes_of(site)
        self.statements = list(op.statements())
        self.at = next((n for n, each in enumerate(self.statements) if each.reduction is not None), -1)
        if self.at not in (0, 1) or len(self.statements) > self.at + 2:
            raise EngineError(NO_WINDOW)

    def window(self) -> Window:
        """The whole of it."""
        main = self.statements[self.at]
        target = self.target(main, kind="free")
        if len(target) < 3 or not main.initialise or main.targets[0].tensor != self.op.outputs[0]:
            raise EngineError(NO_WINDOW)
        if main.reduction == "max":
            return self.largest(main, target)
        parts = factors(main)
        if parts is None or len(parts) != 2 or main.reduction != "+":
            raise EngineError(NO_WINDOW)
        for picture, weights in (parts, parts[::-1]):
            if isinstance(picture, Read) and isinstance(weights, Read) and self.is_plain(weights, target[1]):
                return self.convolution(main, target, picture, weights)
        raise EngineError(NO_WINDOW)

    def is_plain(self, read: Read, first: str) -> bool:
        """Whether a read is of an input at indices, the first of which is this one."""
        head, *rest = read.subscripts or (Const(0, read.dtype),)
        plain = all(isinstance(each, Index) for each in rest[1:])
        return read.tensor in inputs_of(self.op) and isinstance(head, Index) and head.name == first and plain

    def convolution(self, main: Statement, target: Sequence[str], picture: Read, weights: Read) -> Window:
        """A sum of products with weights (F, C / groups, *extents)."""
        self.has_axes(picture, target)
        shape = self.extent(weights.tensor)
        names = [each.name if isinstance(each, Index) else "" for each in weights.subscripts]
        lengths = self.lengths(main)
        summed = [each for each in main.indices("reduction") if lengths[each] != 1 or each in names]
        if len(shape) != len(target) or sorted(filter(None, names[1:])) != sorted(summed):
            raise EngineError(NO_WINDOW)
        if not names[1] and (shape[1] != 1 or not _is_number(weights.subscripts[1], 0)):
            raise EngineError(NO_WINDOW)
        if any(lengths[name] != extent for name, extent in zip(names, shape, strict=True) if name):
            raise EngineError(NO_WINDOW)
        x, before, after = self.pictures(picture)
        filters, per = shape[0], shape[1]
        channels = self.extent(x)[1]
        if per == 0 or channels % per or filters % (groups := channels // per):
            raise EngineError(NO_WINDOW)
        grid = self.grid({target[1]: filters, **({names[1]: per} if names[1] else {})})
        wanted = grid[target[1]] // (filters // groups) * per + (grid[names[1]] if names[1] else 0)
        self.same(picture.subscripts[1], grid, wanted)
        own = self.space(main, target, names[2:], picture)
        places = [self.place(x), self.place(weights.tensor), *self.bias(target)]
        return self.checked(Window(tuple(places), shape[2:], *own, before, after, groups))

    def largest(self, main: Statement, target: Sequence[str]) -> Window:
        """The largest element of each window."""
        (picture,) = main.values
        if not isinstance(picture, Read) or len(self.statements) != self.at + 1:
            raise EngineError(NO_WINDOW)
        self.has_axes(picture, target)
        x, before, after = self.pictures(picture, fill=-np.inf)
        lengths, names = self.lengths(main), main.indices("reduction")
        if len(names) != len(target) - 2 or not _is_index(picture.subscripts[1], target[1]):
            raise EngineError(NO_WINDOW)
        own = self.space(main, target, names, picture)
        extents = tuple(lengths[name] for name in names)
        return self.checked(Window((self.place(x),), extents, *own, before, after, is_largest=True))

    def has_axes(self, picture: Read, target: Sequence[str]) -> None:
        """Go on if what is read has as many axes as the result."""
        if len(picture.subscripts) != len(target):
            raise EngineError(NO_WINDOW)

    def space(
        self, main: Statement, target: Sequence[str], summed: Sequence[str], picture: Read
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The strides and distances along the axes of space."""
        lengths = self.lengths(main)
        if not _is_index(picture.subscripts[0], target[0]):
            raise EngineError(NO_WINDOW)
        strides, dilations = [], []
        for of, by, subscript in zip(target[2:], summed, picture.subscripts[2:], strict=True):
            grid = self.grid({of: max(2, lengths[of]), by: max(2, lengths[by])})
            found = np.broadcast_to(self.exact(subscript, grid), (max(2, lengths[of]), max(2, lengths[by])))
            step, distance = int(found[1, 0] - found[0, 0]), int(found[0, 1] - found[0, 0])
            if step < 1 or distance < 1:
                raise EngineError(NO_WINDOW)
            self.same(subscript, grid, step * grid[of] + distance * grid[by])
            strides.append(step)
            dilations.append(distance)
        return tuple(strides), tuple(dilations)

    def pictures(self, read: Read, fill: float = 0.0) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        """The input that is read, and what stands around it."""
        count = len(read.subscripts) - 2
        if read.tensor in inputs_of(self.op):
            if self.at:
                raise EngineError(NO_WINDOW)
            return read.tensor, (0,) * count, (0,) * count
        if not self.at or self.statements[0].targets[0].tensor != read.tensor:
            raise EngineError(NO_WINDOW)
        return self.border(self.statements[0], fill)

    def border(self, of: Statement, fill: float) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
        """The input, and how many cells with a number stand before and after it along each axis of space."""
        names, (value,) = self.target(of, kind="free"), of.values
        if not isinstance(value, Select) or not isinstance(value.then, Read) or not _is_number(value.otherwise, fill):
            raise EngineError(NO_WINDOW)
        inner, outside = value.then, self.extent(of.targets[0].tensor)
        shape = self.extent(inner.tensor)
        if inner.tensor not in inputs_of(self.op) or len(shape) != len(names) or shape[:2] != outside[:2]:
            raise EngineError(NO_WINDOW)
        if not all(map(_is_index, inner.subscripts[:2], names[:2])) or prod(outside[2:]) > MOST_CELLS:
            raise EngineError(NO_WINDOW)
        grid = self.grid(dict(zip(names[2:], outside[2:], strict=True)))
        before, inside = [], np.ones((1,) * len(grid), bool)
        for name, subscript, extent in zip(names[2:], inner.subscripts[2:], shape[2:], strict=True):
            first = -int(self.exact(subscript, {each: 0 for each in names}))
            self.same(subscript, grid, grid[name] - first)
            inside = inside & (grid[name] >= first) & (grid[name] < first + extent)
            before.append(first)
        self.same(value.condition, grid, inside)
        after = [o - i - b for o, i, b in zip(outside[2:], shape[2:], before, strict=True)]
        if min(*before, *after) < 0:
            raise EngineError(NO_WINDOW)
        return inner.tensor, tuple(before), tuple(after)

    def bias(self, target: Sequence[str]) -> list[int]:
        """The place of what is added to each channel afterwards, if something is."""
        if len(self.statements) == self.at + 1:
            return []
        last = self.statements[-1]
        names, (value,) = self.target(last, kind="free"), last.values
        if last.reduction is not None or last.targets[0].tensor != self.op.outputs[0] or len(names) != len(target):
            raise EngineError(NO_WINDOW)
        if not isinstance(value, Binary) or value.op != "+":
            raise EngineError(NO_WINDOW)
        for sums, added in ((value.left, value.right), (value.right, value.left)):
            if isinstance(sums, Read) and sums.tensor == self.op.outputs[0] and isinstance(added, Read):
                same = all(map(_is_index, sums.subscripts, names))
                whole = self.extent(added.tensor) == self.extent(self.op.outputs[0])[1:2]
                if same and whole and _is_index(added.subscripts[0], names[1]):
                    return [self.place(added.tensor)]
        raise EngineError(NO_WINDOW)

    def checked(self, of: Window) -> Window:
        """The window, if it gives as many elements as the definition says, of all pictures, and all their channels."""
        x, y = self.extent(inputs_of(self.op)[of.operands[0]]), self.extent(self.op.outputs[0])
        if x[0] != y[0] or (of.is_largest and x[1] != y[1]):
            raise EngineError(NO_WINDOW)
        parts = zip(x[2:], y[2:], of.extents, of.strides, of.dilations, of.before, of.after, strict=True)
        if any((a + low + high - d * (k - 1) - 1) // s + 1 != b for a, b, k, s, d, low, high in parts):
            raise EngineError(NO_WINDOW)
        return of

    # --- what a definition says

    def target(self, of: Statement, *, kind: str) -> list[str]:
        """The indices of the cells that a statement writes: all cells of the tensor, each once."""
        (target, *others), lengths = of.targets, self.lengths(of)
        names = [each.name for each in target.subscripts if isinstance(each, Index)]
        tensor = self.op.tensors[target.tensor]
        whole = [lengths.get(name) for name in names] == list(self.extent(target.tensor))
        if others or of.condition is not None or names != list(of.indices(kind)) or not whole:  # type: ignore[arg-type]
            raise EngineError(NO_WINDOW)
        if any(self.exact(each, {}) for each in tensor.lower) or of.indices("sequential"):
            raise EngineError(NO_WINDOW)
        return names

    def lengths(self, of: Statement) -> dict[str, int]:
        return lengths_of(of, self.sizes)

    def extent(self, tensor: str) -> tuple[int, ...]:
        """The extents of a tensor."""
        return tuple(int(self.exact(each, {})) for each in self.op.tensors[tensor].extent)

    def place(self, tensor: str) -> int:
        """Where an input stands among the arguments."""
        return inputs_of(self.op).index(tensor)

    def grid(self, lengths: Mapping[str, int]) -> dict[str, Any]:
        """The values of indices, each along an axis of its own."""
        return dict(zip(lengths, np.ix_(*(np.arange(n) for n in lengths.values())), strict=True))

    def exact(self, expr: Expr, indices: Mapping[str, Any]) -> Any:
        return _exact(expr, {**self.sizes, **indices})

    def same(self, expr: Expr, indices: Mapping[str, Any], wanted: Any) -> None:
        """Go on if an expression has these values wherever the indices are."""
        if not (np.asarray(self.exact(expr, indices)) == wanted).all():
            raise EngineError(NO_WINDOW)


def _is_index(expr: Expr, name: str) -> bool:
    return isinstance(expr, Index) and expr.name == name


def _is_number(expr: Expr, value: float) -> bool:
    if isinstance(expr, Unary) and expr.op == "-":
        return _is_number(expr.operand, -value)
    return isinstance(expr, Const) and float(expr.value) == value
