"""`doctor`: what this machine has, and what each missing part would enable."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench.errors import BuildError
from workbench.records import record
from workbench.runtime.compilers.discovery import every_toolchain, preferred_toolchain
from workbench.runtime.compilers.storage import storage
from workbench.runtime.host.machine import this_machine, thread_count
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.runtime.host.processor import this_processor
from workbench.target_costs import Costs

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox", "msedge")
MAC_BROWSERS = ("Google Chrome", "Chromium", "Firefox", "Microsoft Edge")
ASK_SECONDS = 10.0


@record(slots=True)
class Finding:
    """One thing the workbench can use: what was found ("" if nothing), what it enables, how to get it."""

    name: str
    found: str
    enables: str
    get: str = ""

    def __bool__(self) -> bool:
        return bool(self.found)

    def __str__(self) -> str:
        if self.found:
            return f"+ {self.name:16} {self.found}"
        how = f"; {self.get}" if self.get else ""
        return f"- {self.name:16} not found: would enable {self.enables}{how}"


@record(slots=True, repr=False)
class Report:
    """All findings, in order."""

    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        """The finding of that name (KeyError if there is none)."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise KeyError(name)

    def __str__(self) -> str:
        return "\n".join(map(str, self.findings))

    def __repr__(self) -> str:
        return str(self)


def doctor() -> Report:
    """Examine compilers, processor, GPU, browsers and frameworks; print it to read it.

    Nothing is installed or changed, and nothing raises: what cannot be examined says so.
    """
    return Report(tuple(_safely(name, examine, enables, get) for name, examine, enables, get in _EXAMINATIONS))


def _safely(name: str, examine: Callable[[], str], enables: str, get: str) -> Finding:
    try:
        return Finding(name, examine(), enables, get)
    except Exception as reason:  # a doctor does not fall ill
        return Finding(name, "", enables, f"(could not be examined: {type(reason).__name__}: {reason})")


def _compiler(family: str) -> Callable[[], str]:
    def examine() -> str:
        return next((f"{t.version} ({t.command[0]})" for t in every_toolchain() if t.family == family), "")

    return examine


def _chosen() -> str:
    return str(preferred_toolchain())


def _openmp() -> str:
    return ", ".join(t.name for t in every_toolchain() if t.openmp)


def _vectors() -> str:
    machine = this_machine()
    return f"{machine.vector_bits} bits, {machine.vector_registers} registers ({' '.join(machine.isa)})"


def _cores() -> str:
    logical = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{this_machine().cores} physical of {logical} logical, {thread_count()} threads a call"


def _caches() -> str:
    sizes = zip(("L1d", "L2", "L3"), this_machine().cache_bytes, strict=True)
    return ", ".join(f"{name} {size >> 10} KiB" for name, size in sizes)


def _costs() -> str:
    found = this_machine().costs
    return "" if found == Costs() else found.origin


def _processor() -> str:
    return f"{this_processor().model} ({platform.machine()}, {platform.system()})"


def _cache_directory() -> str:
    return str(storage())


def _cuda_toolkit() -> str:
    nvcc = shutil.which("nvcc") or _beside(os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH"), "bin/nvcc")
    return _first_line(nvcc, "--version", last=True) if nvcc else ""


def _nvrtc() -> str:
    for package in ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "nvidia-cuda-nvrtc-cu11"):
        found = _package(package)()
        if found:
            return f"{package} {found}"
    return ""


def _gpu() -> str:
    smi = shutil.which("nvidia-smi")
    if smi:
        return _first_line(smi, "-L")
    return "a driver, without nvidia-smi" if Path("/proc/driver/nvidia/version").exists() else ""


def _gpu_runtime() -> str:
    """Which package would speak to the GPU here, and to which."""
    from workbench.runtime.gpu.drivers.choosing import the_driver

    try:
        driver = the_driver()
    except BuildError:
        return ""
    return f"{driver.name} on {driver.device}"


def _browsers() -> str:
    return ", ".join(dict.fromkeys(_installed_browsers()))


def _installed_browsers() -> Iterator[str]:
    yield from (name for name in BROWSERS if shutil.which(name))
    if sys.platform == "darwin":
        yield from (name for name in MAC_BROWSERS if Path(f"/Applications/{name}.app").exists())
    place = os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright"
    yield from (f"playwright {path.name}" for path in Path(place).expanduser().glob("*-*"))


def _package(name: str) -> Callable[[], str]:
    """A Python distribution's version, without importing it."""

    def examine() -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return ""

    return examine


def _beside(folder: str | None, name: str) -> str | None:
    path = Path(folder) / name if folder else None
    return str(path) if path and path.exists() else None


def _first_line(program: str, *arguments: str, last: bool = False) -> str:
    """What a program says of itself; only that it is there if it says nothing."""
    try:
        answer = run_limited((program, *arguments), ASK_SECONDS)
    except (CannotStart, OSError):
        return ""
    lines = [line.strip() for line in answer.output.splitlines() if line.strip()]
    return lines[-1 if last else 0] if answer.code == 0 and lines else ""


_INSTALL_GCC = "apt install gcc, dnf install gcc, or conda install c-compiler"
_PIP = "pip install 'tensor-workbench[{}]'"

_EXAMINATIONS: tuple[tuple[str, Callable[[], str], str, str], ...] = (
    ("processor", _processor, "a description of the machine", ""),
    ("cores", _cores, "parallel loops", ""),
    ("vector ISA", _vectors, "vector code", ""),
    ("caches", _caches, "tile sizes for this machine", ""),
    ("costs", _costs, "recipes that know what this processor takes", "wb.calibrate() measures it"),
    ("gcc", _compiler("gcc"), "compiled kernels with OpenMP", _INSTALL_GCC),
    ("clang", _compiler("clang"), "a second compiler to compare with", "apt install clang, or xcode-select --install"),
    ("zig", _compiler("zig"), "compiled kernels without a system compiler", "pip install ziglang"),
    ("compiler", _chosen, "compiled kernels: without one only text and the NumPy oracle work", "pip install ziglang"),
    ("OpenMP", _openmp, "OpenMP loops; a pool of threads serves until then", "apt install gcc or libomp-dev"),
    ("build cache", _cache_directory, "kernels that outlive the process", "settings(cache=...)"),
    ("CUDA toolkit", _cuda_toolkit, "compiling CUDA kernels with nvcc", "developer.nvidia.com/cuda-downloads"),
    ("NVRTC", _nvrtc, "compiling CUDA kernels without a toolkit or a GPU", "pip install nvidia-cuda-nvrtc"),
    ("GPU", _gpu, "running CUDA kernels", "an NVIDIA driver and device"),
    ("pycuda", _package("pycuda"), "running CUDA kernels from Python", _PIP.format("cuda")),
    ("cuda.bindings", _package("cuda-bindings"), "the same, built already", "pip install cuda-bindings"),
    ("GPU runtime", _gpu_runtime, "wb.build(schedule, target='cuda')", "a GPU, its driver, and one of the two above"),
    ("torch", _package("torch"), "exporting to PyTorch and comparing with it", _PIP.format("torch")),
    ("jax", _package("jax"), "exporting to JAX and comparing with it", _PIP.format("jax")),
    ("onnxruntime", _package("onnxruntime"), "exporting to ONNX Runtime", _PIP.format("onnx")),
    ("jupyterlab", _package("jupyterlab"), "the notebooks", "pip install jupyterlab"),
    ("browsers", _browsers, "JupyterLab in a window, and its tests", "any of Chromium, Chrome, Firefox"),
)
