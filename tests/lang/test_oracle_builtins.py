"""Every builtin of the oracle against mpmath at ordinary points, and against C's rules at special ones."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from workbench.lang import evaluate, operator
from workbench.lang.builtins import BUILTINS
from workbench.lang.oracle.builtins import builtin

X = np.array([-3.7, -2.5, -1.5, -0.9, -0.25, 0.1, 0.5, 0.75, 1.0, 1.5, 2.5, 3.7, 20.25])
INF, NAN = math.inf, math.nan


def away_from_zero(x):
    return mp.sign(x) * mp.floor(abs(x) + mp.mpf("0.5"))


def nearest_even(x):
    low = mp.floor(x)
    rest = x - low
    up = rest > 0.5 or (rest == 0.5 and low % 2 == 1)
    return low + up


def bessel_y(n):
    return lambda x: mp.bessely(n, x) if x > 0 else mp.nan


# What a function is, written with mpmath; None outside its domain.
UNARY = {
    "abs": abs,
    "acos": mp.acos,
    "acosh": mp.acosh,
    "asin": mp.asin,
    "asinh": mp.asinh,
    "atan": mp.atan,
    "atanh": mp.atanh,
    "cbrt": lambda x: mp.sign(x) * mp.cbrt(abs(x)),
    "ceil": mp.ceil,
    "cos": mp.cos,
    "cosh": mp.cosh,
    "cospi": mp.cospi,
    "cyl_bessel_i0": lambda x: mp.besseli(0, x),
    "cyl_bessel_i1": lambda x: mp.besseli(1, x),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfcinv": lambda x: mp.erfinv(1 - x) if 0 < x < 2 else mp.nan,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfinv": lambda x: mp.erfinv(x) if -1 < x < 1 else mp.nan,
    "exp": mp.exp,
    "exp10": lambda x: mp.power(10, x),
    "exp2": lambda x: mp.power(2, x),
    "expm1": mp.expm1,
    "fabs": abs,
    "floor": mp.floor,
    "isinf": lambda x: 0,
    "isnan": lambda x: 0,
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "lgamma": lambda x: mp.log(abs(mp.gamma(x))),
    "log": mp.log,
    "log10": mp.log10,
    "log1p": mp.log1p,
    "log2": lambda x: mp.log(x, 2),
    "logb": lambda x: mp.floor(mp.log(abs(x), 2)),
    "normcdf": mp.ncdf,
    "normcdfinv": lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1) if 0 < x < 1 else mp.nan,
    "rcbrt": lambda x: mp.sign(x) / mp.cbrt(abs(x)),
    "relu": lambda x: max(x, 0),
    "round": away_from_zero,
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "logsigmoid": lambda x: -mp.log1p(mp.exp(-x)),
    "sign": mp.sign,
    "sin": mp.sin,
    "sinh": mp.sinh,
    "sinpi": mp.sinpi,
    "sqrt": mp.sqrt,
    "tan": mp.tan,
    "tanh": mp.tanh,
    "tgamma": mp.gamma,
    "trunc": lambda x: mp.sign(x) * mp.floor(abs(x)),
    "y0": bessel_y(0),
    "y1": bessel_y(1),
}
MORE = {
    "atan2": mp.atan2,
    "copysign": lambda x, y: abs(x) * (1 if y >= 0 else -1),
    "fdim": lambda x, y: max(x - y, 0),
    "fdivide": lambda x, y: x / y,
    "fmax": max,
    "fmin": min,
    "fmod": lambda x, y: mp.sign(x) * (abs(x) % abs(y)),
    "hypot": mp.hypot,
    "logaddexp": lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y))),
    "pow": lambda x, y: mp.power(x, y) if x > 0 else mp.nan,
    "remainder": lambda x, y: x - y * nearest_even(x / y),
    "rhypot": lambda x, y: 1 / mp.hypot(x, y),
    "fma": lambda x, y, z: x * y + z,
    "norm3d": lambda *v: mp.sqrt(sum(x * x for x in v)),
    "norm4d": lambda *v: mp.sqrt(sum(x * x for x in v)),
    "rnorm3d": lambda *v: 1 / mp.sqrt(sum(x * x for x in v)),
    "rnorm4d": lambda *v: 1 / mp.sqrt(sum(x * x for x in v)),
}
SPECIAL = [
    ("round", (0.49999999999999994,), 0.0),
    ("round", (-0.5,), -1.0),
    ("round", (INF,), INF),
    ("fmax", (NAN, 1.0), 1.0),
    ("fmin", (1.0, NAN), 1.0),
    ("max", (NAN, 1.0), NAN),
    ("min", (1.0, 2.0, NAN), NAN),
    ("fdim", (NAN, 1.0), NAN),
    ("fdim", (1.0, INF), 0.0),
    ("logb", (0.0,), -INF),
    ("logb", (-INF,), INF),
    ("logb", (NAN,), NAN),
    ("logb", (5e-324,), -1074.0),
    ("remainder", (5.0, 2.0), 1.0),
    ("remainder", (7.0, 2.0), -1.0),
    ("remainder", (-5.0, 2.0), -1.0),
    ("remainder", (3.0, INF), 3.0),
    ("remainder", (3.0, 0.0), NAN),
    ("cospi", (0.5,), 0.0),
    ("sinpi", (1e16,), 0.0),
    ("sigmoid", (-1000.0,), 0.0),
    ("logsigmoid", (-1000.0,), -1000.0),
    ("logsigmoid", (1000.0,), 0.0),
    ("logaddexp", (-INF, -INF), -INF),
    ("logaddexp", (INF, INF), INF),
    ("logaddexp", (1000.0, -1000.0), 1000.0),
    ("relu", (NAN,), NAN),
    ("isnan", (NAN,), True),
    ("isinf", (-INF,), True),
    ("norm3d", (INF, NAN, 1.0), INF),
    ("pow", (0.0, 0.0), 1.0),
    ("erfcx", (-1.0,), 5.00898008076228346630982459821),
    ("j0", (INF,), 0.0),
    ("y1", (INF,), 0.0),
    ("y1", (-INF,), NAN),
    ("cyl_bessel_i0", (-INF,), INF),
    ("cyl_bessel_i1", (-INF,), -INF),
]


def exactly(function, *arguments):
    """mpmath's value, NaN where it is not real, infinite at a pole."""
    try:
        value = function(*(mp.mpf(float(a)) for a in arguments))
        return float(value) if isinstance(value, int | float | mp.mpf) else NAN
    except (ZeroDivisionError, ValueError):
        return INF


def test_the_table_covers_the_language():
    assert {*UNARY, *MORE, "nextafter"} == set(BUILTINS)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_functions_of_one_argument(name, dtype):
    points = X.astype(dtype)
    with np.errstate(all="ignore"):
        found = np.asarray(builtin(name)(points))
    wanted = np.array([exactly(UNARY[name], x) for x in points])
    inside = np.isfinite(wanted)
    tolerance = 4e-6 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found[inside], wanted[inside], rtol=tolerance, atol=tolerance / 100)
    assert not np.isfinite(found[~inside]).any()


@pytest.mark.parametrize("name", MORE)
def test_functions_of_more_arguments(name):
    arity = BUILTINS[name].arity
    points = [np.roll(X, 3 * n) for n in range(arity)]
    with np.errstate(all="ignore"):
        found = builtin(name)(*points)
    wanted = np.array([exactly(MORE[name], *p) for p in zip(*points, strict=True)])
    inside = np.isfinite(wanted)
    np.testing.assert_allclose(found[inside], wanted[inside], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(("name", "arguments", "wanted"), SPECIAL)
def test_special_points(name, arguments, wanted):
    with np.errstate(all="ignore"):
        found = builtin(name)(*(np.float64(a) for a in arguments))
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


def test_nextafter_steps_in_the_declared_type():
    op = operator("def f(float(N) X) -> (Y) { Y(i) = nextafter(X(i), inf) }")
    assert evaluate(op, np.ones(1, np.float32))[0] == np.nextafter(np.float32(1), np.float32(2))


def test_abs_sign_and_relu_keep_integers():
    op = operator("def f(int32(N) X) -> (A, S, R) { A(i) = abs(X(i)) S(i) = sign(X(i)) R(i) = relu(X(i)) }")
    results = evaluate(op, np.array([-5, 0, 3], np.int32))
    assert [r.tolist() for r in results] == [[5, 0, 3], [-1, 0, 1], [0, 0, 3]]
    assert {r.dtype for r in results} == {np.dtype(np.int32)}
