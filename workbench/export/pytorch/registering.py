"""Operators with everything PyTorch asks of them: gradients are made by `wb.grad` when they are first wanted."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch

from workbench.errors import WorkbenchError
from workbench.export.dispatch import Family
from workbench.export.pytorch.batching import batched
from workbench.export.pytorch.derivatives import derivative
from workbench.export.pytorch.glue import PREPARE, glue
from workbench.export.pytorch.registry import Registered, known, register
from workbench.export.pytorch.schema import arguments_of


@PREPARE
def prepare(qualified: bytes, wanted: int) -> int:
    """Called when a gradient by the arguments whose bits are set is first wanted: registers it, or says why not."""
    op = known(qualified.decode())
    if op is None:
        return 1
    try:
        _prepare(op, wanted)
    except Exception as reason:  # an exception cannot pass through C; PyTorch raises it in the backward pass
        why = str(reason) if isinstance(reason, WorkbenchError) else f"{type(reason).__name__}: {reason}"
        glue().wb_torch_no_gradient(op.handle, wanted, why.encode())
        return 1
    return 0


def _prepare(op: Registered, wanted: int) -> None:
    arguments = arguments_of(op.families[0])
    wrt = tuple(a.name for n, a in enumerate(arguments) if wanted >> n & 1)
    found = derivative(op.name, op.families, wrt)
    made = whole(op.space, found.name, found.families)
    kinds = "".join(kind for kind, _ in found.rows).encode()
    numbers = (ctypes.c_int * len(found.rows))(*(place for _, place in found.rows))
    results = (ctypes.c_int * len(found.inputs))(*found.inputs)
    failed = glue().wb_torch_gradient(
        op.handle, wanted, made.qualified.encode(), kinds, ctypes.addressof(numbers), len(found.rows),
        ctypes.addressof(results), len(found.inputs),
    )  # fmt: skip
    if failed:
        raise WorkbenchError(glue().wb_torch_failure().decode())


def whole(space: str, name: str, families: Sequence[Family]) -> Registered:
    """An operator with everything PyTorch asks of it, registered or replaced."""
    return register(space, name, families, prepare, _with_vmap)


def _with_vmap(op: Registered) -> None:
    def rule(info: Any, axes: Any, *given: Any, **named: Any) -> Any:
        return batched(op, info.batch_size, axes, given, named, whole)

    torch.library.register_vmap(op.qualified, rule, lib=op.library)
