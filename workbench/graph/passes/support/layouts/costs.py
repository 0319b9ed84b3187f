"""What a call costs in a way: the time of the kernel that the default recipe gives, on arrays of its sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.fusion.call_graph import operator_of
from workbench.graph.passes.support.layouts.relayouts import Order, transposition
from workbench.graph.passes.support.layouts.ways import Types, Way
from workbench.graph.terms.dimensions import symbols, value_of
from workbench.graph.terms.nodes import Call, Term
from workbench.graph.terms.types import TensorType
from workbench.lang.dtypes import DType
from workbench.lang.operator import Operator
from workbench.runtime.calls.calling import call as run

SECONDS, FEWEST_RUNS, MOST_RUNS = 0.02, 5, 200
SIZE = 32
"""What a named dimension is taken to be, where nobody says."""

Cost = Callable[[Operator, tuple[tuple[int, ...], ...]], float]
"""What an operator costs on arrays of these shapes: seconds, or any other unit as long as it is the same for all."""


def measured(op: Operator, arrays: tuple[Any, ...], sizes: Mapping[str, int]) -> float:
    """The least time of some calls, in seconds; infinite for what no kernel can be made for."""
    given: dict[str, Any] = dict(sizes)
    try:
        run(op, *arrays, **given)
        times: list[float] = []
        while len(times) < FEWEST_RUNS or (sum(times) < SECONDS and len(times) < MOST_RUNS):
            start = time.perf_counter()
            run(op, *arrays, **given)
            times.append(time.perf_counter() - start)
        return min(times)
    except WorkbenchError:
        return float("inf")


@dataclass(eq=False)
class Costs:
    """Costs of calls of a model whose named dimensions have these `sizes`; what was asked before is remembered.

    Without `cost` they are measured, if `is_measured`; else movements cost their cells, and calls nothing.
    """

    types: Types
    sizes: Mapping[str, int]
    cost: Cost | None
    is_measured: bool
    known: dict[Any, float] = field(default_factory=dict)

    def of_way(self, call: Call, way: Way) -> float:
        """What a call costs in a way."""
        if way.vanishes:
            return 0.0
        op = way.operator(operator_of(call))
        assert op is not None
        shapes = [self._shape(each) for each in call.arguments]
        stored = tuple(tuple(shape[at] for at in order) for shape, order in zip(shapes, way.arguments, strict=True))
        elements = tuple(self._element(each) for each in call.arguments)
        sizes = {name: self._value(dim) for name, dim in call.sizes}
        return self._known(op, stored, elements, sizes)

    def of_moving(self, term: Term, order: Order) -> float:
        """What it costs to put an array into another order."""
        shape = self._shape(term)
        return self._known(transposition(len(shape), order), (shape,), (self._element(term),), {})

    def _known(
        self, op: Operator, shapes: tuple[tuple[int, ...], ...], elements: tuple[DType, ...], sizes: Mapping[str, int]
    ) -> float:
        key = (op, shapes, elements, tuple(sorted(sizes.items())))
        if key not in self.known:
            self.known[key] = self._found(op, shapes, elements, sizes)
        return self.known[key]

    def _found(
        self, op: Operator, shapes: tuple[tuple[int, ...], ...], elements: tuple[DType, ...], sizes: Mapping[str, int]
    ) -> float:
        if self.cost is not None:
            return self.cost(op, shapes)
        if not self.is_measured:
            return float(np.prod(shapes[0])) if op.name.startswith("transpose_") else 0.0
        arrays = tuple(example(shape, element) for shape, element in zip(shapes, elements, strict=True))
        return measured(op, arrays, {name: sizes[name] for name in sizes if name not in inputs_of(op)})

    def _shape(self, term: Term) -> tuple[int, ...]:
        of = self.types[term]
        assert isinstance(of, TensorType)
        return tuple(self._value(each) for each in of.dims)

    def _element(self, term: Term) -> DType:
        of = self.types[term]
        assert isinstance(of, TensorType)
        assert isinstance(of.element, DType)
        return of.element

    def _value(self, dim: Any) -> int:
        return value_of(dim, {name: self.sizes.get(name, SIZE) for name in symbols(dim)})


def example(shape: tuple[int, ...], of: DType) -> Any:
    """Small numbers; whole numbers are 0, because they may be subscripts."""
    if not of.is_float:
        return np.zeros(shape, of.numpy)
    return np.random.default_rng(0).uniform(0.1, 1.0, shape).astype(of.numpy)
