"""What a call gives, known while it is traced: element types and shapes, also symbolic ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
from jax.core import max_dim

from workbench.errors import CallError
from workbench.export.hosts import placeholder, result_shapes
from workbench.export.xla.kernels import Kernels
from workbench.lang.binding.arrays import with_array_types
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import type_name


def known_types(kernels: Kernels, arrays: Mapping[str, Any]) -> Operator:
    """The operator for the element types of a call; TypeError for an array of another type."""
    op = kernels.family.op
    try:
        return with_array_types(op, {n: a for n, a in arrays.items() if op.tensors[n].rank})
    except CallError as error:
        raise TypeError(str(error)) from None


def known_results(
    kernels: Kernels, arrays: Mapping[str, jax.Array], static: Mapping[str, int]
) -> list[jax.ShapeDtypeStruct]:
    """The results of a call; TypeError for an array of another type, ValueError for one of another shape."""
    op, family = kernels.family.op, kernels.family
    known_types(kernels, arrays)
    _refuse_others(kernels, arrays)
    numbers = {n: placeholder(op.tensors[n].dtype.kind) for n in family.inputs if op.tensors[n].rank == 0}
    known: dict[str, Any] = {**arrays, **static, **numbers}
    named = {n: v for n, v in static.items() if n not in op.parameters}
    try:
        shapes = result_shapes(family, [known[n] for n in (*op.parameters, *family.updated)], named, _non_negative)[1]
    except CallError as error:
        raise ValueError(str(error)) from None
    types = [op.tensors[o].dtype.numpy for o in op.outputs]
    return [jax.ShapeDtypeStruct(tuple(s), t) for s, t in zip(shapes, types, strict=True)]


def _refuse_others(kernels: Kernels, arrays: Mapping[str, jax.Array]) -> None:
    """TypeError for what is not of the kernels' type, ValueError for a number that is an array."""
    op = kernels.family.op
    for name, array in arrays.items():
        expected = op.tensors[name].dtype
        if array.dtype != expected.numpy:
            raise TypeError(f"{op.name}: {name} expected type {type_name(expected)} but found {array.dtype}")
        if array.ndim and op.tensors[name].rank == 0:
            raise ValueError(f"{op.name}: {name} expected a number but found an array of shape {array.shape}")


def _non_negative(extent: Any) -> Any:
    return max(extent, 0) if isinstance(extent, int) else max_dim(extent, 0)
