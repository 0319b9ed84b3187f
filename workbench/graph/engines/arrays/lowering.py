"""Definitions as array programs: only what the definition itself shows to be the same.

An affine read is a strided view, a statement without dependences between its instances a computation on whole arrays,
a sum of products a contraction.  What is none of that is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from workbench.errors import EngineError, WorkbenchError
from workbench.graph.engines.arrays.expressions import Cells, Expressions, Named
from workbench.graph.engines.arrays.programs import ArrayProgram, Writer
from workbench.graph.engines.sites import Site
from workbench.graph.engines.subgraphs import Subgraph
from workbench.graph.evaluation.operators import inputs_of
from workbench.lang.binding.arrays import bind
from workbench.lang.expr import Expr, Index, index_names
from workbench.lang.operator import Operator, Statement, Target
from workbench.lang.oracle.blocks import Block
from workbench.lang.oracle.contractions import factors
from workbench.lang.oracle.exact import exact
from workbench.lang.oracle.order import own_reads

ELEMENTS = ("float32", "float64", "int32", "int64", "bool")
MOST_ELEMENTS = 1 << 26


def array_program(region: Subgraph) -> ArrayProgram:
    """The program of a region: it takes the inputs, then the constants; EngineError for what cannot be had so."""
    given = (*region.inputs, *region.constants)
    write = Writer(len(given))
    values = {number: at for at, number in enumerate(given)}
    for step in region.steps:
        found = _operator(write, step.site, [values[each] for each in step.arguments])
        values.update(zip(step.results, found, strict=True))
    return ArrayProgram(len(given), tuple(write.instructions), tuple(values[each] for each in region.results))


def why_no_arrays(site: Site) -> str:
    """Why a call is no array program; nothing if it is.  Where shapes are not known yet only types are looked at."""
    odd = [name for name in site.dtypes if name not in ELEMENTS]
    if odd:
        return f"elements of {odd[0]}"
    if not all(each.is_concrete for each in (*site.arguments, *site.results)):
        return ""
    try:
        program_of(site)
    except EngineError as error:
        return str(error)
    return ""


def program_of(site: Site) -> ArrayProgram:
    """The program of one call of known shapes; EngineError for what cannot be had so."""
    count = len(site.arguments)
    write = Writer(count)
    results = tuple(_operator(write, site, list(range(count))))
    return ArrayProgram(count, tuple(write.instructions), results)


def sizes_of(site: Site) -> dict[str, int]:
    """Every size of a call, from its shapes."""
    op = site.operator
    arrays = [np.broadcast_to(np.zeros((), each.dtype.numpy), tuple(map(int, each.shape))) for each in site.arguments]
    names = inputs_of(op)
    given = dict(zip(names, arrays, strict=False))
    try:
        waiting = iter(arrays[len(names) :])
        out = tuple(next(waiting) if op.tensors[name].role == "inout" else None for name in op.outputs)
        return bind(op, (), {**given, **site.sizes}, out).sizes
    except WorkbenchError as error:
        raise EngineError(str(error).splitlines()[0]) from None


def _operator(write: Writer, site: Site, arguments: Sequence[int]) -> list[int]:
    op, sizes = site.operator, sizes_of(site)
    if op.promises:
        raise EngineError("it promises something about data, which is checked by the host")
    names = (*inputs_of(op), *(name for name in op.outputs if op.tensors[name].role == "inout"))
    known = dict(zip(names, arguments, strict=True))
    cells: dict[str, Cells] = {}
    for name, tensor in op.tensors.items():
        shape = tuple(max(0, int(exact(each, sizes))) for each in tensor.extent)
        if prod(shape) > MOST_ELEMENTS or tensor.dtype.name not in ELEMENTS:
            raise EngineError(f"{name} is too large, or of {tensor.dtype.name}")
        value = known.get(name)
        if value is None:
            value = write("zeros", shape=list(shape), dtype=tensor.dtype.name)
        cells[name] = Cells(value, tensor.dtype, tuple(int(exact(each, sizes)) for each in tensor.lower), shape)
    for statement in op.body:
        if not isinstance(statement, Statement):
            raise EngineError("a loop whose iterations follow one another")
        _Written(write, op, sizes, cells, statement).statement()
    return [cells[name].value for name in op.outputs]


class _Written:
    """One statement, all its instances at once."""

    def __init__(
        self, write: Writer, op: Operator, sizes: Mapping[str, int], cells: dict[str, Cells], statement: Statement
    ) -> None:
        self.write, self.op, self.cells, self.of = write, op, cells, statement
        intervals = []
        for each in statement.ranges:
            if each.bounding or statement.condition is not None:
                raise EngineError("a domain that is no box")
            low, high = int(exact(each.lower, sizes)), int(exact(each.upper, sizes))
            intervals.append((low, max(low, high)))
        self.block = Block(statement.indices(), tuple(intervals), sizes, statement.ranges)
        self.values = Expressions(write, self.block, cells)

    def statement(self) -> None:
        of, target = self.of, self.of.targets[0]
        if len(of.targets) > 1 or not isinstance(of.reduction, str | None):
            raise EngineError("a reduction over tuples")
        if any(read.subscripts != target.subscripts for read in own_reads(of)):
            raise EngineError("instances that read what others write")
        if of.reduction is not None and own_reads(of):
            raise EngineError("a reduction that reads what it writes")
        starts, order, shape = self._place(target)
        value = self._reduced(order) if of.reduction is not None else self.values.value(of.values[0])
        value = self.values.arranged(value, order)
        if of.reduction is not None and not of.initialise:
            value = self._combined(target, value, order)
        self._hold(target, self.values.expanded(value, order), starts, shape)

    def _place(self, target: Target) -> tuple[list[int], tuple[str, ...], tuple[int, ...]]:
        """Where the cells that are written begin, and the index of each axis; they are a box of the tensor."""
        cells, starts, order = self.cells[target.tensor], [], []
        for subscript, low in zip(target.subscripts, cells.lower, strict=True):
            found = self.values.affine(subscript)
            coefficients = [c for c in (found[1].values() if found else ()) if c]
            if found is None or len(coefficients) > 1 or coefficients not in ([], [1]):
                raise EngineError("cells that are written apart")
            name = next(iter(found[1]), None)
            start = found[0] - low + (self.block.starts[name] if name else 0)
            starts.append(start)
            order.append(name or self._single(subscript))
        lengths = [self.block.lengths.get(name, 1) for name in order]
        free = {each.index for each in self.of.ranges if each.kind == "free" and self.block.lengths[each.index] != 1}
        if len({n for n in order if n}) < len([n for n in order if n]) or free - set(order):
            raise EngineError("cells that are written twice")
        if self.of.reduction is not None and any(
            name in self.block.lengths and name in self.of.indices("reduction") for name in order
        ):
            raise EngineError("a reduction along an index of its cells")
        for start, length, extent in zip(starts, lengths, cells.shape, strict=True):
            if start < 0 or start + length > extent:
                raise EngineError("cells out of range")
        return starts, tuple(order), tuple(lengths)

    def _single(self, subscript: Expr) -> str:
        """The index of an axis of length 1, if it has one; a word of its own if it has none."""
        if isinstance(subscript, Index) and subscript.name in self.block.lengths:
            return subscript.name
        return ""

    def _reduced(self, order: tuple[str, ...]) -> Named:
        """Every contribution, combined along the axes that the cells lack."""
        of, function = self.of, str(self.of.reduction)
        along = [name for name in self.block.names if name not in order]
        if of.values[0].dtype.kind == "bool":
            raise EngineError("a reduction of truth values")
        if any(self.block.lengths[name] == 0 for name in along) and function in ("min", "max"):
            raise EngineError("a reduction over nothing")
        parts = factors(of) if function == "+" else None
        if parts is not None and set().union(*map(index_names, parts)) >= set(along):
            return self.values.contracted([self.values.value(each) for each in parts], along)
        value = self.values.value(of.values[0])
        return self.values.reduced(value, function, along)

    def _combined(self, target: Target, value: Named, order: tuple[str, ...]) -> Named:
        """The old cells and what is added to them."""
        old = self.values.read(self.cells[target.tensor], target.subscripts, guarded=False)
        function = str(self.of.reduction)
        return self.values.elementwise(function, [self.values.arranged(old, order), value], value.dtype)

    def _hold(self, target: Target, value: int, starts: Sequence[int], shape: tuple[int, ...]) -> None:
        cells = self.cells[target.tensor]
        if shape != cells.shape:
            value = self.write("put", cells.value, value, starts=list(starts))
        self.cells[target.tensor] = Cells(value, cells.dtype, cells.lower, cells.shape)


