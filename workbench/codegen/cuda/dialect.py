"""What CUDA and HIP have in place of what C has: tables for the one printer."""

from __future__ import annotations

from workbench.records import record

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


@record
class GpuDialect:
    """A language for GPUs: what a file begins with, and whether it can be compiled here.

    `text_only` dialects are written and never compiled by the workbench.
    """

    name: str
    prelude: str
    text_only: bool = False


def _prelude(*parts: str) -> str:
    return "#ifndef WB_PRELUDE\n#define WB_PRELUDE\n" + "".join(parts) + "#endif\n"


CUDA = GpuDialect(
    "cuda",
    _prelude(
        f"#ifdef __CUDACC_RTC__\n{STANDARD_TYPES}#else\n#include <math.h>\n#include <stdint.h>\n#endif\n",
        INLINE,
        COPIES,
    ),
)
HIP = GpuDialect(
    "hip",
    _prelude(HIP_HEADERS, INLINE, HIP_LANES, PLAIN_COPIES),
    text_only=True,
)
GPU_DIALECTS = {d.name: d for d in (CUDA, HIP)}
