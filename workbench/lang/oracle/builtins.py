"""The builtins in NumPy: one table from a name to a function on arrays of the working type."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def builtin(name: str) -> Callable[..., Any]:
    """The NumPy function of a builtin (special functions come from SciPy, imported on first use)."""
    return _scipy(_SPECIAL[name]) if name in _SPECIAL else _FUNCTIONS[name]


@cache
def _scipy(name: str) -> Callable[..., Any]:
    import scipy.special

    return getattr(scipy.special, name)


def _cospi(x: Array) -> Array:
    """cos(pi x), exact at multiples of one half."""
    turn = np.abs(np.fmod(x, 2.0))
    return np.where(turn % 1.0 == 0.5, 0.0, np.cos(np.pi * turn))


def _sinpi(x: Array) -> Array:
    """sin(pi x), exact at integers."""
    turn = np.fmod(x, 2.0)
    return np.where(turn % 1.0 == 0.0, np.copysign(0.0, x), np.sin(np.pi * turn))


def _remainder(x: Array, y: Array) -> Array:
    """IEEE remainder: x - y times the integer nearest to x/y, ties to even."""
    size = np.abs(y)
    rest = np.fmod(np.abs(x), 2 * size)
    half = size / 2
    nearest = np.where(rest <= half, rest, np.where(rest - size < half, rest - size, rest - 2 * size))
    return np.copysign(1.0, x) * nearest


def _round(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(x.dtype.type(1), x), whole)


def _logb(x: Array) -> Array:
    exponent = np.frexp(x)[1] - 1.0
    return np.where(x == 0, -np.inf, np.where(np.isinf(x), np.inf, np.where(np.isnan(x), x, exponent)))


def _norm(*parts: Array) -> Array:
    """Euclidean length; infinite when any part is, as in C."""
    return reduce(np.hypot, parts)


def _relu(x: Array) -> Array:
    return np.maximum(x, x.dtype.type(0))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "ceil": np.ceil,
    "copysign": np.copysign,
    "cos": np.cos,
    "cosh": np.cosh,
    "cospi": _cospi,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "expm1": np.expm1,
    "fabs": np.fabs,
    "fdim": lambda x, y: np.where(x <= y, x.dtype.type(0), x - y),
    "fdivide": np.true_divide,
    "floor": np.floor,
    "fma": lambda x, y, z: x * y + z,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fmod": np.fmod,
    "hypot": np.hypot,
    "isinf": np.isinf,
    "isnan": np.isnan,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "logb": _logb,
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "nextafter": np.nextafter,
    "norm3d": _norm,
    "norm4d": _norm,
    "pow": np.power,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "relu": _relu,
    "remainder": _remainder,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "rnorm3d": lambda *parts: 1 / _norm(*parts),
    "rnorm4d": lambda *parts: 1 / _norm(*parts),
    "round": _round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "sin": np.sin,
    "sinh": np.sinh,
    "sinpi": _sinpi,
    "sqrt": np.sqrt,
    "tan": np.tan,
    "tanh": np.tanh,
    "trunc": np.trunc,
}

_SPECIAL: dict[str, str] = {
    "cyl_bessel_i0": "i0",
    "cyl_bessel_i1": "i1",
    "erf": "erf",
    "erfc": "erfc",
    "erfcinv": "erfcinv",
    "erfcx": "erfcx",
    "erfinv": "erfinv",
    "j0": "j0",
    "j1": "j1",
    "lgamma": "gammaln",
    "normcdf": "ndtr",
    "normcdfinv": "ndtri",
    "tgamma": "gamma",
    "y0": "y0",
    "y1": "y1",
}
BUILTINS: frozenset[str] = frozenset(_FUNCTIONS) | frozenset(_SPECIAL)
