"""Regions as functions: a set of calls becomes a global function of the model, and a call of it takes its place."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.graph.engines.regions.blocks import Block, Mask, source_of
from workbench.graph.forms.scopes import value_node
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import dimension, symbols
from workbench.graph.terms.nodes import (
    Call,
    Constant,
    Function,
    Global,
    Projection,
    Term,
    Tuple,
    Variable,
)
from workbench.graph.terms.types import TensorType, TupleType, Type
from workbench.graph.terms.walking import Steps, operands, postorder, run, with_operands
from workbench.records import record

Port = tuple[Term, int | None]
"""A value of a call: the call, and which of its several results it is."""


@record(eq=False)
class Outline:
    """A region as a function: what it takes from around, the values that it gives, in order, its calls by the old."""

    function: Function
    inputs: tuple[Term, ...]
    results: tuple[Port, ...]
    calls: Mapping[Term, Term]


def outline(model: Model, block: Block, mask: Mask) -> Outline:
    """The function of a region; constants go into it, other values are its parameters."""
    members = block.members(mask)
    inside = set(members)
    types = model.typing.types
    inputs: dict[Term, Variable] = {}
    made: dict[Term, Term] = {}
    for node in members:
        assert isinstance(node, Call)
        arguments = []
        for argument in node.arguments:
            source = value_node(argument)
            if source_of(source) in inside or isinstance(source, Constant):
                arguments.append(_inner(source, made))
            else:
                arguments.append(inputs.setdefault(source, Variable(f"x{len(inputs)}", _shape(types[source]))))
        made[node] = Call(node.function, tuple(arguments), node.sizes, node.label, node.span)
    results = _results(model, block.function, inside, members)
    values = tuple(made[node] if at is None else Projection(made[node], at) for node, at in results)
    body = values[0] if len(values) == 1 else Tuple(values)
    return Outline(Function(tuple(inputs.values()), body), tuple(inputs), results, made)


def _inner(source: Term, made: Mapping[Term, Term]) -> Term:
    if isinstance(source, Projection):
        return Projection(made[source_of(source)], source.index)
    return made.get(source, source)


def _shape(of: Type) -> Type:
    assert isinstance(of, TensorType)
    return of


def _results(model: Model, function: str, inside: set[Term], members: list[Term]) -> tuple[Port, ...]:
    """The values that something outside uses, in order; a call that is used whole gives all its results."""
    used: dict[Port, None] = {}
    for node in postorder(model.functions[function]):
        if node in inside:
            continue
        for operand in operands(node):
            source = source_of(operand)
            if source not in inside or isinstance(node, Projection):
                continue
            place = value_node(operand)
            used[source, place.index if isinstance(place, Projection) else None] = None
    found: list[Port] = []
    for node in members:
        several = model.typing.types[node]
        if isinstance(several, TupleType):
            whole = (node, None) in used
            found += [(node, at) for at in range(len(several.items)) if whole or (node, at) in used]
        elif (node, None) in used:
            found.append((node, None))
    return tuple(found)


def untold_dimensions(outlined: Outline) -> set[str]:
    """The dimensions that sizes inside mention and that no parameter tells by itself."""
    function = outlined.function
    told = {name for each in function.parameters for name in _told(each)}
    sizes = [of for node in postorder(function) if isinstance(node, Call) for _, of in node.sizes]
    return {name for of in sizes for name in symbols(of)} - told


def _told(variable: Variable) -> set[str]:
    of = variable.type
    dims = of.dims if isinstance(of, TensorType) else ()
    return {name for dim in dims for name in symbols(dim) if dim == dimension(name)}


def replaced(model: Model, regions: Mapping[str, tuple[Block, Outline, Mask]]) -> Model:
    """The model with regions as functions of these names, called where their nodes stood."""
    functions = dict(model.functions)
    for name in model.functions:
        own = {key: each for key, each in regions.items() if each[0].function == name}
        if own:
            functions[name] = _Replacing(own).function(model.functions[name])
    return model.with_functions({**{name: each[1].function for name, each in regions.items()}, **functions})


class _Replacing:
    """Rebuilds a function; what a region needs is built before its call."""

    def __init__(self, regions: Mapping[str, tuple[Block, Outline, Mask]]) -> None:
        self.outlines = {name: each[1] for name, each in regions.items()}
        self.region = {node: name for name, (block, _, mask) in regions.items() for node in block.members(mask)}
        self.made: dict[Term, Term] = {}
        self.calls: dict[str, Term] = {}

    def function(self, of: Function) -> Function:
        found = run(self.rebuilt(of))
        assert isinstance(found, Function)
        return found

    def rebuilt(self, node: Term) -> Steps[Term]:
        if node not in self.made:
            if node in self.region:
                self.made[node] = yield self.result(node)
            elif isinstance(node, Projection) and node.tuple in self.region:
                self.made[node] = yield self.port((node.tuple, node.index))
            else:
                inside = []
                for each in operands(node):
                    inside.append((yield self.rebuilt(each)))
                self.made[node] = with_operands(node, tuple(inside))
        return self.made[node]

    def result(self, node: Term) -> Steps[Term]:
        """The value of a call that is now computed in a region, whole."""
        results = [at for each, at in self.outlines[self.region[node]].results if each is node]
        if results == [None]:
            return (yield self.port((node, None)))
        items = []
        for at in results:
            items.append((yield self.port((node, at))))
        return Tuple(tuple(items))

    def port(self, port: Port) -> Steps[Term]:
        name = self.region[port[0]]
        outlined = self.outlines[name]
        if name not in self.calls:
            inputs = []
            for each in outlined.inputs:
                inputs.append((yield self.rebuilt(each)))
            self.calls[name] = Call(Global(name), tuple(inputs), label=name)
        call = self.calls[name]
        return call if len(outlined.results) == 1 else Projection(call, outlined.results.index(port))
