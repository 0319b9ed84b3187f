"""What PyTorch may know of a call without its data: shapes and types, also symbolic ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from workbench.errors import CallError
from workbench.export.dispatch import Family
from workbench.export.hosts import placeholder, result_shapes


def fake_results(family: Family, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Empty tensors of the shapes and types that the operator returns; ValueError as a call of it would raise."""
    op = family.op
    known = [placeholder(op.tensors[n].dtype.kind) if n in family.boxed else v
             for n, v in zip(op.parameters, given, strict=False)]  # fmt: skip
    try:
        own, shapes = result_shapes(family, [*known, *given[len(known) :]], named, _non_negative)
    except CallError as error:
        raise ValueError(str(error)) from None
    device = next((v.device for v in given if isinstance(v, torch.Tensor)), torch.device("cpu"))
    types = [getattr(torch, own.tensors[name].dtype.name) for name in op.outputs]
    results = [torch.empty(s, dtype=t, device=device) for s, t in zip(shapes, types, strict=True)]
    return results[0] if len(results) == 1 else tuple(results)


def _non_negative(extent: Any) -> Any:
    return torch.sym_max(0, extent)
