"""The files of a C library for NVIDIA GPUs, and the library where nvcc is."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from workbench.codegen import as_target
from workbench.errors import BuildError, WorkbenchError, shown
from workbench.export.clib.api import Interface
from workbench.export.clib.cuda import cuda_units, unit_text
from workbench.export.clib.cuda_front import cuda_front, cuda_header
from workbench.export.dispatch import Variant
from workbench.records import record
from workbench.runtime.host.processes import CannotStart, run_limited
from workbench.settings import current
from workbench.target import Target

LEAST_SECONDS = 600.0
PLAIN = "sm_80"


@record
class CudaFiles:
    """What was written for GPUs."""

    files: tuple[Path, ...]
    kernels: tuple[str, ...]
    libraries: Mapping[str, Path]
    notes: tuple[str, ...]


def write_cuda(interface: Interface, variants: Sequence[Variant], gpu: str | Target, folder: Path) -> CudaFiles:
    """Write the `.cu` files and the header; without nvcc that is all, and is noted."""
    target = as_target(gpu)
    if target.dialect != "cuda":
        raise WorkbenchError(f"gpu={shown(gpu)} is no NVIDIA GPU; expected 'cuda', the name of one, or its Target")
    family, name = interface.family, interface.family.op.name
    units = cuda_units(family, variants, target)
    texts = {f"src/{name}/{name}_{u.name}.cu": unit_text(u, family) for u in units}
    texts[f"src/{name}/{name}_cuda.cu"] = cuda_front(interface, units)
    texts[f"include/{name}_cuda.h"] = cuda_header(interface)
    for place, text in texts.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    files = tuple(folder / place for place in texts)
    kernels = tuple(u.title for u in units)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        note = f"not built for GPUs, nvcc was not found: {_command('nvcc', name, target)}"
        return CudaFiles(files, kernels, {}, (note,))
    library = _built(nvcc, name, target, folder)
    return CudaFiles((*files, library), kernels, {"cuda": library}, ())


def _command(nvcc: str, name: str, target: Target) -> str:
    """The command line, in the library's directory."""
    machine = target.march if target.march.startswith("sm_") else PLAIN
    flags = f"-O3 -arch={machine} -shared -Xcompiler -fPIC,-fvisibility=hidden -Iinclude -Isrc/{name}"
    return f"{nvcc} {flags} -o lib/lib{name}_cuda.so src/{name}/{name}_cuda*.cu"


def _built(nvcc: str, name: str, target: Target, folder: Path) -> Path:
    command = ("sh", "-c", _command(nvcc, name, target))
    (folder / "lib").mkdir(exist_ok=True)
    try:
        done = run_limited(command, max(LEAST_SECONDS, current().compile_seconds), folder)
    except CannotStart as reason:
        raise BuildError(f"{name}: nvcc cannot be started: {reason}") from reason
    if done.code != 0:
        raise BuildError(f"{name}: nvcc {done}\n{done.output[:4000]}")
    return folder / "lib" / f"lib{name}_cuda.so"
