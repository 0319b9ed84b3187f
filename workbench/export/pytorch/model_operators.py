"""Built models as operators of PyTorch: one for a model of any sizes, with the gradient that `wb.grad` makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from workbench.errors import WorkbenchError
from workbench.export.models.model_gradients import gradients_alone
from workbench.export.pytorch.registry import Named, refuse_taken
from workbench.graph import BuiltModel, Model, build_model
from workbench.graph.evaluation.sizes import solved_dimensions
from workbench.graph.optimizing import optimize
from workbench.graph.terms.dimensions import Dimension, names_of_sizes, shown, value_of
from workbench.graph.terms.types import FunctionType, TensorType, TupleType, Type
from workbench.graph.text.printing_types import print_type
from workbench.lang.dtypes import DType
from workbench.records import record
from workbench.runtime.host.locks import Lock


@dataclass
class ModelOperator(Named):
    """A registered model: the schema stays as long as the process runs, what is `built` may be replaced."""

    built: BuiltModel
    library: Any = None
    gradients: dict[Model, Any] = field(default_factory=dict)


_known: dict[str, ModelOperator] = {}
_lock = Lock()


def register_model(space: str, name: str, built: BuiltModel) -> ModelOperator:
    """Register a built model, or put it in the place of the one of that name; WorkbenchError if that has another
    signature or is not ours, or if the model takes or gives anything but tensors."""
    schema = _signature_of(built.model).schema
    with _lock:
        op = _known.get(f"{space}::{name}")
        if op is None or op.schema != schema:
            refuse_taken(space, name, schema, op)
            op = _known[f"{space}::{name}"] = _defined(ModelOperator(space, name, schema, built))
        op.built = built
    return op


def _defined(op: ModelOperator) -> ModelOperator:
    op.library = torch.library.Library(op.space, "FRAGMENT")
    op.library.define(op.name + op.schema, tags=(torch.Tag.pt2_compliant_tag,))
    op.library.impl(op.name, lambda *tensors: _as_schema(op.built(*tensors)), "CPU")
    torch.library.register_fake(op.qualified, lambda *tensors: _fake(op.built.model, tensors), lib=op.library)
    torch.library.register_autograd(op.qualified, lambda *given: _backward(op, *given), setup_context=_kept,
                                    lib=op.library)  # fmt: skip
    return op


# -- the signature


@record(eq=False)
class ModelSignature:
    """The tensors that a model takes by name, those that it gives, and the schema of PyTorch that says so."""

    parameters: dict[str, TensorType]
    results: tuple[TensorType, ...]
    schema: str


def _signature_of(model: Model) -> ModelSignature:
    """The signature of a model of tensors; WorkbenchError names what else it takes or gives."""
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    names = [each.name for each in model.main.parameters]
    taken = {name: _tensor(model, name, each) for name, each in zip(names, of.parameters, strict=True)}
    parts = of.result.items if isinstance(of.result, TupleType) else (of.result,)
    given = tuple(_tensor(model, "its result", each) for each in parts)
    results = ", ".join(["Tensor"] * len(given))
    inputs = ", ".join(f"Tensor {_word(name)}" for name in names)
    return ModelSignature(taken, given, f"({inputs}) -> {results if len(given) == 1 else f'({results})'}")


def _tensor(model: Model, name: str, of: Type) -> TensorType:
    if isinstance(of, TensorType) and isinstance(of.element, DType) and hasattr(torch, of.element.name):
        return of
    expected = "an operator of PyTorch takes and gives tensors, also several; inline() and partial_evaluate() may help"
    raise WorkbenchError(f"{model.entry}: {name} has type {print_type(of)}; {expected}")


def _word(name: str) -> str:
    """A name that PyTorch's grammar of schemas does not take for something else."""
    return f"{name}_" if name in ("self", "out", "None", "True", "False", "int", "float", "str", "bool") else name


# -- what PyTorch may know of a call without its data


def _fake(model: Model, tensors: tuple[Any, ...]) -> Any:
    signature = _signature_of(model)
    pairs = zip(signature.parameters.items(), tensors, strict=True)
    values: list[tuple[str, Any, Type]] = []
    for (name, of), tensor in pairs:
        values.append((f"{model.entry}: {name}", _Shaped(tuple(map(int, tensor.shape))), of))
    sizes = solved_dimensions(values, {}, model.datatypes)
    device = tensors[0].device if tensors else torch.device("cpu")
    found = tuple(
        torch.empty([_extent(model, dim, sizes) for dim in of.dims], dtype=_dtype(of), device=device)
        for of in signature.results
    )
    return _as_schema(found)


@record
class _Shaped:
    shape: tuple[int, ...]


def _extent(model: Model, dim: Dimension, sizes: dict[str, int]) -> int:
    missing = [name for name in names_of_sizes(dim) if name not in sizes]
    if missing:
        raise WorkbenchError(f"{model.entry}: no argument tells {missing[0]}, of which a result has {shown(dim)}")
    return value_of(dim, sizes)


def _dtype(of: TensorType) -> Any:
    assert isinstance(of.element, DType)
    return getattr(torch, of.element.name)


# -- the gradient: an operator too, made when it is first wanted


def _kept(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.save_for_backward(*inputs)
    ctx.shapes = [(tuple(each.shape), each.dtype) for each in (output if isinstance(output, tuple) else (output,))]


def _backward(op: ModelOperator, ctx: Any, *grads: Any) -> Any:
    signature = _signature_of(op.built.model)
    floats = [_dtype(of).is_floating_point for of in signature.parameters.values()]
    derivative = gradient_operator(op)
    inputs = ctx.saved_tensors
    made = [torch.zeros(shape, dtype=dtype) if g is None or not dtype.is_floating_point else g.contiguous()
            for g, (shape, dtype) in zip(grads, ctx.shapes, strict=True)]  # fmt: skip
    found = iter(_tuple(derivative(*inputs, *made)))
    return tuple(next(found) if is_float else None for is_float in floats)


def gradient_operator(op: ModelOperator) -> Any:
    """The operator that takes the arguments and the derivative of each result, and gives that of each float argument.

    WorkbenchError, with the operator that has none, if there is no gradient.
    """
    known = op.gradients.get(op.built.model)
    if known is None:
        model = gradients_alone(op.built.model)
        name = f"{op.name}_gradient{f'_{len(op.gradients) + 1}' if op.gradients else ''}"
        known = register_model(op.space, name, build_model(optimize(model), threads=op.built.threads)).packet
        op.gradients[op.built.model] = known
    return known


def _as_schema(found: Any) -> Any:
    """Results as PyTorch takes them: one alone is no tuple."""
    return found[0] if isinstance(found, tuple) and len(found) == 1 else found


def _tuple(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)
