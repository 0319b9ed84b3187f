"""Subgraphs: a region of a model as an engine gets it, for arrays of known shapes: steps over numbered values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from workbench.errors import CallError, EngineError, ModelError
from workbench.graph.engines.sites import ArrayType, Site, array_type, site_of
from workbench.graph.evaluation.operators import in_order, inputs_of
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import dimension, symbols, value_of
from workbench.graph.terms.nodes import Array, Call, Constant, Function, Projection, Term, Tuple, Variable
from workbench.graph.terms.types import FunctionType, TensorType, TupleType
from workbench.graph.terms.walking import postorder, refreshed, transform
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate as oracle
from workbench.records import record


@record(eq=False)
class Step:
    """One call of an operator: numbers of the values that go in and come out, and what is known of them."""

    site: Site
    arguments: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def operator(self) -> Operator:
        """The operator, its element types fixed."""
        return self.site.operator

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes that the call gives by name."""
        return {name: int(size) for name, size in self.site.sizes.items()}

    def __str__(self) -> str:
        results = ", ".join(f"%{each}" for each in self.results)
        return f"{results} = {self.operator.name}({', '.join(f'%{each}' for each in self.arguments)})"


@record(eq=False)
class Subgraph:
    """What an engine compiles: calls of operators in order, over values that are numbered.

    `inputs`, then `constants`, then what the steps compute; `types` has the type of each.  The callable that an engine
    returns takes the inputs as arrays and gives the results: an array, or a tuple where there are several.
    """

    name: str
    model: Model
    inputs: tuple[int, ...]
    constants: Mapping[int, Array]
    steps: tuple[Step, ...]
    results: tuple[int, ...]
    types: Mapping[int, ArrayType]

    @cached_property
    def key(self) -> str:
        """A digest of all that is computed: operators, shapes, and what constants hold."""
        return self.model.key

    @property
    def result_types(self) -> tuple[ArrayType, ...]:
        """The types of the results."""
        return tuple(self.types[each] for each in self.results)

    def evaluate(self, *arrays: Any) -> Any:
        """What it computes, by the oracles of its operators."""
        return self.run(arrays, oracle)

    def run(self, arrays: tuple[Any, ...], call: Any) -> Any:
        """What it computes where `call(operator, *inputs, out=..., **sizes)` computes an operator."""
        values: dict[int, Any] = {**self.constants, **dict(zip(self.inputs, map(np.asarray, arrays), strict=True))}
        for step in self.steps:
            op, given = step.operator, [values[each] for each in step.arguments]
            count = len(inputs_of(op))
            out = in_order(op, tuple(given[count:])) if len(given) > count else None
            found = call(op, **dict(zip(inputs_of(op), given, strict=False)), **step.sizes, out=out)
            values.update(zip(step.results, found if len(step.results) > 1 else (found,), strict=True))
        results = [values[each] for each in self.results]
        return tuple(results) if len(results) > 1 else results[0]

    def __str__(self) -> str:
        lines = [f"%{each}: {self.types[each]}" for each in self.inputs]
        lines += [f"%{each}: {self.types[each]} (constant)" for each in self.constants]
        return "\n".join([f"{self.name}:", *lines, *map(str, self.steps), f"-> {', '.join(map(str, self.results))}"])


def subgraph(name: str, function: Function, given: list[ArrayType]) -> Subgraph:
    """The region of a function for arguments of these types; CallError if they do not fit."""
    sizes: dict[str, int] = {}
    parameters = []
    for variable, of in zip(function.parameters, given, strict=True):
        assert isinstance(variable.type, TensorType)
        _tell(variable, variable.type, of, sizes)
        dims = tuple(dimension(int(each)) for each in of.shape)
        parameters.append(Variable(variable.name, TensorType(of.dtype, dims)))
    body = refreshed(function.body, dict(zip(function.parameters, parameters, strict=True)))
    body = transform(body, lambda node: _with_numbers(name, node, sizes))
    try:
        model = Model({"main": Function(tuple(parameters), body)})
    except ModelError as error:
        raise CallError(f"{name}: the arguments do not fit: {error}") from None
    return numbered_subgraph(name, model)


def _tell(variable: Variable, of: TensorType, given: ArrayType, sizes: dict[str, int]) -> None:
    """What an argument's extents tell of the named dimensions."""
    if given.dtype != of.element or len(given.shape) != len(of.dims):
        raise CallError(f"{variable.name}: expected {array_type(of)} but found {given}")
    for dim, size in zip(of.dims, given.shape, strict=True):
        name = next(iter(symbols(dim)), None)
        if name is not None and dim == dimension(name):
            if sizes.setdefault(name, int(size)) != size:
                raise CallError(f"{variable.name}: expected {name} = {sizes[name]} but found {size}")
        elif name is None and dim.constant != size:
            raise CallError(f"{variable.name}: expected {array_type(of)} but found {given}")


def _with_numbers(name: str, node: Term, sizes: Mapping[str, int]) -> Term:
    if not isinstance(node, Call) or not node.sizes:
        return node
    try:
        known = tuple((each, dimension(value_of(of, sizes))) for each, of in node.sizes)
    except KeyError as error:
        raise EngineError(f"{name}: no argument tells the size {error.args[0]!r}") from None
    return Call(node.function, node.arguments, known, node.label, node.span)


def numbered_subgraph(name: str, model: Model) -> Subgraph:
    """The subgraph of a model of one function whose types are all known; EngineError where it has control flow."""
    function, types = model.main, model.typing.types
    known: dict[tuple[Term, int | None], int] = {}
    array_types: dict[int, ArrayType] = {}
    constants: dict[int, Array] = {}
    steps: list[Step] = []

    def number(term: Term, at: int | None, of: ArrayType | None) -> int:
        if of is None or not of.is_concrete:
            raise EngineError(f"{name}: a value of a region is an array of known shape, not {of}")
        found = known[term, at] = len(known)
        array_types[found] = of
        return found

    def source(term: Term) -> int:
        return known[(term.tuple, term.index) if isinstance(term, Projection) else (term, None)]

    inputs = tuple(number(each, None, array_type(types[each])) for each in function.parameters)
    order = [node for node in postorder(function.body) if not isinstance(node, Variable | Projection)]
    for node in order:
        if isinstance(node, Constant):
            constants[number(node, None, array_type(types[node]))] = node.array
    for node in order:
        if isinstance(node, Call):
            site = site_of(node, types)
            if isinstance(site, str):
                raise EngineError(f"{name}: {site}")
            arguments = tuple(map(source, node.arguments))
            several = isinstance(types[node], TupleType)
            results = tuple(number(node, at if several else None, of) for at, of in enumerate(site.results))
            steps.append(Step(site, arguments, results))
    roots = function.body.items if isinstance(function.body, Tuple) else (function.body,)
    if len(roots) == 1 and isinstance(types[function.body], TupleType) and isinstance(function.body, Call):
        outputs = steps[-1].results
    else:
        outputs = tuple(map(source, roots))
    assert isinstance(model.type_of(model.entry), FunctionType)
    return Subgraph(name, model, inputs, constants, tuple(steps), outputs, array_types)
