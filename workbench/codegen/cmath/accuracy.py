"""How far the C functions may be from the exact result, with and without fused multiply-add.

The unit is the ulp of the exact result, for denormals that of the smallest normal number.  The table is
asserted by tests/codegen/cmath/test_functions.py; the functions of the C library are those of glibc.
"""

from __future__ import annotations

from workbench.errors import CodegenError, unknown_name
from workbench.lang.dtypes import DType

EXACT = (0.0, 0.0)
ROUNDED = (0.5, 0.5)  # correctly
UNBOUNDED = (None, None)  # near their zeros, where the C library loses all digits
_EXACT = """abs fabs sign relu min max fmin fmax copysign floor ceil trunc round isnan isinf fmod logb nextafter
remainder select shl shr"""

# function: (float32, float64)
BOUNDS: dict[str, tuple[float, float] | tuple[None, None]] = {
    **dict.fromkeys(_EXACT.split(), EXACT),
    **dict.fromkeys(("sqrt", "fma", "fdivide", "fdim", "mod", "floordiv"), ROUNDED),
    **dict.fromkeys(("j0", "j1", "y0", "y1", "lgamma", "logaddexp"), UNBOUNDED),
    "exp": (1.3, 1.3), "exp2": (1.3, 1.3), "exp10": (1.5, 1.5), "expm1": (1.8, 2.2),
    "log": (1.0, 1.0), "log2": (2.1, 2.1), "log10": (2.1, 2.1), "log1p": (1.7, 1.5),
    "tanh": (2.8, 2.8), "sigmoid": (2.6, 2.6), "logsigmoid": (2.6, 2.6), "pow": (0.51, 1.4), "rsqrt": (1.5, 1.5),
    "sin": (1.7, 2.4), "cos": (1.7, 2.4), "sinpi": (0.51, 1.5), "cospi": (0.51, 1.5),
    "erf": (1.5, 1.2), "erfc": (0.51, 5.0), "erfcx": (0.51, 4.5), "erfinv": (0.51, 2.5),
    "erfcinv": (0.51, 2.5), "normcdf": (0.51, 4.0), "normcdfinv": (0.51, 3.5),
    "cyl_bessel_i0": (0.51, 5.0), "cyl_bessel_i1": (0.51, 5.0), "tgamma": (0.51, 6.0),
    "cbrt": (1.5, 4.0), "rcbrt": (0.51, 1.2), "hypot": (1.0, 1.0), "rhypot": (0.51, 2.0),
    "norm3d": (0.51, 1.5), "norm4d": (0.51, 1.5), "rnorm3d": (0.51, 2.0), "rnorm4d": (0.51, 2.0),
    "acos": (1.0, 1.0), "asin": (1.0, 1.0), "atan": (1.5, 1.5), "atan2": (1.5, 1.0), "tan": (1.0, 1.0),
    "acosh": (2.0, 2.0), "asinh": (2.0, 2.0), "atanh": (2.0, 2.0), "cosh": (2.0, 2.0), "sinh": (2.0, 2.0),
}  # fmt: skip


def ulp_bound(function: str, dtype: DType) -> float | None:
    """Largest error of a function in units in the last place of float32 (also for 16-bit floats) or float64.

    None where there is no such bound: near the zeros of the functions left to the C library.

    >>> from workbench.lang.dtypes import FLOAT32
    >>> ulp_bound("exp", FLOAT32)
    1.3
    """
    if function not in BOUNDS:
        raise CodegenError(unknown_name("C function", function, sorted(BOUNDS)))
    if dtype.is_integral:
        return 0.0
    return BOUNDS[function][dtype.bits == 64]
