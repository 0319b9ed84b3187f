"""What CUDA and HIP have in place of what C has: tables for the one printer, and atomic updates.

Of these there is `atomicAdd` for some types, for the others a loop that compares and swaps.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.cuda.functions import CudaHelpers, CudaNames
from workbench.codegen.cuda.grid.collectives import WARP, combined_across_lanes
from workbench.codegen.cuda.grid.kernels import KernelNest
from workbench.codegen.cuda.grid.launches import Argument
from workbench.codegen.cuda.grid.wide_accesses import vector_type
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.nest.nest import Write
from workbench.lang.dtypes import FLOAT32, DType

CUDA_AT = """WB_INLINE int64_t wb_at(int64_t i, int64_t n, int code, int *status) {
    if (i >= 0 && i < n) return i;
    atomicCAS(status, 0, code);
    return 0;
}
"""

STANDARD_TYPES = """\
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(number) number##LL
#define UINT64_C(number) number##ULL
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
"""
INLINE = """\
#define WB_INLINE static __device__ __forceinline__
#define WB_UNROLL _Pragma("unroll")
#define WB_DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#define __builtin_memcpy memcpy
"""
PLAIN_COPIES = """\
#define wb_copy_async(to, from, bytes) memcpy(to, from, bytes)
#define wb_copies_commit() ((void)0)
#define wb_copies_wait(groups) ((void)0)
"""
COPIES_IN_HARDWARE = """\
#define WB_COPY_ASYNC(cache, bytes, to, from) \\
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " bytes ";" \\
        :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory")
#define wb_copy_async_4(to, from) WB_COPY_ASYNC("ca", "4", to, from)
#define wb_copy_async_8(to, from) WB_COPY_ASYNC("ca", "8", to, from)
#define wb_copy_async_16(to, from) WB_COPY_ASYNC("cg", "16", to, from)
#define wb_copy_async(to, from, bytes) wb_copy_async_##bytes(to, from)
#define wb_copies_commit() asm volatile("cp.async.commit_group;" ::: "memory")
#define wb_copies_wait(groups) asm volatile("cp.async.wait_group %0;" :: "n"(groups) : "memory")
"""
COPIES = f"#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n{PLAIN_COPIES}#else\n{COPIES_IN_HARDWARE}#endif\n"
# AMD's lanes need no mask, and where they have masks these are of 64 bits; its waves may be of 64 lanes.
HIP_LANES = "#define __shfl_xor_sync(lanes, value, apart) __shfl_xor(value, apart, 32)\n"
HIP_HEADERS = "#include <hip/hip_runtime.h>\n#include <math.h>\n#include <stdint.h>\n"


def _prelude(*parts: str) -> str:
    return "#ifndef WB_PRELUDE\n#define WB_PRELUDE\n" + "".join(parts) + "#endif\n"


def parameter_text(argument: Argument) -> str:
    """`const float *__restrict__ A`, or `float *C` of what is written.

    Other threads write it through pointers of their own: under `__restrict__` compilers move a load over the barrier
    that it waits for.
    """
    kind = argument.dtype.c_name
    match argument.kind:
        case "array" | "workspace":
            return f"{kind} *{argument.c_name}" if argument.written else f"const {kind} *__restrict__ {argument.c_name}"
        case "status":
            return f"int *{argument.c_name}"
    return f"{kind} {argument.c_name}"


def _updated(values: Values, _: KernelNest, write: Write, cell: str, text: str) -> list[str]:
    assert isinstance(write.reduction, str)
    return cuda_atomic(values, write.reduction, cell, text, write.cells[0].dtype)


def _stored(dtype: DType, count: int, cell: str, text: str) -> str:
    return f"*({vector_type(dtype, count)} *)&{cell} = {text};"


CUDA = Spelling(
    prelude=_prelude(
        f"#ifdef __CUDACC_RTC__\n{STANDARD_TYPES}#else\n#include <math.h>\n#include <stdint.h>\n#endif\n",
        INLINE,
        COPIES,
    ),
    names=CudaNames,
    helpers=CudaHelpers,
    block=lambda axis: f"blockIdx.{'xyz'[axis]}",
    thread=lambda axis: f"threadIdx.{'xyz'[axis]}",
    blocks=lambda axis: f"gridDim.{'xyz'[axis]}",
    threads=lambda axis: f"blockDim.{'xyz'[axis]}",
    head=lambda block: f'extern "C" __global__ void __launch_bounds__({prod(block)})',
    argument=parameter_text,
    barrier=lambda kernel: "__syncthreads();",
    shared="__shared__ ",
    own=(),
    dynamic=("WB_DYNAMIC_SHARED(wb_shared);",),
    pointer=lambda kind: f"{kind} *",
    updated=_updated,
    swapped="atomicCAS",
    at=CUDA_AT,
    summed=combined_across_lanes,
    vector=vector_type,
    loaded=lambda dtype, count, cell: f"*(const {vector_type(dtype, count)} *)&{cell}",
    stored=_stored,
    align="__align__(16) ",
    lanes=WARP,
    copies=True,
    aligned=True,
)
HIP = replace(CUDA, prelude=_prelude(HIP_HEADERS, INLINE, HIP_LANES, PLAIN_COPIES))


ADDED = frozenset({"float32", "float64", "int32", "uint32"})
WORDS = {32: "unsigned int", 64: "unsigned long long"}


def cuda_atomic(values: Values, reduction: str, cell: str, text: str, dtype: DType) -> list[str]:
    """Lines that combine a value with a cell that other threads may be updating."""
    if reduction == "+" and dtype.name in ADDED:
        return [f"atomicAdd(&{cell}, {text});"]
    return [f"{_helper(values, reduction, dtype)}(&{cell}, {text});"]


def _helper(values: Values, reduction: str, dtype: DType) -> str:
    """Name of the function, noted as used."""
    word = {"+": "add", "*": "multiply"}.get(reduction, reduction)
    name = f"wb_atomic_{word}_{dtype.name}"
    text = _wide if dtype.bits >= 32 else _narrow
    return values.helpers.text(name, text(name, dtype, _combined(values, reduction, dtype)))


def _combined(values: Values, reduction: str, dtype: DType) -> str:
    """C++ text that combines `old` and `value`."""
    if not dtype.is_half:
        return f"({dtype.c_name})({values.joined(reduction, 'old', 'value', dtype)})"
    up, down = values.helpers.conversion(dtype, FLOAT32), values.helpers.conversion(FLOAT32, dtype)
    return f"{down}({values.joined(reduction, f'{up}(old)', f'{up}(value)', FLOAT32)})"


def _wide(name: str, dtype: DType, combined: str) -> str:
    word, kind = WORDS[dtype.bits], dtype.c_name
    return (
        f"WB_INLINE void {name}({kind} *cell, {kind} value) {{\n"
        f"    {word} *const place = ({word} *)cell;\n"
        f"    {word} seen = *(volatile {word} *)place, expected;\n"
        "    do {\n"
        "        expected = seen;\n"
        f"        {kind} old;\n"
        "        __builtin_memcpy(&old, &expected, sizeof old);\n"
        f"        const {kind} next = {combined};\n"
        f"        {word} bits;\n"
        "        __builtin_memcpy(&bits, &next, sizeof bits);\n"
        "        seen = atomicCAS(place, expected, bits);\n"
        "    } while (seen != expected);\n"
        "}\n"
    )


def _narrow(name: str, dtype: DType, combined: str) -> str:
    """The word of 32 bits around a smaller cell is swapped."""
    kind, bits = dtype.c_name, 8 * dtype.bytes
    mask = f"{(1 << bits) - 1:#x}u"
    return (
        f"WB_INLINE void {name}({kind} *cell, {kind} value) {{\n"
        f"    const unsigned int inside = (unsigned int)((uint64_t)cell & 3u), shift = 8u * inside;\n"
        f"    unsigned int *const place = (unsigned int *)((unsigned char *)cell - inside);\n"
        f"    unsigned int seen = *(volatile unsigned int *)place, expected;\n"
        "    do {\n"
        "        expected = seen;\n"
        f"        const {kind} old = ({kind})(expected >> shift & {mask});\n"
        f"        const {kind} next = {combined};\n"
        f"        const unsigned int bits = (unsigned int)next & {mask};\n"
        f"        seen = atomicCAS(place, expected, (expected & ~({mask} << shift)) | bits << shift);\n"
        "    } while (seen != expected);\n"
        "}\n"
    )
