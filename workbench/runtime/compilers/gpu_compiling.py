"""Kernels for a GPU compiled without one: machine code, and what the compiler says of it."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import field
from functools import cache, lru_cache
from pathlib import Path

from workbench.codegen.cuda.grid.launches import Launch, each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError, shown
from workbench.records import record
from workbench.runtime.compilers.nvrtc import nvrtc
from workbench.schedules.analysis.gpu_reports import resident
from workbench.target_gpus import GPUS, Gpu

ARCHITECTURE = "sm_80"  # where a target names none
ADVICE = 'pip install nvidia-cuda-nvrtc (the extra "cuda"), or put nvcc on the PATH'
FLAGS = ("--std=c++17", "-lineinfo")
SECONDS = 300
ENTRY = re.compile(r"Compiling entry function '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(.*)")
SHARED = re.compile(r"(\d+) bytes smem")


@record
class GpuBinary:
    """Machine code for one architecture (`sm_90`), and what the compiler said, warnings and resources."""

    architecture: str
    cubin: bytes
    log: str
    compiler: str

    @property
    def warnings(self) -> tuple[str, ...]:
        """The lines that warn, without what counts resources."""
        return tuple(line for line in self.log.splitlines() if "warning" in line.lower())


@record
class KernelResources:
    """What one kernel takes: registers of a thread, bytes of its stack frame and of registers that were spilled
    (stores, loads), bytes of shared memory of a block, static and dynamic (None while sizes are symbolic).

    `threads` are those of a block.  `blocks` of them are on a multiprocessor at once, `occupancy` is their share of the
    warps that could be, `limit` what is used up first (None while the shared memory is not known).
    """

    name: str
    threads: int
    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    static_shared_bytes: int
    dynamic_shared_bytes: int | None
    gpu: Gpu = field(repr=False)

    @property
    def blocks(self) -> int | None:
        """Blocks on a multiprocessor at once."""
        return None if self.shared_bytes is None else self._resident(self.shared_bytes)[0]

    @property
    def limit(self) -> str | None:
        """What allows no further block."""
        return None if self.shared_bytes is None else self._resident(self.shared_bytes)[1]

    @property
    def occupancy(self) -> float | None:
        """Warps on a multiprocessor at once, as a share of the most there can be."""
        warps = -(-self.threads // self.gpu.warp_threads)
        return None if self.blocks is None else self.blocks * warps / self.gpu.warps

    def _resident(self, shared_bytes: int) -> tuple[int, str]:
        return resident(self.gpu, self.threads, self.registers, shared_bytes)

    @property
    def shared_bytes(self) -> int | None:
        """Bytes of shared memory of a block in all."""
        return None if self.dynamic_shared_bytes is None else self.static_shared_bytes + self.dynamic_shared_bytes

    def __str__(self) -> str:
        shared = "?" if self.shared_bytes is None else self.shared_bytes
        spilled = f"{self.spill_store_bytes} + {self.spill_load_bytes}"
        share = "?" if self.occupancy is None else f"{self.occupancy:.0%}"
        used = f"{self.name:24} {self.threads:7} {self.registers:9} {spilled:>12} {self.stack_bytes:6} {shared:>7}"
        return f"{used} {self.blocks or '?':>6} {share:>9}  {self.limit or ''}".rstrip()


@record
class Resources:
    """What the kernels of one text take on one architecture, as its compiler says.

    Printed as a table; `resources["matmul_C"]` is one kernel's.
    """

    architecture: str
    compiler: str
    kernels: tuple[KernelResources, ...]
    gpu: Gpu = field(repr=False)

    def __getitem__(self, name: str) -> KernelResources:
        for kernel in self.kernels:
            if kernel.name == name:
                return kernel
        raise BuildError(f"no kernel is named {shown(name)}; known: {', '.join(k.name for k in self.kernels)}")

    def __str__(self) -> str:
        head = f"{'kernel':24} {'threads':>7} {'registers':>9} {'spilled B':>12} {'stack':>6} {'shared':>7}"
        head += f" {'blocks':>6} {'occupancy':>9}  limited by"
        return "\n".join([f"{self.architecture} ({self.gpu.name}), {self.compiler}", head, *map(str, self.kernels)])


def gpu_binary(kernel: Kernel, architecture: str = "") -> GpuBinary:
    """The machine code of a kernel's text, by NVRTC or nvcc.

    BuildError where neither is found, with what to install; where the text does not compile, with what was said.
    """
    language = kernel.target.language
    if not language.runs_on_gpu:
        why = f"{language.label} is written as text only" if language.for_gpu else "it is no text for a GPU"
        raise BuildError(f"{kernel.name} is in {kernel.target.dialect}: {why}; generate(schedule, target='cuda')")
    return compiled_for(kernel.source, architecture or architecture_of(kernel))


def architecture_of(kernel: Kernel) -> str:
    """The architecture that a kernel's target names, else the oldest one that is supported here."""
    return named_architecture(kernel) or ARCHITECTURE


def named_architecture(kernel: Kernel) -> str | None:
    """The architecture that a kernel's target names: `sm_90`."""
    return next((x for x in (*kernel.target.isa, kernel.target.march) if x.startswith("sm_")), None)


def compiler_version() -> str:
    """Which compiler `compiled_for` takes: `NVRTC 13.0`, or what nvcc says of itself; BuildError without one."""
    library = nvrtc()
    if library is not None:
        return library.version
    command = shutil.which("nvcc")
    if command is None:
        raise BuildError(f"no CUDA compiler is found: {ADVICE}")
    return f"nvcc {_nvcc_version(command)}"


@cache
def _nvcc_version(command: str) -> str:
    said = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60).stdout
    found = re.search(r"release ([\d.]+)", said)
    return found[1] if found else ""


@lru_cache(maxsize=64)
def compiled_for(source: str, architecture: str) -> GpuBinary:
    """The machine code of a text; the same question is answered from memory."""
    if not re.fullmatch(r"sm_\d+[af]?", architecture):
        raise BuildError(f"unknown architecture {shown(architecture)}; expected a name such as 'sm_80' or 'sm_90'")
    library = nvrtc()
    if library is not None:
        number = int(re.sub(r"\D", "", architecture))
        if number not in library.architectures:
            known = ", ".join(f"sm_{a}" for a in library.architectures)
            raise BuildError(f"{library.version} does not compile for {architecture}; it knows {known}")
        options = (f"--gpu-architecture={architecture}", "--ptxas-options=-v", *FLAGS)
        result = library.compiled(source, "kernel.cu", options)
        if result.binary is None:
            raise BuildError(f"{library.version} does not compile the text for {architecture}:\n{result.log}")
        if not ENTRY.search(result.log):  # NVRTC has a cache of its own, from which nothing is said of registers
            again = library.compiled(source, "kernel.cu", (*options, "--no-cache"))
            return GpuBinary(architecture, result.binary, again.log or result.log, library.version)
        return GpuBinary(architecture, result.binary, result.log, library.version)
    command = shutil.which("nvcc")
    if command is None:
        raise BuildError(f"no CUDA compiler is found for {architecture}: {ADVICE}")
    return _with_nvcc(source, architecture, command)


def _with_nvcc(source: str, architecture: str, command: str) -> GpuBinary:
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder, "kernel.cu"), Path(folder, "kernel.cubin")
        text.write_text(source, encoding="utf-8")
        flags = ("-cubin", f"-arch={architecture}", "-Xptxas=-v", *FLAGS)
        try:
            done = subprocess.run(
                [command, *flags, "-o", str(binary), str(text)], capture_output=True, text=True, timeout=SECONDS
            )
        except subprocess.TimeoutExpired as error:
            raise BuildError(f"nvcc was still compiling after {SECONDS} s") from error
        log = (done.stdout + done.stderr).replace(folder, "").strip()
        if done.returncode:
            raise BuildError(f"nvcc does not compile the text for {architecture}:\n{log}")
        return GpuBinary(architecture, binary.read_bytes(), log, "nvcc")


def gpu_resources(kernel: Kernel, architecture: str = "") -> Resources:
    """Registers, spills, shared memory and occupancy of every kernel of a text, on an architecture (by default the
    target's)."""
    binary = gpu_binary(kernel, architecture)
    gpu = _gpu_of(kernel, binary.architecture)
    launches = {launch.name: launch for launch in each_launch(kernel.launches)}
    found = tuple(
        _resources(name, lines, launches[name], gpu) for name, lines in _by_kernel(binary.log) if name in launches
    )
    inner = tuple(sorted(found, key=lambda r: [*launches].index(r.name)))
    return Resources(binary.architecture, binary.compiler, inner, gpu)


def _gpu_of(kernel: Kernel, architecture: str) -> Gpu:
    """The GPU whose multiprocessors count: the target's if it has this architecture, else the first known that has."""
    number = re.sub(r"\D", "", architecture)
    known = [kernel.target.device, *GPUS.values()]
    return next((gpu for gpu in known if gpu.capability.replace(".", "") == number), kernel.target.device)


def _by_kernel(log: str) -> list[tuple[str, str]]:
    """(kernel, what was said of it)."""
    marks = [*ENTRY.finditer(log)]
    ends = [mark.start() for mark in marks[1:]] + [len(log)]
    return [(mark[1], log[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]


def _resources(name: str, said: str, launch: Launch, gpu: Gpu) -> KernelResources:
    used, spills = USED.search(said), SPILLS.search(said)
    if used is None or spills is None:
        raise BuildError(f"the compiler said nothing of the registers of {name}:\n{said}")
    static = SHARED.search(used[2])
    dynamic = launch.shared_bytes if isinstance(launch.shared_bytes, int) else None
    stack, stores, loads = map(int, spills.groups())
    shared = int(static[1]) if static else 0
    return KernelResources(name, launch.threads, int(used[1]), stack, stores, loads, shared, dynamic, gpu)
