"""Arguments of registered operators: the library's samples as tensors, in the order of the operator's schema."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.export.sampled import with_scalars
from workbench.ops.samples import sample_arrays, sample_out


def exported(op: wb.Operator, sizes: dict[str, int], name: str | None = None) -> Any:
    """The registered operator; scalars that have to be known are those of the sizes."""
    return wb.export.torch(with_scalars(op, sizes), name=name)


def arguments(op: wb.Operator, sizes: dict[str, int], torch: Any) -> list[Any]:
    """Tensors and numbers: the parameters, then what is updated."""
    out = sample_out(op, **sizes)
    updated = [] if out is None else list(out) if isinstance(out, tuple) else [out]
    names = [*op.parameters, *op.outputs][: len(op.parameters) + len(updated)]
    return [_value(op, n, v, torch) for n, v in zip(names, [*sample_arrays(op, **sizes), *updated], strict=True)]


def _value(op: wb.Operator, name: str, value: Any, torch: Any) -> Any:
    if name in op.scalars:
        return int(value)
    if op.tensors[name].rank == 0 and name in op.parameters:
        return np.asarray(value).item()
    if op.tensors[name].dtype.name == "bfloat16":
        return torch.from_numpy(np.asarray(value, np.float32)).bfloat16()
    return torch.from_numpy(np.ascontiguousarray(value))


def expected(op: wb.Operator, sizes: dict[str, int]) -> tuple[Any, ...]:
    """What the oracle says."""
    found = op.evaluate(*sample_arrays(op, **sizes), out=sample_out(op, **sizes))
    return found if isinstance(found, tuple) else (found,)
