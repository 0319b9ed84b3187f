"""`build` for "cuda-on-cpu": a CUDA kernel whose launches are executed on this processor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.codegen.cuda.grid.launches import Launch, amount, each_launch
from workbench.codegen.kernel import Kernel, Signature
from workbench.errors import BuildError, KernelError
from workbench.runtime.compilers.compiling import load
from workbench.runtime.compilers.toolchain import Toolchain
from workbench.runtime.emulation.cpp_job import CppJob, cpp_toolchain, unit_text
from workbench.runtime.emulation.executing import Execution
from workbench.runtime.emulation.findings import read_findings
from workbench.runtime.emulation.records import Order, RawLaunch
from workbench.runtime.kernels.border import Border
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.kernels.launch_values import Memory, sizes_at

Run = Callable[[Memory, int], None]
BUFFER_ALIGNMENT = 256


def build_on_cpu(
    kernel: Kernel, *, threads: int | None = None, order: Order = "forward", seed: int = 0
) -> CompiledKernel:
    """The CUDA kernel compiled as C++; calls execute it block by block, with the threads of a block in `order`.

    "random" takes another order after each barrier, told by `seed`.  KernelError at a call if threads of a block
    wait at different barriers; BuildError without a compiler for C++.
    """
    toolchain = cpp_toolchain()
    library, file = load_unit(kernel, toolchain, watched=False)

    def run(memory: Memory, workers: int) -> None:
        execution = Execution(library, workers, order, seed, after=after)
        execution.run(kernel.launches, memory)

    def after(step: Launch, raw: RawLaunch) -> None:
        found = read_findings(raw, step, kernel.source, lambda site: site, "executor")
        if found:
            raise KernelError(f"{kernel.name}: {found[0]}")

    notes = [f"compiled as C++ by {toolchain.name} ({toolchain.version}); executed on the processor"]
    return callable_kernel(kernel, run, file, toolchain, notes, threads)


def load_unit(kernel: Kernel, toolchain: Toolchain, *, watched: bool) -> tuple[ctypes.CDLL, Any]:
    """The loaded library of a kernel's text and its file.  BuildError if the text is not CUDA, or does not compile."""
    if not kernel.target.language.runs_on_gpu:
        raise BuildError(f"kernel {kernel.name!r} is in {kernel.target.dialect}; expected CUDA")
    names = tuple(step.name for step in each_launch(kernel.launches))
    text = unit_text(kernel.source, names, watched=watched)
    library = load(CppJob(kernel.name, text, toolchain, kernel.target, False, (), watched))
    library.handle.wb_cpu_run.argtypes = [ctypes.c_void_p]
    return library.handle, library.path


def callable_kernel(
    kernel: Kernel, run: Run, file: Any, toolchain: Toolchain, notes: list[str], threads: int | None
) -> CompiledKernel:
    """A CompiledKernel whose calls end in `run`, with the arguments where they are."""

    def plain(data: Any, values: Any, symbols: int, workers: int) -> int:
        sizes = sizes_at(kernel, symbols)
        status = (ctypes.c_int32 * 2)()
        space, buffers = _workspace(kernel, sizes)
        addresses = {**_addresses(kernel.signature, data), **buffers}
        scalars = {p.name: values[n] for n, p in enumerate(kernel.signature.inputs) if p.by_value}
        run(Memory(addresses, scalars, sizes, ctypes.addressof(status)), workers)
        del space
        return status[0] or status[1]

    def repeat(data: Any, values: Any, symbols: int, workers: int, times: int) -> int:
        return max((plain(data, values, symbols, workers) for _ in range(times)), default=0)

    return CompiledKernel(kernel, Border(None, plain, repeat), file, toolchain, notes, None, threads)


def _addresses(signature: Signature, data: Any) -> dict[str, int]:
    places = enumerate((*signature.inputs, *signature.outputs))
    return {p.name: data[n] or 0 for n, p in places if not p.by_value}


def _workspace(kernel: Kernel, sizes: dict[str, int]) -> tuple[Any, dict[str, int]]:
    """Memory for the buffers, filled with NaNs and large numbers, and where each buffer is in it."""
    ends = [amount(b.offset, sizes) + amount(b.bytes, sizes) for b in kernel.buffers]
    space = np.full(max(ends, default=0) + BUFFER_ALIGNMENT, 0xFF, np.uint8)
    start = space.__array_interface__["data"][0]
    start += -start % BUFFER_ALIGNMENT
    return space, {b.array: start + amount(b.offset, sizes) for b in kernel.buffers}
