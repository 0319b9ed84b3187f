"""The kernels for NVIDIA GPUs in a library that is written: their machine code stands in it, and what starts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from workbench.codegen import Kernel, as_target
from workbench.export.cuda.launcher import launcher_text
from workbench.export.cuda.library import gpu_file, gpu_units, units_text
from workbench.export.dispatch import Family, Level, Source, Unit, front_text, runtime_file
from workbench.export.hosts import host_file
from workbench.records import record
from workbench.runtime.compilers.gpu_compiling import named_architecture
from workbench.runtime.gpu.machine_codes import machine_code
from workbench.target import Target

ARCHITECTURES = ("sm_80", "sm_90")
"""What code is made for where no GPU is named: each runs on the GPUs of its generation."""
SHARED_NAMES = (
    "wb_gpu_units", "wb_gpu_unit_count", "wb_gpu_launch", "wb_gpu_clear", "wb_gpu_status", "wb_gpu_message",
    "wb_gpu_load", "wb_open",
)  # fmt: skip
"""What every operator's files define; in one library each operator has its own."""
Images = Callable[[Kernel], tuple[bytes, ...]]


@record(eq=False)
class GpuPart:
    """The C of one operator's kernels for GPUs: `table` and `family` name what they, and what they are called with, are
    found by."""

    sources: tuple[Source, ...]
    kernels: tuple[str, ...]
    table: str
    family: str


def images_of(kernel: Kernel) -> tuple[bytes, ...]:
    """Machine code for the GPU that the target names, else for each generation; BuildError without a compiler."""
    named = named_architecture(kernel)
    return tuple(machine_code(kernel.source, each).cubin for each in ((named,) if named else ARCHITECTURES))


def gpu_part(key: str, family: Family, target: str | Target, images: Images) -> GpuPart:
    """The files of a family; names that the linker sees end with its key."""
    return embedded_part(key, family, gpu_units(family, as_target(target)), images)


def embedded_part(key: str, family: Family, kernels: Sequence[Unit], images: Images) -> GpuPart:
    """The same of kernels that are there."""
    units = [replace(unit, name=f"{key}_{unit.name}") for unit in kernels]
    level = Level("gpu", Target(), "1")
    texts = {unit.name: launcher_text(unit, family) for unit in units}
    texts |= {f"units_{key}": units_text(units), f"start_{key}": gpu_file("gpu.c")}
    texts |= {f"gpu_front_{key}": front_text(family, [(level, units)]), f"images_{key}": _images(key, units, images)}
    sources = tuple(Source(f"{name}.c", _renamed(key) + text) for name, text in texts.items())
    titles = tuple(unit.title for unit in units)
    return GpuPart(sources, titles, f"wb_gpu_table_{key}", f"wb_gpu_family_{key}")


def gpu_loading() -> Source:
    """What every library with such kernels has once."""
    return Source("gpu_images.c", gpu_file("gpu_images.c"))


def gpu_headers() -> dict[str, str]:
    """What the files include, by name."""
    return {"gpu.h": gpu_file("gpu.h"), "host.h": host_file("host.h"), "gpu_images.h": gpu_file("gpu_images.h"),
            "dispatch.h": runtime_file("dispatch.h")}  # fmt: skip


def _renamed(key: str) -> str:
    own = "".join(f"#define {name} {name}_{key}\n" for name in SHARED_NAMES)
    return f"#define WB_PUBLIC\n#define wb_the_family wb_gpu_family_{key}\n{own}"


def _images(key: str, units: Sequence[Unit], images: Images) -> str:
    """The table of an operator: machine code by the number of its text, and the functions beside it."""
    arrays, rows = [], []
    for number, unit in enumerate(units):
        for n, code in enumerate(images(unit.kernel)):
            arrays.append(f"static const unsigned char wb_image_{number}_{n}[] __attribute__((aligned(64))) = {{\n")
            arrays += [*_lines(code), "};\n"]
            rows.append(f"    {{{number}, wb_image_{number}_{n}}},\n")
    listed = f"static const wb_gpu_image wb_images[] = {{\n{''.join(rows)}}};\n"
    return (
        f'#include "gpu_images.h"\n\n{"".join(arrays)}\n{listed}static const wb_gpu_entries *wb_entries_there;\n\n'
        f"const wb_gpu_table wb_gpu_table_{key} = {{\n"
        f"    wb_open, wb_gpu_load, wb_images, {len(rows)}, {len(units)}, &wb_entries_there\n}};\n"
    )


def _lines(code: bytes) -> Iterator[str]:
    for at in range(0, len(code), 32):
        yield f"    {','.join(map(str, code[at : at + 32]))},\n"
