"""Operators with everything PyTorch asks of them: gradients, and kernels for GPUs, are made when first wanted."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from workbench.errors import WorkbenchError
from workbench.export.cuda import at_hand
from workbench.export.dispatch import Family, family_like
from workbench.export.pytorch.derivatives import derivative
from workbench.export.pytorch.glue import PREPARE, PREPARE_ON_GPU, glue
from workbench.export.pytorch.registry import Registered, opened, register, registered_operator
from workbench.export.pytorch.schema import arguments_of
from workbench.lang import vmap


@PREPARE
def prepare_on_cpu(qualified: bytes, wanted: int) -> int:
    """Called when a gradient by the arguments whose bits are set is first wanted: registers it, or says why not."""
    op = registered_operator(qualified.decode())
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
    return register(space, name, families, (prepare_on_cpu, prepare_on_gpu), _with_vmap)


def _with_vmap(op: Registered) -> None:
    def rule(info: Any, axes: Any, *given: Any, **named: Any) -> Any:
        return _batched(op, info.batch_size, axes, given, named, whole)

    torch.library.register_vmap(op.qualified, rule, lib=op.library)


# -- CUDA tensors: kernels are made for the GPU at hand when a call first wants them --

NEITHER = "was exported for dense tensors on cpu; move tensors with .cpu(), and make sparse ones dense with .to_dense()"


@PREPARE_ON_GPU
def prepare_on_gpu(qualified: bytes, types: int, number: int) -> int:
    """Called when an operator first meets CUDA tensors of some types: makes its kernels, or says why there are none."""
    op = registered_operator(qualified.decode())
    if op is None:
        return 1
    try:
        _made_on_gpu(op, types, number)
    except Exception as reason:  # an exception cannot pass through C; PyTorch raises it
        text = str(reason) if isinstance(reason, WorkbenchError) else f"{type(reason).__name__}: {reason}"
        why = NEITHER if op.families[0].gpu is None else f"has no kernel for this GPU: {text}"
        glue().wb_torch_not_on_gpu(op.handle, why.encode())
        return 1
    return 0


def _made_on_gpu(op: Registered, types: int, number: int) -> None:
    families = op.families
    if families[types].gpu is None:
        raise WorkbenchError(NEITHER)
    made = opened(at_hand.library_for(families[types], number))
    if op.families is families:  # the operator may have been exported anew in the meantime
        glue().wb_torch_implement_on_gpu(op.handle, made, types, len(families))


# -- `torch.vmap` over a registered operator: `wb.vmap` makes an operator with one more axis, which is registered too --

Register = Callable[[str, str, Sequence[Family]], Registered]


def _batched(
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
