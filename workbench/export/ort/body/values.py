"""Expressions as tensors: an axis for each index that occurs, reads as views or gathers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.export.dispatch.size_code import in_64_bits
from workbench.export.ort.body.elementwise import Elementwise, Named, computing_type
from workbench.export.ort.body.functions import called
from workbench.export.ort.body.graph import Graph
from workbench.lang.algebra.normal_form import constant, is_index_arithmetic
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import COMPARISONS, Binary, Call, Cast, Const, Expr, Index, Read, Select, Size, Unary
from workbench.lang.operator import Range
from workbench.lang.oracle.exact import is_exact
from workbench.records import record

OUTSIDE = 1 << 40  # is in no tensor


@record
class Cells:
    """A tensor of the operator: its name in the graph, its element type, where it starts, its extents.

    Its cells are kept in the type they are computed in, rounded to the element type: ONNX Runtime has few operators for
    the others.
    """

    name: str
    dtype: DType
    lower: tuple[Expr, ...]
    extent: tuple[Expr, ...]


@record
class Axis:
    """An index that has all its values at once: they are in the tensor `name`; `range` if it depends on no other."""

    name: str
    length: str
    range: Range | None


@dataclass
class Values:
    """Evaluates expressions for all instances; `fixed` are sizes and the indices of loops around, as scalars.

    A guarded read may be out of range: it finds some number, which nobody uses.
    """

    graph: Graph
    order: tuple[str, ...]
    fixed: Mapping[str, str]
    memory: Mapping[str, Cells]
    axes: dict[str, Axis] = field(default_factory=dict)
    _known: dict[tuple[int, bool], tuple[Expr, Named]] = field(default_factory=dict)

    @property
    def write(self) -> Elementwise:
        return Elementwise(self.graph, self.order)

    def value(self, expr: Expr, *, guarded: bool = False) -> Named:
        """The value in the type it is computed in."""
        # Lets are shared nodes: without this a chain of lets costs exponential time.
        key = (id(expr), guarded)
        if key not in self._known:
            self._known[key] = (expr, self._compute(expr, guarded))
        return self._known[key][1]

    def exact(self, expr: Expr, *, guarded: bool = False) -> Named:
        """A subscript or a bound, as int64: exact where it is made of indices and sizes."""
        found = self.value(in_64_bits(expr) if is_exact(expr) else expr, guarded=guarded)
        return self.write.as_type(found, INT64)

    def _compute(self, expr: Expr, guarded: bool) -> Named:
        match expr:
            case Const(value, dtype):
                return self.write.constant(value, dtype)
            case Size(name, dtype) | Index(name, dtype):
                return self.write.wrap(self.index(name), dtype)
            case Read():
                return self._read(expr, guarded)
            case Unary(op, operand, dtype):
                return self.write.unary(op, self.value(operand, guarded=guarded), dtype)
            case Cast(operand, dtype):
                return self.write.cast(self.value(operand, guarded=guarded), operand.dtype, dtype)
            case Binary():
                return self._binary(expr, guarded)
            case Select(condition, then, otherwise, _):
                branches = (self.value(e, guarded=True) for e in (then, otherwise))
                return self.write.select(self.value(condition, guarded=guarded), *branches)
            case Call(function, arguments, dtype):
                return called(self.write, function, [self.value(a, guarded=guarded) for a in arguments], dtype)

    def _binary(self, expr: Binary, guarded: bool) -> Named:
        left, right = expr.left, expr.right
        if expr.op in COMPARISONS and is_index_arithmetic(left) and is_index_arithmetic(right):
            return self.write.binary(expr.op, self.exact(left), self.exact(right))
        late = guarded or expr.op in ("&&", "||")
        operands = self.value(left, guarded=guarded), self.value(right, guarded=late)
        return self.write.binary(expr.op, *operands, expr.dtype, of=left.dtype)

    def index(self, name: str) -> Named:
        """All values of an index, or the one that a size or a loop has."""
        if name in self.axes:
            return Named(self.axes[name].name, (name,), INT64)
        return Named(self.fixed[name], (), INT64)

    # -- reads

    def _read(self, read: Read, guarded: bool) -> Named:
        return self.cells(self.memory[read.tensor], read.subscripts, guarded=guarded)

    def cells(self, cells: Cells, subscripts: Sequence[Expr], *, guarded: bool) -> Named:
        """The cells at some subscripts."""
        whole = [self.covered(cells, d, s) for d, s in enumerate(subscripts)]
        places = [
            None if index else self.position(cells, d, subscripts[d], guarded=guarded) for d, index in enumerate(whole)
        ]
        name = cells.name
        if guarded:
            name, places = self._inside(cells, places)
        used = [place.axes if place else (str(index),) for index, place in zip(whole, places, strict=True)]
        every = [axis for own in used for axis in own]
        if len(set(every)) == len(every):
            return self._separately(name, computing_type(cells.dtype), places, used)
        every_place = [p or self.position(cells, d, subscripts[d]) for d, p in enumerate(places)]
        table, axes = self.stacked(every_place)
        return Named(self.graph("GatherND", name, table), axes, computing_type(cells.dtype))

    def covered(self, cells: Cells, dimension: int, subscript: Expr) -> str | None:
        """The index that runs once over a whole dimension, where the subscript is one."""
        if not isinstance(subscript, Index) or subscript.name not in self.axes:
            return None
        own = self.axes[subscript.name].range
        if own is None or not _same(own.lower, cells.lower[dimension]):
            return None
        length = Binary("-", own.upper, own.lower, INT64)
        return subscript.name if _same(length, cells.extent[dimension]) else None

    def position(self, cells: Cells, dimension: int, subscript: Expr, *, guarded: bool = False) -> Named:
        """Where a subscript stands in a dimension of the tensor; ONNX would count negative ones from the end."""
        lower, write = cells.lower[dimension], self.write
        place = self.exact(subscript, guarded=guarded)
        if constant(lower) != 0:
            place = write("Sub", place, self.exact(lower), dtype=INT64)
        if guarded or is_exact(subscript):
            return place
        negative = write.binary("<", place, write.constant(0, INT64))
        return write.select(negative, write.constant(OUTSIDE, INT64), place)

    def extent(self, cells: Cells, dimension: int) -> Named:
        found = self.exact(cells.extent[dimension])
        return self.write("Max", found, self.write.constant(0, INT64), dtype=INT64)

    def _inside(self, cells: Cells, places: list[Named | None]) -> tuple[str, list[Named | None]]:
        """Positions out of range become that of one cell more, which holds 0."""
        write, zero = self.write, self.write.constant(0, INT64)
        found: list[Named | None] = []
        for dimension, place in enumerate(places):
            if place is None:
                found.append(None)
                continue
            extent = self.extent(cells, dimension)
            inside = write.binary("&&", write.binary(">=", place, zero), write.binary("<", place, extent))
            found.append(write.select(inside, place, extent))
        if not any(found):
            return cells.name, found
        more = self.graph.constant([0] * len(places) + [int(p is not None) for p in places])
        return self.graph("Pad", cells.name, more), found

    def _separately(
        self, name: str, dtype: DType, places: Sequence[Named | None], used: Sequence[tuple[str, ...]]
    ) -> Named:
        """One gather for each dimension; their axes become those of the result."""
        at, axes = 0, []
        for place, own in zip(places, used, strict=True):
            if place is not None:
                name = self.graph("Gather", name, place.name, axis=at)
            at += len(own)
            axes += own
        return self.arranged(Named(name, tuple(axes), dtype))

    def arranged(self, value: Named, order: Sequence[str] | None = None) -> Named:
        """The same with its axes in another order, that of the indices by default."""
        order = [a for a in order or self.order if a in value.axes]
        places = [value.axes.index(axis) for axis in order]
        name = value.name if places == sorted(places) else self.graph("Transpose", value.name, perm=places)
        return Named(name, tuple(order), value.dtype)

    def stacked(self, places: Sequence[Named], axes: tuple[str, ...] | None = None) -> tuple[str, tuple[str, ...]]:
        """Positions side by side in a last axis, for all values of the axes."""
        axes = axes if axes is not None else self.write.union(*places)
        last = self.graph.constant([-1])
        columns = [self.graph("Unsqueeze", self.expanded(p, axes), last) for p in places]
        return self.graph("Concat", *columns, axis=-1), axes

    def expanded(self, value: Named, axes: tuple[str, ...]) -> str:
        """The tensor with all of some axes."""
        if value.axes == axes:
            return value.name
        return self.graph("Expand", self.write.spread(value, axes), self.lengths(axes))

    def lengths(self, axes: Sequence[str]) -> str:
        """How long some axes are, as a shape."""
        return self.shape([self.axes[a].length for a in axes])

    def shape(self, numbers: Sequence[str]) -> str:
        """A shape of scalars."""
        if not numbers:
            return self.graph.constant([])
        first = self.graph.constant([0])
        return self.graph("Concat", *(self.graph("Unsqueeze", n, first) for n in numbers), axis=0)


def _same(one: Expr, other: Expr) -> bool:
    return constant(Binary("-", one, other, INT64)) == 0
