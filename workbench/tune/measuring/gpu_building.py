"""A builder's side for GPUs: machine code of a candidate, what its compiler says, and what the model makes of it."""

from __future__ import annotations

import pickle
from pathlib import Path

from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.compilers.gpu_compiling import Resources, gpu_resources
from workbench.runtime.gpu.machine_codes import machine_code
from workbench.schedules import Schedule
from workbench.target import Target
from workbench.tune.models.gpu_times import KernelTime, Registers, kernel_times, total_seconds
from workbench.tune.models.gpu_work import kernel_of

FILE = "kernel.pickle"


@record
class GpuCandidate:
    """A kernel in a file of the study; with the model's seconds of a call, and a line on each of its kernels, where
    candidates are ranked.
    """

    kernel: Kernel
    file: Path
    estimate: float | None = None
    said: str = ""


def gpu_candidate(schedule: Schedule, target: Target, folder: Path, *, ranked: bool, unchecked: bool) -> GpuCandidate:
    """The kernel of a schedule, compiled: to be ranked by what the compiler says, else kept where the process that owns
    the GPU finds it.  WorkbenchError for what cannot be built or launched.
    """
    kernel = kernel_of(schedule, target, unchecked=unchecked)
    file = folder / FILE
    file.write_bytes(pickle.dumps(kernel, protocol=5))
    if not ranked:
        if target.march.startswith("sm_"):
            machine_code(kernel.source, target.march)
        return GpuCandidate(kernel, file)
    resources = gpu_resources(kernel)
    _refuse_unlaunchable(resources)
    times = kernel_times(schedule, target, {k.name: _registers(resources, k.name) for k in resources.kernels})
    return GpuCandidate(kernel, file, total_seconds(times), "\n".join(map(_line, times)))


def _registers(resources: Resources, name: str) -> Registers:
    found = resources[name]
    return Registers(found.registers, found.spill_store_bytes + found.spill_load_bytes)


def _refuse_unlaunchable(resources: Resources) -> None:
    """BuildError for a kernel of which no block fits a multiprocessor."""
    for kernel in resources.kernels:
        if kernel.blocks == 0:
            raise BuildError(f"{kernel.name}: no block fits a multiprocessor of {resources.gpu.name}: {kernel.limit}")


def _line(time: KernelTime) -> str:
    if not time.blocks:
        return f"{time.starts} x {time.name}"
    spilled = f", {time.spilled_bytes} bytes spilled" if time.spilled_bytes else ""
    return (
        f"{time.starts} x {time.name}: bound by {time.by}, {time.registers} registers{spilled}, {time.blocks} blocks "
        f"on a multiprocessor ({time.occupancy:.0%} of its warps)"
    )
