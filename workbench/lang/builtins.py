"""The mathematical functions of the language: how many arguments each takes and what it returns.

The generator and the oracle have their own implementations, keyed by the same names.
"""

from __future__ import annotations

from workbench.records import record


@record(slots=True)
class Builtin:
    """A function of the language.

    Arguments are unified with float32 as floor, unless `keeps_integers` and all of them are integers.
    `is_test` functions return bool.  A tensor may not bear the name of a `reserved` one.
    """

    name: str
    arity: int
    keeps_integers: bool = False
    is_test: bool = False
    reserved: bool = True


_UNARY = """acos acosh asin asinh atan atanh cbrt ceil cos cosh cospi cyl_bessel_i0 cyl_bessel_i1 erf erfc
erfcinv erfcx erfinv exp exp2 exp10 expm1 fabs floor j0 j1 y0 y1 lgamma log log10 log1p log2 logb normcdf
normcdfinv rcbrt round rsqrt sin sinh sinpi sqrt tan tanh tgamma trunc"""
_BINARY = "atan2 copysign fdim fdivide fmax fmin fmod hypot nextafter pow remainder rhypot"
_MORE = {"fma": 3, "norm3d": 3, "norm4d": 4, "rnorm3d": 3, "rnorm4d": 4}

BUILTINS: dict[str, Builtin] = {
    **{name: Builtin(name, 1) for name in _UNARY.split()},
    **{name: Builtin(name, 2) for name in _BINARY.split()},
    **{name: Builtin(name, arity) for name, arity in _MORE.items()},
    **{name: Builtin(name, 1, keeps_integers=True, reserved=False) for name in ("abs", "sign", "relu")},
    **{name: Builtin(name, 1, is_test=True, reserved=False) for name in ("isnan", "isinf")},
    "sigmoid": Builtin("sigmoid", 1, reserved=False),
}
