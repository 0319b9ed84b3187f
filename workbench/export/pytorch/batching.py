"""`torch.vmap` over a registered operator: `wb.vmap` makes an operator with one more axis, which is registered too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family, family_like
from workbench.export.pytorch.registry import Registered
from workbench.lang import vmap

Register = Callable[[str, str, Sequence[Family]], Registered]


def batched(
    op: Registered, batch: int, axes: Sequence[int | None], given: Sequence[Any], named: Mapping[str, Any],
    register: Register,
) -> tuple[Any, Any]:  # fmt: skip
    """(results with the batch in front, where the batch stands in each)."""
    moved = [v if axis is None else v.movedim(axis, 0) for v, axis in zip(given, axes, strict=True)]
    parameters = len(op.families[0].op.parameters)
    for n in range(parameters, len(moved)):  # what is updated is another for each entry
        moved[n] = moved[n].expand(batch, *moved[n].shape) if axes[n] is None else moved[n]
    in_front = (*(None if axis is None else 0 for axis in axes[:parameters]), *(0 for _ in moved[parameters:]))
    call = _with_the_axis(op, in_front[:parameters], register)
    results = _one_by_one(op, batch, in_front, moved, named) if call is None else call(*moved, **named)
    return results, 0 if not isinstance(results, tuple) else (0,) * len(results)


def _with_the_axis(op: Registered, axes: tuple[int | None, ...], register: Register) -> Any:
    """The operator with one more axis in front of some of its arguments; None where there is none."""
    name = f"{op.name}_vmap_{''.join('x' if axis is None else '0' for axis in axes)}"
    kept = op.batched.get(axes)
    if kept is None or kept[0] is not op.families:
        try:
            made = [family_like(f, vmap(f.op, axes)) for f in op.families]
            kept = (op.families, register(op.space, name, made).packet)
        except WorkbenchError:
            kept = (op.families, None)
        op.batched[axes] = kept
    return kept[1]


def _one_by_one(
    op: Registered, batch: int, axes: Sequence[int | None], given: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    calls = [
        op.packet(*(v if axis is None else v[n] for v, axis in zip(given, axes, strict=True)), **named)
        for n in range(batch)
    ]
    if isinstance(calls[0], tuple):
        return tuple(map(torch.stack, zip(*calls, strict=True)))
    return torch.stack(calls)
