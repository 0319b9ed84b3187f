"""OpenCL C: how kernels for blocks of threads are written in it, as text for OpenCL 1.2 and later.

A block is a work-group, a thread a work-item.  Memory spaces stand at every pointer; memory of a block whose size is
known at the launch only is the kernel's last argument, `Launch.shared_bytes` long.  What OpenCL cannot say is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.c.expressions.values import Values, cell_text
from workbench.codegen.c.names import Names
from workbench.codegen.cuda.functions import LIBRARY as CUDA_LIBRARY
from workbench.codegen.cuda.functions import OWN, CudaHelpers
from workbench.codegen.cuda.grid.collectives import scratch_name
from workbench.codegen.cuda.grid.kernels import KernelNest
from workbench.codegen.cuda.grid.launches import Argument
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.nest.nest import For, Write, writes
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import FLOAT32, DType
from workbench.lang.expr import reads

PRELUDE = """\
#ifndef WB_PRELUDE
#define WB_PRELUDE
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;
#define INT64_C(number) number##L
#define UINT64_C(number) number##UL
#define WB_INLINE static inline __attribute__((unused))
#if defined(__OPENCL_C_VERSION__) && __OPENCL_C_VERSION__ >= 200
#define WB_UNROLL __attribute__((opencl_unroll_hint))
#else
#define WB_UNROLL
#endif
WB_INLINE void wb_copy_bytes(uchar *to, const uchar *from, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = from[i];
}
#define __builtin_memcpy(to, from, bytes) wb_copy_bytes((uchar *)(to), (const uchar *)(from), bytes)
#endif
"""
AT = """WB_INLINE int64_t wb_at(int64_t i, int64_t n, int code, __global int *status) {
    if (i >= 0 && i < n) return i;
    atomic_cmpxchg(status, 0, code);
    return 0;
}
"""
VECTORS = {
    "float": "float", "double": "double", "int32_t": "int", "uint32_t": "uint", "int64_t": "long", "uint64_t": "ulong",
    "int16_t": "short", "uint16_t": "ushort", "int8_t": "char", "uint8_t": "uchar",
}  # fmt: skip
WORDS = {32: ("uint", "atomic_cmpxchg"), 64: ("ulong", "atom_cmpxchg")}
INTEGERS = {"+": "atomic_add", "min": "atomic_min", "max": "atomic_max"}

# Functions of the language that OpenCL does not have.
UNKNOWN = """
    cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv j0 j1 y0 y1 normcdf normcdfinv rcbrt rhypot norm3d norm4d rnorm3d
    rnorm4d
"""
OPENCL_WORDS = """
    bool uchar ushort uint ulong half size_t ptrdiff_t intptr_t uintptr_t image1d_t image2d_t image3d_t sampler_t
    event_t queue_t ndrange_t clk_event_t reserve_id_t pipe kernel __kernel global __global local __local private
    __private constant __constant generic __generic read_only write_only read_write __read_only __write_only
    uniform complex imaginary abs abs_diff add_sat hadd rhadd clamp clz ctz mad24 mad_hi mad_sat max min mul_hi mul24
    rotate sub_sat upsample popcount degrees mix radians step smoothstep sign cross dot distance length normalize
    fast_distance fast_length fast_normalize isequal isnotequal isfinite isnormal isordered signbit any all bitselect
    select barrier fence mem_fence prefetch shuffle shuffle2 vec_step printf acospi asinpi atanpi atan2pi cospi sinpi
    tanpi exp10 fract mad maxmag minmag pown powr rootn rsqrt sincos ilogb ldexp lgamma_r nan nextafter remquo
"""
MISSING = frozenset(UNKNOWN.split())
LIBRARY: dict[str, str] = {name: own for name, own in CUDA_LIBRARY.items() if name not in MISSING}
RESERVED = frozenset(OPENCL_WORDS.split())
PREFIXES = (
    "atomic_", "atom_", "vload", "vstore", "convert_", "as_", "native_", "half_", "get_", "cl_", "CL", "CLK_",
    "work_group_", "sub_group_", "async_work_", "read_", "write_",
)  # fmt: skip
ELEMENTS = ("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "float", "double", "half")


@dataclass
class OpenCLNames(Names):
    """Names that mean nothing to OpenCL."""

    def _new(self, name: str) -> str:
        candidate = name.replace(".", "_")
        if candidate in RESERVED or candidate.startswith(PREFIXES) or candidate.rstrip("0123456789") in ELEMENTS:
            name = f"{name}_" if not candidate.startswith(PREFIXES) else f"x_{name}"
        return super()._new(name)


@dataclass
class OpenCLHelpers(CudaHelpers):
    """Collects helper texts of a file; functions of OpenCL have one name for all types."""

    def scalar(self, function: str, dtype: DType) -> str:
        of = FLOAT32 if dtype.is_half else dtype
        if not of.is_float:
            return super().scalar(function, dtype)
        if function in OWN:
            suffix = f"f{of.bits}"
            text = OWN[function].format(T=of.c_name, S=suffix, F="")
            return self.text(f"wb_{function}_{suffix}", f"WB_INLINE {text}\n")
        if function in MISSING:
            raise CodegenError(f"OpenCL has no function {function}; choose target='cuda' or 'c', or write it in others")
        return LIBRARY[function] if function in LIBRARY else super().scalar(function, dtype)


def _argument(argument: Argument) -> str:
    """`__global const float *restrict A`; what is written, other threads may read through pointers of their own."""
    kind = argument.dtype.c_name
    match argument.kind:
        case "array" | "workspace":
            read_only = f"__global const {kind} *restrict {argument.c_name}"
            return f"__global {kind} *{argument.c_name}" if argument.written else read_only
        case "status":
            return f"__global int *{argument.c_name}"
    return f"{kind} {argument.c_name}"


def _barrier(kernel: KernelNest) -> str:
    """Threads wait; where they also exchange values in global memory, what they wrote there is seen as well."""
    touched: dict[str, int] = {}
    for write in writes(kernel.nest):
        for array in {c.array for c in write.cells} | {r.tensor for r in reads(*write.values)}:
            touched[array] = touched.get(array, 0) + 1
    inside = {*kernel.shared, *kernel.own}
    written = {c.array for w in writes(kernel.nest) for c in w.cells} - inside
    both = any(touched[array] > 1 for array in written)
    return f"barrier(CLK_LOCAL_MEM_FENCE{' | CLK_GLOBAL_MEM_FENCE' if both else ''});"


def _updated(values: Values, kernel: KernelNest, write: Write, cell: str, text: str) -> list[str]:
    """Lines of an atomic update: a function of OpenCL where it has one, else one that compares and swaps."""
    reduction, dtype = write.reduction, write.cells[0].dtype
    assert isinstance(reduction, str)
    if dtype.name in ("int32", "uint32") and reduction in INTEGERS:
        return [f"{INTEGERS[reduction]}(&{cell}, {text});"]
    if dtype.bits not in WORDS:
        raise CodegenError(
            f"OpenCL has no atomic updates of {dtype.name}, and {write.cells[0].array} needs them: its words are of 32 "
            "and 64 bits; choose a wider type, or a schedule in which no two threads update a cell"
        )
    space = "local" if write.cells[0].array in kernel.shared else "global"
    return [f"{_swapping(values, reduction, dtype, space)}(&{cell}, {text});"]


def _swapping(values: Values, reduction: str, dtype: DType, space: str) -> str:
    """Name of the function that tries until nobody came between, noted as used."""
    verb, (word, swap) = {"+": "add", "*": "multiply"}.get(reduction, reduction), WORDS[dtype.bits]
    name, kind = f"wb_atomic_{verb}_{dtype.name}_{space}", VECTORS[dtype.c_name]
    text = (
        f"WB_INLINE void {name}(volatile __{space} {kind} *cell, {kind} value) {{\n"
        f"    volatile __{space} {word} *const place = (volatile __{space} {word} *)cell;\n"
        f"    {word} seen = *place, expected;\n"
        "    do {\n"
        "        expected = seen;\n"
        f"        const {kind} old = as_{kind}(expected);\n"
        f"        const {kind} next = {values.joined(reduction, 'old', 'value', dtype)};\n"
        f"        seen = {swap}(place, expected, as_{word}(next));\n"
        "    } while (seen != expected);\n"
        "}\n"
    )
    return values.helpers.text(name, text)


def _summed(values: Values, loop: For, write: Write, named: bool) -> list[str]:
    """The lines of a sum over the threads of a block: in its memory, pairs first."""
    cell, reduction, count = write.cells[0], write.reduction, constant(loop.upper) or 1
    assert isinstance(reduction, str)
    scratch, own = scratch_name(values, cell.array), values.text(write.values[0])
    lines = [f"const int64_t {values.names('index', loop.variable)} = get_local_id(0);"] if named else []
    both = values.joined(reduction, f"{scratch}[get_local_id(0)]", f"{scratch}[get_local_id(0) + apart]", cell.dtype)
    last = values.combine(reduction, cell_text(values, cell), f"{scratch}[0]", cell.dtype)
    return [
        *lines,
        f"{scratch}[get_local_id(0)] = {own};",
        "barrier(CLK_LOCAL_MEM_FENCE);",
        f"for (uint apart = {1 << (count - 1).bit_length() - 1}; apart > 0; apart /= 2) {{",
        f"    if (get_local_id(0) < apart && get_local_id(0) + apart < {count}) {scratch}[get_local_id(0)] = {both};",
        "    barrier(CLK_LOCAL_MEM_FENCE);",
        "}",
        f"if (get_local_id(0) == 0) {last}",
    ]


OPENCL = Spelling(
    prelude=PRELUDE,
    names=OpenCLNames,
    helpers=OpenCLHelpers,
    block="get_group_id({})".format,
    thread="get_local_id({})".format,
    blocks="get_num_groups({})".format,
    threads="get_local_size({})".format,
    head=lambda block: f"__kernel __attribute__((reqd_work_group_size({', '.join(map(str, block))}))) void",
    argument=_argument,
    barrier=_barrier,
    shared="__local ",
    own=("__local uchar *wb_shared",),
    dynamic=(),
    pointer="__local {} *".format,
    updated=_updated,
    swapped="atomic_cmpxchg",
    at=AT,
    summed=_summed,
    vector=lambda dtype, count: f"{VECTORS[dtype.c_name]}{count}",
    loaded=lambda _, count, cell: f"vload{count}(0, &{cell})",
    stored=lambda _, count, cell, text: f"vstore{count}({text}, 0, &{cell});",
)
