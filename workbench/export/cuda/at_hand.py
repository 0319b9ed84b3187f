"""The library of an operator's kernels for the GPU at hand, made when a framework first calls there."""

from __future__ import annotations

import ctypes
from typing import Any

from workbench.codegen import Kernel, as_target
from workbench.errors import BuildError
from workbench.export.cuda.library import gpu_library
from workbench.export.dispatch import Family
from workbench.runtime.gpu.drivers.driver import Device
from workbench.runtime.gpu.launching import refuse_too_large
from workbench.runtime.gpu.loading import architecture_for
from workbench.runtime.gpu.machine_codes import machine_code
from workbench.target import Target
from workbench.tune.measuring.gpu_at_hand import named_target

# What the driver numbers the facts of a device by.
BLOCK_THREADS, MULTIPROCESSORS, MAJOR, MINOR, BLOCK_SHARED_BYTES = 1, 16, 75, 76, 97


def library_for(family: Family, number: int) -> Any:
    """The library of an operator's kernels for the GPU of a number; BuildError without a compiler, or a driver."""
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
    """What NVIDIA's driver says of a GPU; BuildError where there is no driver, or no GPU of that number."""
    driver, device = _driver(), ctypes.c_int()
    _asked(driver.cuInit(0), "NVIDIA's driver does not begin")
    _asked(driver.cuDeviceGet(ctypes.byref(device), number), f"NVIDIA's driver has no GPU of the number {number}")
    name, memory, version = ctypes.create_string_buffer(256), ctypes.c_size_t(), ctypes.c_int()
    _asked(driver.cuDeviceGetName(name, len(name), device), "the GPU has no name")
    _asked(driver.cuDeviceTotalMem_v2(ctypes.byref(memory), device), "the GPU has no memory")
    _asked(driver.cuDriverGetVersion(ctypes.byref(version)), "NVIDIA's driver has no version")

    def fact(attribute: int) -> int:
        found = ctypes.c_int()
        _asked(driver.cuDeviceGetAttribute(ctypes.byref(found), attribute, device), "the GPU does not say what it has")
        return found.value

    return Device(
        name.value.decode(), f"{fact(MAJOR)}.{fact(MINOR)}", number, fact(MULTIPROCESSORS), fact(BLOCK_THREADS),
        fact(BLOCK_SHARED_BYTES), memory.value, f"{version.value // 1000}.{version.value % 1000 // 10}",
    )  # fmt: skip


def _driver() -> Any:
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as reason:
        raise BuildError(f"NVIDIA's driver is not installed (CUDA 12 or newer is needed): {reason}") from reason


def _asked(code: int, what: str) -> None:
    if code:
        raise BuildError(f"{what}: CUDA's error {code}")
