"""Models in double precision, and their gradients against central differences along a direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.graph import Data, Model
from workbench.graph.gradients.structures import chosen_parameters, elements_of
from workbench.graph.terms.datatypes import DataDefinition, Variant
from workbench.graph.terms.nodes import Constant, Function, Primitive, Term, Variable
from workbench.graph.terms.types import TensorType, Type, map_type
from workbench.graph.terms.walking import refreshed, transform
from workbench.lang import astype
from workbench.lang.dtypes import FLOAT32, FLOAT64
from workbench.lang.operator import Operator

SPREAD = "double"
Value = Any


def in_double(model: Model) -> Model:
    """The same model with float64 in place of float32, constants and operators included."""
    made: dict[Operator, Operator] = {}
    functions = {name: _function(function, made) for name, function in model.functions.items()}
    definitions = tuple(
        DataDefinition(d.name, d.parameters, tuple(Variant(v.name, tuple(map(_type, v.fields))) for v in d.variants))
        for d in model.definitions
    )
    return Model(functions, definitions)


def _type(of: Type) -> Type:
    def wide(part: Type) -> Type:
        return TensorType(FLOAT64, part.dims) if isinstance(part, TensorType) and part.element == FLOAT32 else part

    return map_type(of, wide)


def _function(function: Function, made: dict[Operator, Operator]) -> Function:
    def wide(node: Term) -> Term:
        match node:
            case Variable(name, of) if of is not None:
                return renamed.setdefault(node, Variable(name, _type(of)))
            case Constant(array) if array.dtype == np.float32:
                return Constant(array.astype(np.float64))
            case Primitive(op) if not op.generic and any(t.dtype == FLOAT32 for t in op.tensors.values()):
                return Primitive(made.setdefault(op, astype(op, SPREAD)))
            case Function(parameters, body, result, quantified):
                own = tuple(renamed.setdefault(p, Variable(p.name, _type(p.type))) if p.type else p for p in parameters)
                return Function(own, body, None if result is None else _type(result), quantified)
            case _:
                return node

    renamed: dict[Variable, Variable] = {}
    found = transform(refreshed(function), wide)
    assert isinstance(found, Function)
    return found


# --- values as structures of arrays


def mapped(change: Callable[[np.ndarray], Any], value: Value) -> Value:
    """A structure with every array of floats changed, and the rest as it is."""
    return zipped(lambda array, _: change(array), value, value)


def zipped(change: Callable[[np.ndarray, Any], Any], value: Value, other: Value) -> Value:
    """The same of two structures of the same form."""
    if isinstance(value, tuple):
        return tuple(zipped(change, a, b) for a, b in zip(value, other, strict=True))
    if isinstance(value, Data):
        assert isinstance(other, Data)
        assert value.constructor == other.constructor
        fields = tuple(zipped(change, a, b) for a, b in zip(value.fields, other.fields, strict=True))
        return Data(value.constructor, fields)
    array = np.asarray(value)
    return change(array, other) if array.dtype.kind == "f" else array


def inner(value: Value, other: Value) -> float:
    """The sum of products of all floats of two structures."""
    found: list[float] = []
    zipped(lambda a, b: found.append(float(np.sum(a * np.asarray(b)))), value, other)
    return float(sum(found))


def close(gradient: Model, model: Model, arguments: tuple[Value, ...], seed: int, step: float = 1e-6) -> bool:
    """Whether a gradient is what central differences say along one random direction, for one random seed.

    AssertionError if it is not; False where values are too large to tell.
    """
    random = np.random.default_rng(seed)

    def noise(array: np.ndarray) -> np.ndarray:
        return random.standard_normal(array.shape)

    plain = model.evaluate(*arguments)
    d_result, direction = mapped(noise, plain), mapped(noise, arguments)
    result, *gradients = gradient.evaluate(*arguments, d_result)
    assert str(result) == str(plain)

    def moved(by: float) -> float:
        return inner(model.evaluate(*zipped(lambda a, d: a + by * np.asarray(d), arguments, direction)), d_result)

    ends = moved(step), moved(-step)
    if not np.isfinite(ends).all() or max(map(abs, ends)) > 1e4:
        return False
    expected = (ends[0] - ends[1]) / (2 * step)
    chosen = chosen_parameters(model, None, elements_of(model))
    found = sum(inner(direction[at], of) for at, of in zip(chosen, gradients, strict=True))
    scale = 1 + abs(expected) + max(map(abs, ends))
    assert abs(found - expected) < 1e-5 * scale, f"the gradient says {found}, differences say {expected}"
    return True
