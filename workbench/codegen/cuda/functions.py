"""The language's functions in CUDA: its mathematical library by name, and what it has no function for.

A function comes from three places, in `CudaHelpers.scalar`: `OWN` texts, names of CUDA's `LIBRARY`, the texts of C.
What is asked of float16 or bfloat16 is computed in float32 and converted: every function has both, and none has a row
for them.  Integer operations and conversions are the texts of C, which are C++ as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.codegen.c.helpers import Helpers
from workbench.codegen.c.names import Names
from workbench.codegen.c.unit import parameters
from workbench.codegen.cmath import Helper, conversion, scalar
from workbench.lang.dtypes import FLOAT32, DType
from workbench.poly.programs.program import Program

# Functions that CUDA's library does not have, for a type T with suffix S of names and F of library functions.
OWN: dict[str, str] = {
    "min": "{T} wb_min_{S}({T} a, {T} b) {{\n    return a < b || a != a ? a : b;\n}}",
    "max": "{T} wb_max_{S}({T} a, {T} b) {{\n    return a > b || a != a ? a : b;\n}}",
    "sign": "{T} wb_sign_{S}({T} x) {{\n    return x > 0 ? ({T})1 : x < 0 ? ({T})-1 : x;\n}}",
    "relu": "{T} wb_relu_{S}({T} x) {{\n    return x < 0 ? ({T})0 : x;\n}}",
    "sigmoid": (  # exp(-x) alone would be infinite where the result is still a number
        "{T} wb_sigmoid_{S}({T} x) {{\n    {T} e = exp{F}(-fabs{F}(x));\n    return (x < 0 ? e : ({T})1) / (1 + e);\n}}"
    ),
    "logsigmoid": (
        "{T} wb_logsigmoid_{S}({T} x) {{\n"
        "    return (x < 0 ? x : ({T})0) - log1p{F}(exp{F}(-fabs{F}(x)));\n}}"
    ),
    "logaddexp": (
        "{T} wb_logaddexp_{S}({T} x, {T} y) {{\n"
        "    return (x > y ? x : y) + log1p{F}(exp{F}(-fabs{F}(x == y ? ({T})0 : x - y)));\n}}"
    ),
    "mod": (
        "{T} wb_mod_{S}({T} a, {T} b) {{\n    {T} r = fmod{F}(a, b);\n"
        "    return r == 0 ? copysign{F}(r, b) : (r < 0) != (b < 0) ? r + b : r;\n}}"
    ),
    "floordiv": "{T} wb_floordiv_{S}({T} a, {T} b) {{\n    return a / b;\n}}",
    "fdivide": "{T} wb_fdivide_{S}({T} a, {T} b) {{\n    return a / b;\n}}",
    "isnan": "int wb_isnan_{S}({T} x) {{\n    return x != x;\n}}",
    "isinf": "int wb_isinf_{S}({T} x) {{\n    return fabs{F}(x) == ({T})INFINITY;\n}}",
}
_SAME = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc
erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod hypot j0 j1 lgamma log log10 log1p
log2 logb nextafter norm3d norm4d normcdf normcdfinv pow rcbrt remainder rhypot rnorm3d rnorm4d round rsqrt sin
sinh sinpi sqrt tan tanh tgamma trunc y0 y1"""
# Functions of CUDA's library, for double; those for float end in f.
LIBRARY: dict[str, str] = {"abs": "fabs", **{name: name for name in _SAME.split()}}

CPP_WORDS = """
    alignas alignof and and_eq asm atomic_cancel bitand bitor bool catch char8_t char16_t char32_t class co_await
    co_return co_yield compl concept const_cast consteval constexpr constinit decltype delete dynamic_cast explicit
    export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected
    public reflexpr reinterpret_cast requires static_assert static_cast synchronized template this thread_local
    throw true try typeid typename using virtual wchar_t xor xor_eq std
    threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 int2 int3 int4 float2 float3 float4 double2 double4
    char4 uchar4 short4 ushort4 uint2 uint4 clock clock64 printf cudaError surface texture half half2
    min max rsqrt rsqrtf rcbrt norm norm3d norm4d rnorm3d rnorm4d rhypot normcdf normcdfinv erfinv erfcinv erfcx
    cospi sinpi sincospi exp10 fdividef saturate umin umax llmin llmax ullmin ullmax abs labs llabs mul24 umul24
    signbit isfinite isnan isinf cyl_bessel_i0 cyl_bessel_i1 assert index
"""
TAKEN = frozenset(CPP_WORDS.split())
PREFIXES = ("atomic", "cuda", "cu_", "hip", "nv", "tex", "surf", "make_", "max", "min")


@dataclass
class CudaNames(Names):
    """Names that mean nothing to C++ and CUDA."""

    def _new(self, name: str) -> str:
        base = name[:-1] if name[-1:] == "f" else name
        if name in TAKEN or base in TAKEN or name.startswith(PREFIXES):
            name = f"{name}_"
        return super()._new(name)


def file_names(program: Program, made: type[Names]) -> Names:
    """The names of a file before its kernels are printed: the operator's, those of arrays and sizes."""
    names = made()
    names.given[("size", "wb_status")] = "wb_status"
    names("function", program.name)
    parameters(program, names)
    for kind, given in (("size", program.symbols), ("array", program.arrays)):
        for name in given:
            names(kind, name)
    return names


@dataclass
class CudaHelpers(Helpers):
    """Collects helper texts of a CUDA file."""

    def scalar(self, function: str, dtype: DType) -> str:
        """The name of what computes a function of the language in a type: float32's for 16-bit floats."""
        of = FLOAT32 if dtype.is_half else dtype
        if not of.is_float:
            return self.add(scalar(function, of))
        suffix, letter = ("f32", "f") if of.bits == 32 else ("f64", "")
        if function in OWN:
            text = OWN[function].format(T=of.c_name, S=suffix, F=letter)
            return self.text(f"wb_{function}_{suffix}", f"WB_INLINE {text}\n")
        if function in LIBRARY:
            return f"{LIBRARY[function]}{letter}"
        return self.add(scalar(function, of))

    def conversion(self, source: DType, target: DType, lanes: int = 1) -> str:
        return self.add(conversion(source, target, lanes))

    def add(self, helper: Helper) -> str:
        """As in C, without the file's beginning, which is another."""
        if helper.name == "wb_base":
            return helper.name
        return super().add(helper)
