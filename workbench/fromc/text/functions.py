"""The functions a C nest may call: math.h's, and those that generated kernels bring along."""

from __future__ import annotations

import re

from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import DTYPES, FLOAT32, FLOAT64, DType
from workbench.records import record

_NAMES = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 exp10 expm1 fabs fdim
floor fma fmax fmin fmod hypot j0 j1 lgamma log log10 log1p log2 nextafter pow remainder round sin sinh sqrt tan tanh
tgamma trunc y0 y1"""
MATH = frozenset(_NAMES.split())
EXTREMES = {"min": "min", "max": "max", "MIN": "min", "MAX": "max"}
_GENERATED = re.compile(r"wb_(\w+?)_([fiu])(\d+)")
_TO_INTEGER = re.compile(r"([iu])(8|16|32|64)_of")
_KINDS = {"f": "float", "i": "int", "u": "uint"}


@record
class Function:
    """What a call of a C function computes: the language's function, and the type it is computed in.

    `dtype` None stands for the type of the arguments; `arity` 0 for any number of them.
    """

    name: str
    dtype: DType | None
    arity: int


def function_of(name: str) -> Function | None:
    """The function of that name in C, None if it is not known to have no effects.

    >>> function_of("sqrtf"), function_of("wb_min_i64").dtype.name, function_of("printf")
    (Function(name='sqrt', dtype=DType(name='float32', kind='float', bits=32, c_name='float'), arity=1), 'int64', None)
    """
    if name in MATH:
        return Function(name, FLOAT64, BUILTINS[name].arity)
    if name[:-1] in MATH and name.endswith("f"):
        return Function(name[:-1], FLOAT32, BUILTINS[name[:-1]].arity)
    if name in ("abs", "labs"):
        return Function("abs", None, 1)
    if name in EXTREMES:
        return Function(EXTREMES[name], None, 2)
    if name == "floord":
        return Function("floordiv", None, 2)
    if name in ("isnan", "isinf"):
        return Function(name, None, 1)
    return _generated(name)


def _generated(name: str) -> Function | None:
    """A helper that `wb.generate` prints, none of which has effects: `wb_<function>_<type>`."""
    match = _GENERATED.fullmatch(name)
    if match is None:
        return None
    dtype = DTYPES.get(_KINDS[match[2]] + match[3])
    if (cast := _TO_INTEGER.fullmatch(match[1])) and match[2] == "f":
        return Function("cast", DTYPES[_KINDS[cast[1]] + cast[2]], 1)
    if match[1] in ("min", "max", "floordiv", "mod", "shl", "shr"):
        return Function(match[1], dtype, 2)
    if match[1] == "select":
        return Function("select", dtype, 3)
    known = BUILTINS.get(match[1])
    return None if dtype is None else Function(match[1], dtype, known.arity if known else 0)
