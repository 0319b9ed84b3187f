"""The function of a C library that callers on a GPU see: it chooses among the CUDA kernels."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.export.clib.api import Interface
from workbench.export.clib.cuda import FIELDS, CudaUnit
from workbench.export.dispatch.front import index_message, shapes_text
from workbench.export.dispatch.size_code import SizeCode, holds_text, quoted

_FRONT = """/* {name} on GPUs: chooses a kernel by the sizes, and starts it on the caller's stream. */

#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>

extern "C" {{
#include "dispatch.h"
}}
#include "{name}_cuda.h"

static thread_local char wb_text[WB_TEXT];

extern "C" int wb_fail(int status, const char *format, ...)
{{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wb_text, sizeof wb_text, format, arguments);
    va_end(arguments);
    return status;
}}

{helpers}
{holds}
{shapes}
{declared}
typedef struct {{
    const char *title;
    int (*fits)(const int64_t *);
    int (*run)(void *const *, const wb_border_value *, const int64_t *, cudaStream_t, int *);
    const char *const *checks;
}} wb_cuda_kernel;

{tables}
enum {{ WB_ARRAYS = {arrays} }};
static const struct {{
    const char *name;
    int rank, bytes, by_value, written;
}} wb_parameters[] = {{
{parameters}}};

static int64_t wb_bytes(int p, const int64_t *s)
{{
    int64_t shape[WB_MOST_RANK], bytes = wb_parameters[p].bytes;
    wb_shape(p, s, shape);
    for (int d = 0; d < wb_parameters[p].rank; ++d) bytes *= shape[d];
    return wb_parameters[p].by_value ? 0 : bytes;
}}

/* Pointers are there, aligned, and no output shares memory with another array. */
static int wb_arrays_fit(void *const *data, const int64_t *s)
{{
    for (int p = 0; p < WB_ARRAYS; ++p) {{
        const int64_t bytes = wb_bytes(p, s);
        const char *first = (const char *)data[p];
        if (!bytes) continue;
        if (!first || (uintptr_t)first % (uintptr_t)wb_parameters[p].bytes)
            return wb_fail(WB_BAD_POINTER, "{name}: %s is NULL, or not aligned", wb_parameters[p].name);
        for (int q = 0; wb_parameters[p].written && q < WB_ARRAYS; ++q) {{
            const char *other = (const char *)data[q];
            if (q != p && wb_bytes(q, s) && first < other + wb_bytes(q, s) && other < first + bytes)
                return wb_fail(WB_ALIASED, "{name}: %s and %s share memory", wb_parameters[p].name,
                               wb_parameters[q].name);
        }}
    }}
    return 0;
}}

#define WB_PUBLIC extern "C" __attribute__((visibility("default")))

WB_PUBLIC const char *{function}_cuda_message(void)
{{
    return wb_text;
}}

WB_PUBLIC {plain}
{{
    const int64_t s[] = {{{sizes}}};
    void *const data[] = {{{data}}};
    wb_border_value values[WB_ARRAYS];
{values}    int status = wb_holds(s), checked = 0;
    if (!status) status = wb_arrays_fit(data, s);
    if (status) return status;
    for (const wb_cuda_kernel &kernel : wb_cuda_kernels) {{
        if (!kernel.fits(s)) continue;
        const cudaError_t error = (cudaError_t)kernel.run(data, values, s, (cudaStream_t)stream, &checked);
        if (error) return wb_fail(WB_NO_KERNEL, "{name}, %s: %s", kernel.title, cudaGetErrorString(error));
        if (checked) return wb_fail(checked, "{name}: %s", kernel.checks[checked - 1]);
        return 0;
    }}
    return wb_fail(WB_NO_KERNEL, "{name}: the library has no kernel for these scalars");
}}
"""

_HEADER = """/* {name} on NVIDIA GPUs, made by the Tensor Workbench.

   Arrays are dense and in memory of the GPU; the kernels are started on `stream` (a cudaStream_t, NULL for the default
   one), and are done when it is.  Answers as in workbench.h. */

#ifndef WORKBENCH_{upper}_CUDA_H
#define WORKBENCH_{upper}_CUDA_H

#include "workbench.h"

#ifdef __cplusplus
extern "C" {{
#endif

{plain};

const char *{function}_cuda_message(void);

#ifdef __cplusplus
}}
#endif

#endif
"""


def _declared(interface: Interface) -> str:
    arguments = ", ".join([*(a.declared for a in interface.arguments), "void *stream"])
    return f"int {interface.function}_cuda({arguments})"


def cuda_header(interface: Interface) -> str:
    """`<name>_cuda.h`."""
    name = interface.family.op.name
    return _HEADER.format(name=name, upper=name.upper(), function=interface.function, plain=_declared(interface))


def cuda_front(interface: Interface, units: Sequence[CudaUnit]) -> str:
    """`<name>_cuda.cu`: the function that callers see."""
    family, code = interface.family, SizeCode(interface.family)
    op, by_name = family.op, {a.name: a for a in interface.arguments}
    arrays = (*family.inputs, *op.outputs)
    holds, shapes = holds_text(code), shapes_text(code)
    rows, values = [], []
    for place, name in enumerate(arrays):
        tensor, argument = op.tensors[name], by_name[name]
        facts = (tensor.rank, tensor.dtype.bytes, argument.kind == "v", name in op.outputs)
        rows.append(f"    {{{quoted(name)}, {', '.join(str(int(f)) for f in facts)}}},\n")
        if argument.kind == "v":
            field = "natural" if tensor.dtype.is_half else FIELDS[tensor.dtype.kind]
            values.append(f"    values[{place}].{field} = {argument.c_name};\n")
    return _FRONT.format(
        name=op.name, function=interface.function, helpers=code.helper_texts(), holds=holds, shapes=shapes,
        declared="".join(_externs(u) for u in units), tables=_tables(units), arrays=len(arrays),
        parameters="".join(rows), plain=_declared(interface),
        sizes=", ".join(by_name[n].c_name for n in family.symbols) or "0",
        data=", ".join(f"(void *){by_name[n].c_name}" if by_name[n].kind == "a" else "NULL" for n in arrays),
        values="".join(values),
    )  # fmt: skip


def _externs(unit: CudaUnit) -> str:
    taken = "void *const *, const wb_border_value *, const int64_t *, cudaStream_t, int *"
    return f'extern "C" int wb_{unit.name}_fits(const int64_t *);\nextern "C" int wb_{unit.name}_run({taken});\n'


def _tables(units: Sequence[CudaUnit]) -> str:
    checks, rows = [], []
    for unit in units:
        listed = ", ".join(quoted(index_message(c)) for c in unit.kernel.signature.checks) or '""'
        checks.append(f"static const char *const wb_checks_{unit.number}[] = {{{listed}}};\n")
        functions = f"wb_{unit.name}_fits, wb_{unit.name}_run, wb_checks_{unit.number}"
        rows.append(f"    {{{quoted(unit.title)}, {functions}}},\n")
    return f"{''.join(checks)}static const wb_cuda_kernel wb_cuda_kernels[] = {{\n{''.join(rows)}}};\n"
