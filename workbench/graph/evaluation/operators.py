"""Arguments of an operator's call in a model, as a call of the operator itself takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.graph.terms.types import ElementVariable
from workbench.graph.typing.signatures import signature
from workbench.lang.dtypes import DType, from_numpy
from workbench.lang.operator import Operator
from workbench.lang.resolve.generics import instantiate


def inputs_of(op: Operator) -> list[str]:
    """The parameters that a call in a model gives by position; sizes it gives by name."""
    return [name for name in op.parameters if name not in op.scalars]


def in_order(op: Operator, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """The initial contents of all outputs, None for those that need none."""
    waiting = iter(given)
    return tuple(next(waiting) if op.tensors[name].role == "inout" else None for name in op.outputs)


def typed(op: Operator, arguments: tuple[Any, ...]) -> Operator:
    """The operator with its type variables fixed by all its arguments, scalars included."""
    if not op.generic:
        return op
    types: dict[str, DType] = {}
    for parameter, value in zip(signature(op).parameters, arguments, strict=True):
        found = from_numpy(np.asarray(value).dtype)
        if isinstance(parameter.type.element, ElementVariable) and found is not None:
            types[parameter.type.element.name] = found
    return instantiate(op, types)
