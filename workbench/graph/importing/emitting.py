"""Definitions as they are written for nodes: one operator for each text, each call a node of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from workbench.graph.building import Builder
from workbench.graph.importing.values import Array, Dims, Value, of_array
from workbench.graph.terms.dimensions import Dimension, shown, symbols
from workbench.graph.terms.nodes import Term, Variable
from workbench.graph.terms.types import TensorType, TupleType, Type
from workbench.graph.terms.walking import free_variables
from workbench.lang import operator
from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import INT64, DType, from_numpy
from workbench.lang.operator import Operator
from workbench.ops.catalogue import ENTRIES

Input = tuple[str, Value, Sequence[str]]
Output = tuple[str, DType, Sequence[str]]
FOLDED = 4096  # elements: what is known and larger stays a computation of the model, for a pass to fold


class Emitter:
    """Writes definitions and calls them in a builder; `label` is the name that calls then have for the eye."""

    def __init__(self, builder: Builder, taken: Iterable[str] = ()) -> None:
        self.builder = builder
        self.label = ""
        self.parameters: list[Value] = []
        self.sources: dict[Variable, str] = {}
        self._operators: dict[str, Operator] = {}
        self._taken = {*ENTRIES, *taken, builder.name}

    # --- values that are not computed

    def constant(self, array: Array, element: DType | None = None) -> Value:
        """A constant; `element` is its type where NumPy has another name for it."""
        found = element or from_numpy(array.dtype)
        assert found is not None, array.dtype
        return of_array(np.ascontiguousarray(array).reshape(array.shape), found)

    def scalar(self, number: float, element: DType) -> Value:
        """A constant without axes."""
        return self.constant(np.asarray(number).astype(element.numpy), element)

    def parameter(self, name: str, element: DType, dims: Dims, source: str = "") -> Value:
        """A parameter of the function that is built; `source` is its name in the other framework."""
        variable = self.builder.parameter(name, TensorType(element, dims))
        self.sources[variable] = source or name
        self.parameters.append(Value(element, dims, variable))
        return self.parameters[-1]

    def sources_of(self, value: Value) -> list[str]:
        """The parameters that a value is computed from, by their names in the other framework."""
        return [self.sources[each] for each in free_variables(value.term) if each in self.sources]

    def contents(self, contents: Array) -> Value:
        """Sizes as a tensor of int64, computed only if somebody asks for them as data."""
        if contents.dtype != object:
            return self.constant(contents.astype(np.int64), INT64)
        shape = tuple(contents.shape)
        known = Value(INT64, (), lambda: self._sizes(contents), contents)
        known.dims = of_array(np.zeros(shape), INT64).dims
        return known

    def _sizes(self, contents: Array) -> Term:
        """The term of sizes: an operator that looks at the shapes of parameters."""
        dims: list[Dimension] = list(contents.reshape(-1))
        needed = {name for dim in dims for name in symbols(dim)}
        inputs: list[Input] = []
        for at, value in enumerate(self.parameters):
            told = {name for dim in value.dims for name in symbols(dim)}
            if needed & told:
                inputs.append((f"x{at}", value, [shown(dim) for dim in value.dims]))
                needed -= told
        texts = [f"int64({shown(dim)})" for dim in dims]
        body = "y = " + texts[0]
        if contents.ndim:
            chain = "".join(f"i == {at} ? {text} : " for at, text in enumerate(texts[:-1])) + texts[-1]
            body = f"y(i) = {chain} where i in 0:{len(texts)}"
        flat = self.define("sizes", inputs, [("y", INT64, [str(len(texts))] if contents.ndim else [])], body)
        return flat.term

    # --- definitions

    def define(
        self, name: str, inputs: Sequence[Input], output: Sequence[Output], body: str, *,
        sizes: Mapping[str, Dimension] | None = None, before: str = "",
    ) -> Value:  # fmt: skip
        """The one result of a definition with these inputs, output and statements, applied to the inputs' values."""
        return self.several(name, inputs, output, body, sizes=sizes, before=before)[0]

    def several(
        self, name: str, inputs: Sequence[Input], outputs: Sequence[Output], body: str, *,
        sizes: Mapping[str, Dimension] | None = None, before: str = "",
    ) -> tuple[Value, ...]:  # fmt: skip
        """All results of a definition.

        An input is its name, its value and the sizes of its axes as text, an output its name, element type and sizes.
        `sizes` are what no shape tells; `before` are monoids that the statements use.
        """
        sizes = dict(sizes or {})
        head = ", ".join([*(f"{_type(v.element, dims)} {n}" for n, v, dims in inputs), *(f"int32 {n}" for n in sizes)])
        results = ", ".join(f"{_type(element, dims)} {n}" for n, element, dims in outputs)
        op = self._operator(name, f"({head}) -> ({results}) {{\n{body}\n}}", before)
        known = [value.array for _, value, _ in inputs]
        if not sizes and all(array is not None and array.size <= FOLDED for array in known):
            return self._folded(op, known, [element for _, element, _ in outputs])
        return self._called(op, [value.term for _, value, _ in inputs], sizes)

    def _operator(self, name: str, text: str, before: str) -> Operator:
        if before + text not in self._operators:
            self._operators[before + text] = operator(f"{before}def {self._fresh(name)}{text}")
        return self._operators[before + text]

    def _fresh(self, name: str) -> str:
        plain = f"map_{name}" if name in BUILTINS else name
        found, count = plain, 1
        while found in self._taken:
            count += 1
            found = f"{plain}_{count}"
        self._taken.add(found)
        return found

    def _folded(self, op: Operator, arrays: Sequence[Array | None], elements: Sequence[DType]) -> tuple[Value, ...]:
        from workbench.lang.oracle.evaluation import evaluate

        found = evaluate(op, *arrays)
        results = found if isinstance(found, tuple) else (found,)
        return tuple(self.constant(np.asarray(each), of) for each, of in zip(results, elements, strict=True))

    def _called(self, op: Operator, arguments: list[Term], sizes: Mapping[str, Dimension]) -> tuple[Value, ...]:
        call = self.builder.call(op, *arguments, label=self.label, **sizes)
        of = self.builder.type_of(call)
        if not isinstance(of, TupleType):
            return (self.value(call, of),)
        return tuple(self.value(self.builder.project(call, at), item) for at, item in enumerate(of.items))

    def value(self, term: Term, of: Type | None = None) -> Value:
        """A term of the builder as a value."""
        found = of if of is not None else self.builder.type_of(term)
        assert isinstance(found, TensorType)
        assert isinstance(found.element, DType)
        return Value(found.element, found.dims, term)

    def let(self, name: str, value: Value) -> Value:
        """A value under a name, computed here."""
        return Value(value.element, value.dims, self.builder.let(name, value.term), value.contents)


def _type(element: DType, dims: Sequence[str]) -> str:
    return f"{element.name}({','.join(dims)})" if dims else element.name
