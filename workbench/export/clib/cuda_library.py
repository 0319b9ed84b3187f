"""The files of a C library for NVIDIA GPUs, and the library: machine code stands in it, the driver alone is needed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.codegen import as_target
from workbench.errors import BuildError
from workbench.export.clib.api import Interface, api_file, taken_text
from workbench.export.cuda.embedded import Images, embedded_part, gpu_headers, gpu_loading, images_of
from workbench.export.cuda.library import gpu_units
from workbench.export.dispatch import RUNTIME_FILES, Source, linked, runtime_file
from workbench.export.dispatch.family import Gpu
from workbench.export.dispatch.files import put_file, write_files
from workbench.records import record
from workbench.runtime.compilers.discovery import preferred_toolchain

KEY = "gpu"
FILES = ("api.c", "api.h", "cuda_api.c", "cuda_api.h", "workbench.h")


@record
class CudaFiles:
    """What was written for GPUs."""

    files: tuple[Path, ...]
    kernels: tuple[str, ...]
    libraries: Mapping[str, Path]
    notes: tuple[str, ...]


def write_cuda(interface: Interface, gpu: Gpu, folder: Path, images: Images = images_of) -> CudaFiles:
    """Write the kernels as CUDA, the header, the C that starts them, and the library.

    Without a compiler of CUDA there are the first two; that is noted.
    """
    name = interface.family.op.name
    units = gpu_units(interface.family, as_target(gpu.target))
    texts = {f"src/{name}/{name}_cuda_{n}.cu": unit.kernel.source for n, unit in enumerate(units)}
    texts[f"include/{name}_cuda.h"] = cuda_header(interface)
    kernels = tuple(unit.title for unit in units)
    try:
        part = embedded_part(KEY, interface.family, units, images)
    except BuildError as reason:
        note = f"not built for GPUs: {str(reason).splitlines()[0]}"
        return CudaFiles(tuple(write_files(folder, texts)), kernels, {}, (note,))
    sources = [*part.sources, gpu_loading(), *(Source(n, runtime_file(n)) for n in RUNTIME_FILES if n.endswith(".c"))]
    sources += [Source(n, api_file(n)) for n in FILES if n.endswith(".c")]
    sources.append(Source(f"{name}_cuda.c", _front(interface, part.table, part.family)))
    headers = gpu_headers() | {n: api_file(n) for n in FILES if n.endswith(".h")}
    headers[f"{name}_cuda.h"] = texts[f"include/{name}_cuda.h"]
    made = linked(f"{name}_cuda", sources, headers, preferred_toolchain())
    texts |= {f"src/{name}/{s.name}": s.text for s in sources}
    texts |= {f"src/{name}/{n}": text for n, text in headers.items() if f"include/{n}" not in texts}
    library = put_file(made, folder / "lib" / made.name)
    return CudaFiles((*write_files(folder, texts), library), kernels, {"cuda": library}, ())


_HEADER = """/* {name} on NVIDIA GPUs, made by the Tensor Workbench.

   Arrays are dense and in memory of the GPU; the kernels are started on `stream` (a CUstream or cudaStream_t, NULL for
   the default one) of the context that is current, and are done when it is.  Answers as in workbench.h. */

#ifndef WORKBENCH_{upper}_CUDA_H
#define WORKBENCH_{upper}_CUDA_H

#include "workbench.h"

#ifdef __cplusplus
extern "C" {{
#endif

{plain};

/* What the last call of this thread that failed was about. */
const char *{function}_cuda_message(void);

/* Which kernel the last call of this thread started. */
const char *{function}_cuda_kernel(void);

#ifdef __cplusplus
}}
#endif

#endif
"""


def cuda_header(interface: Interface) -> str:
    """`<name>_cuda.h`."""
    name = interface.family.op.name
    return _HEADER.format(name=name, upper=name.upper(), function=interface.function, plain=_declared(interface))


_FRONT = """/* {name} on GPUs: chooses a kernel by the sizes, and starts it on the caller's stream. */

#include "cuda_api.h"
#include "{name}_cuda.h"

extern const wb_family {family};
extern const wb_gpu_table {table};

WB_PUBLIC const char *{function}_cuda_message(void)
{{
    return wb_message();
}}

WB_PUBLIC const char *{function}_cuda_kernel(void)
{{
    return *{table}.entries ? (*{table}.entries)->entries.last_kernel() : "";
}}

WB_PUBLIC {plain}
{{
{taken}    return wb_call_on_stream(&{family}, &{table}, wb_data, wb_values, wb_sizes, stream);
}}
"""


def _front(interface: Interface, table: str, family: str) -> str:
    return _FRONT.format(
        name=interface.family.op.name, function=interface.function, plain=_declared(interface),
        taken=taken_text(interface), table=table, family=family,
    )  # fmt: skip


def _declared(interface: Interface) -> str:
    arguments = ", ".join([*(a.declared for a in interface.arguments), "void *stream"])
    return f"int {interface.function}_cuda({arguments})"
