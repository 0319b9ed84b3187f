"""What PyTorch may know of a call without its data: shapes and types, also symbolic ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from workbench.errors import CallError
from workbench.export.dispatch import Family
from workbench.lang import bind
from workbench.lang.expr import Expr, Size
from workbench.lang.folding import fold


def fake_results(family: Family, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Empty tensors of the shapes and types that the operator returns; ValueError as a call of it would raise."""
    op = family.op
    named_values = zip(op.parameters, given, strict=False)
    inputs = tuple(_number(op.tensors[n].dtype.kind) if n in family.boxed else v for n, v in named_values)
    updated = list(given[len(op.parameters) :])
    out = tuple(updated.pop(0) if op.tensors[o].role == "inout" else None for o in op.outputs)
    try:
        bound = bind(op, inputs, named, out)
    except CallError as error:
        raise ValueError(str(error)) from None
    device = next((v.device for v in given if isinstance(v, torch.Tensor)), torch.device("cpu"))
    results = []
    for name in op.outputs:
        tensor = bound.op.tensors[name]
        shape = [_extent(e, bound.sizes) for e in tensor.extent]
        results.append(torch.empty(shape, dtype=getattr(torch, tensor.dtype.name), device=device))
    return results[0] if len(results) == 1 else tuple(results)


def _number(kind: str) -> Any:
    """Some number of a kind: what a tensor holds does not change shapes."""
    return {"float": 0.0, "bool": False}.get(kind, 0)


def _extent(extent: Expr, sizes: dict[str, Any]) -> Any:
    return sizes[extent.name] if isinstance(extent, Size) else torch.sym_max(0, fold(extent, sizes))
