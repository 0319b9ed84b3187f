"""The gradient of a model as a model of its own, and as a function beside that of an exported model."""

from __future__ import annotations

import numpy as np

from workbench.errors import WorkbenchError
from workbench.export.models.model_interface import ModelInterface, model_interface
from workbench.graph import Model, build_model
from workbench.graph.gradients.gradient import gradient
from workbench.graph.optimizing import optimize
from workbench.graph.terms.nodes import Function, Projection, Term, Tuple, Variable
from workbench.graph.terms.types import FunctionType, TensorType, TupleType, Type
from workbench.graph.terms.walking import refreshed
from workbench.lang.dtypes import DType
from workbench.records import record


def gradients_alone(model: Model) -> Model:
    """`wb.grad(model)` without the result, over the derivative of each result as a parameter of its own.

    The model takes tensors.
    """
    made = gradient(model)
    function = made.main
    *parameters, d_result = function.parameters
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    parts: tuple[Variable, ...] = (Variable("d_result", of.result),)
    whole: Term = parts[0]
    if isinstance(of.result, TupleType):
        parts = tuple(Variable(f"d_result_{at}", each) for at, each in enumerate(of.result.items))
        whole = Tuple(parts)
    own = [Variable(each.name, each.type) for each in parameters]
    body = refreshed(function.body, {d_result: whole, **dict(zip(parameters, own, strict=True))})
    floats = sum(is_float(each) for each in of.parameters)
    found = body.items[1:] if isinstance(body, Tuple) else tuple(Projection(body, at + 1) for at in range(floats))
    return made.with_functions({**made.functions, made.entry: Function((*own, *parts), Tuple(found))})


def is_float(of: Type) -> bool:
    """Whether a type is that of a tensor of floats."""
    return isinstance(of, TensorType) and isinstance(of.element, DType) and of.element.is_float


@record(eq=False)
class ModelGradient:
    """The gradient as a function, and what it is called with: ("i", place of an argument of the model) or ("d", number
    of a result, whose derivative it is).  Its results are the gradients by the arguments of the places `inputs`."""

    interface: ModelInterface
    rows: tuple[tuple[str, int], ...]
    inputs: tuple[int, ...]


def model_gradient(interface: ModelInterface) -> ModelGradient:
    """The gradient by all tensors of floats, for the same sizes; WorkbenchError where there is none."""
    model, name = interface.built.model, f"{interface.name}_grad"
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    places = {port.name: at for at, port in enumerate(interface.inputs)}
    names = [each.name for each in model.main.parameters]
    if missing := [each for each in names if each not in places]:
        raise WorkbenchError(f"{model.entry}: {missing[0]} is no tensor, or is not read: its gradient is not exported")
    smooth = [places[each] for each, kind in zip(names, of.parameters, strict=True) if is_float(kind)]
    if not smooth or not any(port.dtype.is_float for port in interface.results):
        raise WorkbenchError("it neither takes nor gives floats that could have one")
    built = build_model(optimize(gradients_alone(model)), threads=interface.built.threads)
    ports = [interface.inputs[places[each]] for each in names]
    built(*(np.zeros(port.shape, port.dtype.numpy) for port in (*ports, *interface.results)))
    made = model_interface(built, name)
    rows = tuple(_row(interface, places, port.name) for port in made.inputs)
    return ModelGradient(made, rows, tuple(smooth))


def _row(interface: ModelInterface, places: dict[str, int], name: str) -> tuple[str, int]:
    if name in places:
        return "i", places[name]
    number = 0 if name == "d_result" else int(name.removeprefix("d_result_"))
    if not interface.results[number].dtype.is_float:
        raise WorkbenchError(f"{interface.name}: its gradient reads that of a result which is no float")
    return "d", number
