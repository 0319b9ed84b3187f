"""Operators with everything PyTorch asks of them: gradients are made by `wb.grad` when they are first wanted."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import torch

from workbench.errors import OperatorError, WorkbenchError
from workbench.export.dispatch import Family, family_like
from workbench.export.pytorch.batching import batched
from workbench.export.pytorch.glue import PREPARE, glue
from workbench.export.pytorch.registry import Registered, known, register
from workbench.export.pytorch.schema import Argument, arguments_of
from workbench.lang import astype, grad
from workbench.lang.operator import Operator


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
    gradients = [grad(family.op, wrt) for family in op.families]
    every = sum(a.type == "Tensor" for a in arguments)
    name = f"{op.name}_grad" if len(wrt) == every else f"{op.name}_grad_{'_'.join(wrt)}"
    seeds = gradients[0].parameters[len(arguments) - sum(a.keyword for a in arguments) :]
    families = [family_like(*pair, seeds) for pair in zip(op.families, gradients, strict=True)]
    made = whole(op.space, name, families)
    _connect(op, wanted, made, gradients[0], arguments, wrt)


def _connect(
    op: Registered, wanted: int, made: Registered, gradient: Operator, arguments: Sequence[Argument], wrt: Sequence[str]
) -> None:
    """Say how the gradient is called: forward arguments first, then the gradients of the results of floats."""
    family = op.families[0]
    places = {a.name: n for n, a in enumerate(arguments)}
    smooth = [n for n, o in enumerate(family.op.outputs) if family.op.tensors[o].dtype.is_float]
    forward = len(arguments) - sum(a.keyword for a in arguments)
    rows = []
    for n, taken in enumerate(arguments_of(made.families[0])):
        if taken.keyword:
            rows.append(("i", places[taken.name]))
        else:
            rows.append(("i", n) if n < forward else ("d", smooth[n - forward]))
    inputs = [places[name] for name in wrt]
    kinds = "".join(kind for kind, _ in rows).encode()
    numbers = (ctypes.c_int * len(rows))(*(place for _, place in rows))
    results = (ctypes.c_int * len(inputs))(*inputs)
    failed = glue().wb_torch_gradient(
        op.handle, wanted, made.qualified.encode(), kinds, ctypes.addressof(numbers), len(rows),
        ctypes.addressof(results), len(inputs),
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


def families_for(family: Family) -> list[Family]:
    """The family, and where the element type is the caller's to choose, one for the wide type of its kind."""
    for wide in ("double", "int64") if family.op.generic else ():
        with suppress(OperatorError):  # of integers only, or of floats
            return [family, family_like(family, astype(family.op, wide))]
    return [family]
