"""The library of one operator for GPUs: C that chooses and starts kernels, and their machine code for one GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from workbench import poly
from workbench.codegen import Kernel, generate
from workbench.errors import BuildError
from workbench.export.cuda.launcher import kernel_functions, launcher_text
from workbench.export.dispatch import (
    RUNTIME_FILES,
    Family,
    Level,
    Source,
    Unit,
    front_text,
    linked,
    runtime_file,
)
from workbench.export.dispatch.family import Gpu, described
from workbench.export.dispatch.units import ALWAYS
from workbench.export.hosts import host_file
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.schedules import autoschedule
from workbench.settings import current
from workbench.target import Target

FILES = ("gpu.c", "gpu.h")
Image = Callable[[Kernel], bytes]
"""Machine code of a kernel's text, for the GPU at hand."""


def gpu_library(family: Family, target: Target, image: Image, device: int) -> ctypes.CDLL:
    """The loaded library with its machine code in the GPU, whose `wb_open` gives the operator's tables.

    `device` is the number of the GPU.  BuildError without a compiler, or with what the driver says.
    """
    units = gpu_units(family, target)
    path = _library(family, units)
    try:
        library: Any = ctypes.CDLL(str(path))
    except OSError as reason:
        raise BuildError(f"{family.op.name}: the library {path.name} cannot be loaded: {reason}") from reason
    library.wb_gpu_message.restype = ctypes.c_char_p
    library.wb_gpu_load.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int)
    with ThreadPoolExecutor() as pool:  # compilers take their time
        images = list(pool.map(image, [unit.kernel for unit in units]))
    for number, code in enumerate(images):
        if library.wb_gpu_load(number, code, device):
            raise BuildError(library.wb_gpu_message().decode())
    return library


def gpu_units(family: Family, target: Target) -> list[Unit]:
    """The kernels in the order in which they are tried: schedules, the recipe's for known sizes, and for all."""
    gpu, omit = family.gpu or Gpu(target), current().unchecked
    kernels = [
        (str(v), generate(v.schedule, target, unchecked=omit, unsafe=v.unsafe), v.condition) for v in gpu.variants
    ]
    programs = [*(poly.lower(family.op, dict(sizes)) for sizes in gpu.sizes), *family.fallbacks]
    kernels += [
        (described(p.sizes), generate(autoschedule(p, target), target, unchecked=omit), ALWAYS) for p in programs
    ]
    known = len(kernels) - len(family.fallbacks)
    return [
        Unit(f"gpu_{n}", f"{target.name}: {title}", kernel, condition, fallback=n >= known)
        for n, (title, kernel, condition) in enumerate(kernels)
    ]


def gpu_file(name: str) -> str:
    """The text of one of the files that stand between an operator's library and NVIDIA's driver."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _library(family: Family, units: Sequence[Unit]) -> Path:
    level = Level("gpu", Target(), "1")
    texts = {n: runtime_file(n) for n in RUNTIME_FILES} | {"host.h": host_file("host.h")}
    texts |= {n: gpu_file(n) for n in FILES}
    texts |= {f"{u.name}.c": launcher_text(u, family) for u in units}
    texts |= {"units.c": units_text(units), "front.c": front_text(family, [(level, units)])}
    sources = [Source(n, text) for n, text in texts.items() if n.endswith(".c")]
    headers = {n: text for n, text in texts.items() if n.endswith(".h")}
    return linked(f"{family.op.name}_gpu", sources, headers, preferred_toolchain())


def units_text(units: Sequence[Unit]) -> str:
    """The C file that lists the functions of each kernel."""
    declared = "".join(f"extern wb_gpu_function wb_functions_{u.name}[];\n" for u in units)
    rows = "".join(f"    {{wb_functions_{u.name}, {len(kernel_functions(u.kernel))}}},\n" for u in units)
    return (
        f'#include "gpu.h"\n\n{declared}\nconst wb_gpu_unit wb_gpu_units[] = {{\n{rows}}};\n'
        f"const int wb_gpu_unit_count = {len(units)};\n"
    )
