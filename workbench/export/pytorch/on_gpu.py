"""Kernels for CUDA tensors of an operator of PyTorch: made for the GPU at hand when a call first wants them."""

from __future__ import annotations

from typing import Any

import torch

from workbench.codegen import Kernel, as_target
from workbench.errors import WorkbenchError
from workbench.export.cuda.library import gpu_library
from workbench.export.dispatch import Family
from workbench.export.pytorch.glue import PREPARE_ON_GPU, glue
from workbench.export.pytorch.registry import Registered, known, opened
from workbench.runtime.gpu.drivers.driver import Device
from workbench.runtime.gpu.launching import refuse_too_large
from workbench.runtime.gpu.loading import architecture_for
from workbench.runtime.gpu.machine_codes import machine_code
from workbench.target import Target
from workbench.tune.measuring.gpu_at_hand import named_target

NEITHER = "was exported for dense tensors on cpu; move tensors with .cpu(), and make sparse ones dense with .to_dense()"
BLOCK_THREADS = 1024
"""What a block may have on every GPU that CUDA knows; PyTorch does not say."""


@PREPARE_ON_GPU
def prepare_on_gpu(qualified: bytes, types: int, number: int) -> int:
    """Called when an operator first meets CUDA tensors of some types: makes its kernels, or says why there are none."""
    op = known(qualified.decode())
    if op is None:
        return 1
    try:
        _prepare(op, types, number)
    except Exception as reason:  # an exception cannot pass through C; PyTorch raises it
        text = str(reason) if isinstance(reason, WorkbenchError) else f"{type(reason).__name__}: {reason}"
        why = NEITHER if op.families[0].gpu is None else f"has no kernel for this GPU: {text}"
        glue().wb_torch_not_on_gpu(op.handle, why.encode())
        return 1
    return 0


def _prepare(op: Registered, types: int, number: int) -> None:
    families = op.families
    if families[types].gpu is None:
        raise WorkbenchError(NEITHER)
    made = opened(library_for(families[types], number))
    if op.families is families:  # the operator may have been exported anew in the meantime
        glue().wb_torch_implement_on_gpu(op.handle, made, types, len(families))


def library_for(family: Family, number: int) -> Any:
    """The library of an operator's kernels for the GPU of a number; BuildError without a compiler."""
    device = device_at(number)
    target = target_for("cuda" if family.gpu is None else family.gpu.target, device)
    return gpu_library(family, target, lambda kernel: image_for(kernel, device), device.ordinal)


def target_for(target: str | Target, device: Device) -> Target:
    """What kernels are made for: "cuda" is the GPU at hand, where it is one that is known by name."""
    return as_target(named_target(device) if target == "cuda" else target)


def image_for(kernel: Kernel, device: Device) -> bytes:
    """Machine code; BuildError if the kernel is for a larger or newer GPU, or without a compiler."""
    refuse_too_large(kernel, device)
    return machine_code(kernel.source, architecture_for(kernel, device)).cubin


def device_at(number: int) -> Device:
    """What PyTorch says of a GPU."""
    found: Any = torch.cuda.get_device_properties(number)
    return Device(
        found.name, f"{found.major}.{found.minor}", number, found.multi_processor_count, BLOCK_THREADS,
        found.shared_memory_per_block_optin, found.total_memory, str(torch.version.cuda),
    )  # fmt: skip
