"""The mathematical functions of the language: one table of what each takes, gives back, and is in NumPy.

What is made of later things is keyed by the same names, in one table each: derivatives in
`derived/calculus/partials.py`, C in `codegen/cmath/functions/`, its accuracy in `codegen/cmath/accuracy.py`, CUDA in
`codegen/cuda/functions.py`, ONNX in `export/ort/body/functions.py`.  `tests/lang/test_builtin_tables.py` says which
of them lacks a function.
"""

from __future__ import annotations

from math import inf, pi

from workbench.records import record

OWN = "own"
ALL = (-inf, inf)
POSITIVE = (0.0, inf)
UNIT = (-1.0, 1.0)


@record(slots=True)
class Builtin:
    """A function of the language.

    Arguments are unified with float32 as floor, unless `keeps_integers` and all of them are integers.
    `oracle` is "module:function" of NumPy or SciPy, `OWN` where `oracle/builtins.py` has it.  Of floats it gives
    nothing outside `values` but NaN.  `is_test` functions return bool.  A tensor may not bear the name of a `reserved`
    one.
    """

    name: str
    arity: int
    oracle: str
    values: tuple[float, float] = ALL
    keeps_integers: bool = False
    is_test: bool = False
    reserved: bool = True


_TABLE = (
    Builtin("acos", 1, "numpy:arccos", (0, pi)),
    Builtin("acosh", 1, "numpy:arccosh", POSITIVE),
    Builtin("asin", 1, "numpy:arcsin", (-pi / 2, pi / 2)),
    Builtin("asinh", 1, "numpy:arcsinh"),
    Builtin("atan", 1, "numpy:arctan", (-pi / 2, pi / 2)),
    Builtin("atanh", 1, "numpy:arctanh"),
    Builtin("cbrt", 1, "numpy:cbrt"),
    Builtin("ceil", 1, "numpy:ceil"),
    Builtin("cos", 1, "numpy:cos", UNIT),
    Builtin("cosh", 1, "numpy:cosh", (1, inf)),
    Builtin("cospi", 1, OWN, UNIT),
    Builtin("cyl_bessel_i0", 1, OWN, (1, inf)),
    Builtin("cyl_bessel_i1", 1, OWN),
    Builtin("erf", 1, "scipy.special:erf", UNIT),
    Builtin("erfc", 1, "scipy.special:erfc", (0, 2)),
    Builtin("erfcinv", 1, "scipy.special:erfcinv"),
    Builtin("erfcx", 1, "scipy.special:erfcx", POSITIVE),
    Builtin("erfinv", 1, "scipy.special:erfinv"),
    Builtin("exp", 1, "numpy:exp", POSITIVE),
    Builtin("exp2", 1, "numpy:exp2", POSITIVE),
    Builtin("exp10", 1, OWN, POSITIVE),
    Builtin("expm1", 1, "numpy:expm1", (-1, inf)),
    Builtin("fabs", 1, "numpy:fabs", POSITIVE),
    Builtin("floor", 1, "numpy:floor"),
    Builtin("j0", 1, OWN, UNIT),
    Builtin("j1", 1, OWN, UNIT),
    Builtin("y0", 1, OWN),
    Builtin("y1", 1, OWN),
    Builtin("lgamma", 1, "scipy.special:gammaln"),
    Builtin("log", 1, "numpy:log"),
    Builtin("log10", 1, "numpy:log10"),
    Builtin("log1p", 1, "numpy:log1p"),
    Builtin("log2", 1, "numpy:log2"),
    Builtin("logb", 1, OWN),
    Builtin("normcdf", 1, "scipy.special:ndtr", (0, 1)),
    Builtin("normcdfinv", 1, "scipy.special:ndtri"),
    Builtin("rcbrt", 1, OWN),
    Builtin("round", 1, OWN),
    Builtin("rsqrt", 1, OWN, POSITIVE),
    Builtin("sin", 1, "numpy:sin", UNIT),
    Builtin("sinh", 1, "numpy:sinh"),
    Builtin("sinpi", 1, OWN, UNIT),
    Builtin("sqrt", 1, "numpy:sqrt", POSITIVE),
    Builtin("tan", 1, "numpy:tan"),
    Builtin("tanh", 1, "numpy:tanh", UNIT),
    Builtin("tgamma", 1, "scipy.special:gamma"),
    Builtin("trunc", 1, "numpy:trunc"),
    # of two arguments
    Builtin("atan2", 2, "numpy:arctan2", (-pi, pi)),
    Builtin("copysign", 2, "numpy:copysign"),
    Builtin("fdim", 2, OWN, POSITIVE),
    Builtin("fdivide", 2, "numpy:true_divide"),
    Builtin("fmax", 2, "numpy:fmax"),
    Builtin("fmin", 2, "numpy:fmin"),
    Builtin("fmod", 2, "numpy:fmod"),
    Builtin("hypot", 2, "numpy:hypot", POSITIVE),
    Builtin("nextafter", 2, "numpy:nextafter"),
    Builtin("pow", 2, "numpy:power"),
    Builtin("remainder", 2, OWN),
    Builtin("rhypot", 2, OWN, POSITIVE),
    # of more
    Builtin("fma", 3, OWN),
    Builtin("norm3d", 3, OWN, POSITIVE),
    Builtin("norm4d", 4, OWN, POSITIVE),
    Builtin("rnorm3d", 3, OWN, POSITIVE),
    Builtin("rnorm4d", 4, OWN, POSITIVE),
    # of the workbench, beside the libraries
    Builtin("abs", 1, "numpy:abs", POSITIVE, keeps_integers=True, reserved=False),
    Builtin("sign", 1, "numpy:sign", UNIT, keeps_integers=True, reserved=False),
    Builtin("relu", 1, OWN, POSITIVE, keeps_integers=True, reserved=False),
    Builtin("isnan", 1, "numpy:isnan", (0, 1), is_test=True, reserved=False),
    Builtin("isinf", 1, "numpy:isinf", (0, 1), is_test=True, reserved=False),
    Builtin("sigmoid", 1, OWN, (0, 1), reserved=False),
    Builtin("logsigmoid", 1, OWN, (-inf, 0), reserved=False),
    Builtin("logaddexp", 2, "numpy:logaddexp", reserved=False),
)
BUILTINS: dict[str, Builtin] = {builtin.name: builtin for builtin in _TABLE}
