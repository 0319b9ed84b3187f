"""`wb.grad(model)`: the model that computes a result and its gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.graph.forms.scopes import value_node
from workbench.graph.gradients.adjoints import Adjoints, straight
from workbench.graph.gradients.backpropagators import Backpropagators, Lets
from workbench.graph.gradients.crossing import Crossing
from workbench.graph.gradients.derived_operators import Derived
from workbench.graph.gradients.duals import Duals, claimed
from workbench.graph.gradients.structures import (
    Elements,
    at_path,
    chosen_parameters,
    elements_of,
    holds_data,
    leaves,
)
from workbench.graph.terms.nodes import Call, Function, Global, NewReference, ReadReference, Term, Tuple, Variable
from workbench.graph.terms.types import FunctionType, TensorType, TupleType, Type
from workbench.graph.terms.walking import refreshed
from workbench.graph.typing.schemes import declared, is_annotated, written_type

if TYPE_CHECKING:
    from workbench.graph.models import Model


def gradient(model: Model, wrt: str | Iterable[str] | None = None) -> Model:
    """The model whose entry returns the result of another and its gradients by parameters.

    Its entry takes the parameters, then `d_result`, of the type of the result: the derivative of some number by it.  It
    returns a tuple: the result, then for each parameter in `wrt` (by default each that holds floats) the derivative of
    that number, of the type of the parameter.  Integers have no gradient and stand in it as they are.

    Straight code becomes straight code, by adjoints; everything else computes over pairs of values and cells
    (`backpropagators`).  Raises ModelError for a parameter that is not there or holds no floats, for functions and
    cells among parameters or results, and for an operator that has no gradient.

    >>> from workbench.graph import model
    >>> found = gradient(model("fn main(x: float32[n], y: float32[n]) { softplus(x) }"), "x")
    >>> print(str(found).partition("fn ")[2])
    main(x: float32[n], y: float32[n], d_result: float32[n]) -> (float32[n], float32[n]) {
        (softplus(x), softplus_grad(x, d_result))
    }
    """
    elements = elements_of(model)
    chosen = chosen_parameters(model, wrt, elements)
    function = straight(_annotated(model))
    if function is not None and not any(map(holds_data, _signature(model).parameters)):
        return _by_adjoints(model.with_functions({model.entry: function}), chosen, elements)
    return _by_cells(model, chosen, elements)


def _signature(model: Model) -> FunctionType:
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    return of


def _annotated(model: Model) -> Function:
    """The entry with its whole type in its head."""
    function = model.main
    if is_annotated(function):
        return function
    scheme, of = model.scheme_of(model.entry), _signature(model)
    written = tuple(each for each in scheme.variables if each.kind != "dimension")
    new = {old: Variable(old.name, kind) for old, kind in zip(function.parameters, of.parameters, strict=True)}
    body = refreshed(function.body, dict(new))
    return Function(tuple(new.values()), body, of.result, written)


def _by_adjoints(model: Model, chosen: list[int], elements: Elements) -> Model:
    function = model.main
    seed = _seed(model)
    result = value_node(function.body)
    adjoints = Adjoints(model, function, chosen, elements, Derived(model.operators))
    adjoints.seed(result, seed)
    adjoints.sweep()
    parameters = [function.parameters[at] for at in chosen]
    found = [_assembled(adjoints, each, model.type_of(each), elements) for each in parameters]
    return _entry(model, function, seed, chosen, Tuple((result, *found)), {})


def _assembled(adjoints: Adjoints, parameter: Variable, of: Type, elements: Elements) -> Term:
    """The gradient of a parameter out of those of its parts."""
    parts: dict[tuple[int, ...], Term] = {}
    for path, part in leaves(of):
        own = at_path(parameter, path)
        if isinstance(part, TensorType) and elements.has_gradient(part):
            parts[path] = adjoints.gradient(parameter, path) or adjoints.derived.zeros_like(own, len(part.dims))
        else:
            parts[path] = own
    return _together(of, parts, ())


def _together(of: Type, parts: dict[tuple[int, ...], Term], path: tuple[int, ...]) -> Term:
    if isinstance(of, TupleType):
        return Tuple(tuple(_together(each, parts, (*path, at)) for at, each in enumerate(of.items)))
    return parts[path]


def _by_cells(model: Model, chosen: list[int], elements: Elements) -> Model:
    plain = model.a_normal_form()
    entry, of = _annotated(model), _signature(model)
    derived = Derived(model.operators)
    duals = Duals(model.datatypes, elements)
    taken = {*model.functions, "main"}
    names = {name: claimed(f"{name}_dual", taken) for name in model.functions}
    rewriting = Backpropagators(plain, duals, derived, names)
    functions = {names[name]: rewriting.function(function) for name, function in plain.functions.items()}
    crossing = Crossing(duals, derived, taken, (*entry.quantified, *declared(entry, ())))

    seed, lets = _seed(model), Lets()
    back = lets.bind("back", NewReference(Function((), Tuple(()))))
    pairs = zip(entry.parameters, of.parameters, strict=True)
    given = [lets.bind(each.name, crossing.dual(each, kind)) for each, kind in pairs]
    result = lets.bind("result", Call(Global(names[model.entry]), (*given, back)))
    crossing.seeded(result, seed, of.result, lets)
    lets.bind("_", Call(ReadReference(back), ()))
    gradients = (crossing.gradient(given[at], of.parameters[at]) for at in chosen)
    body = lets.around(Tuple((crossing.value(result, of.result), *gradients)))
    return _entry(model, entry, seed, chosen, body, {**functions, **crossing.functions}, duals)


def _seed(model: Model) -> Variable:
    names = {each.name for each in model.main.parameters}
    return Variable(claimed("d_result", names), _signature(model).result)


def _entry(
    model: Model,
    entry: Function,
    seed: Variable,
    chosen: list[int],
    body: Term,
    others: dict[str, Function],
    duals: Duals | None = None,
) -> Model:
    head = written_type(entry)
    result = TupleType((head.result, *(head.parameters[at] for at in chosen)))
    function = Function((*entry.parameters, seed), body, result, entry.quantified)
    definitions = (*model.definitions, *(duals.definitions if duals else ()))
    return model.with_functions({**others, model.entry: function}, definitions)
