"""The builtins in NumPy: functions on arrays of the working type.  Which one it is `lang/builtins.py` says."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, reduce
from importlib import import_module
from typing import Any

import numpy as np

from workbench.lang.builtins import BUILTINS

Array = np.ndarray[Any, Any]


@cache
def builtin(name: str) -> Callable[..., Any]:
    """The NumPy function of a builtin, or of `min` and `max` (SciPy is imported with its first function)."""
    if name in _OWN:
        return _OWN[name]
    module, _, function = BUILTINS[name].oracle.partition(":")
    return getattr(import_module(module), function)


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


def _bessel(name: str, limit: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """SciPy's Bessel function, whose value at an infinity is none, with that limit there, as in C."""

    def function(x: Array) -> Array:
        special = getattr(import_module("scipy.special"), name)
        return np.where(np.isinf(x), limit(x), special(x))

    return function


# What neither NumPy nor SciPy has under one name; `min` and `max` take any number of arguments.
_OWN: dict[str, Callable[..., Any]] = {
    "cospi": _cospi,
    "cyl_bessel_i0": _bessel("i0", np.abs),
    "cyl_bessel_i1": _bessel("i1", lambda x: x),
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "fdim": lambda x, y: np.where(x <= y, x.dtype.type(0), x - y),
    "fma": lambda x, y, z: x * y + z,
    "j0": _bessel("j0", lambda x: 1 / x),
    "j1": _bessel("j1", lambda x: 1 / x),
    "logb": _logb,
    "logsigmoid": lambda x: np.minimum(x, x.dtype.type(0)) - np.log1p(np.exp(-np.abs(x))),
    "max": lambda *values: reduce(np.maximum, values),
    "min": lambda *values: reduce(np.minimum, values),
    "norm3d": _norm,
    "norm4d": _norm,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "relu": _relu,
    "remainder": _remainder,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "rnorm3d": lambda *parts: 1 / _norm(*parts),
    "rnorm4d": lambda *parts: 1 / _norm(*parts),
    "round": _round,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sinpi": _sinpi,
    "y0": _bessel("y0", lambda x: 1 / (x + x * x)),
    "y1": _bessel("y1", lambda x: 1 / (x + x * x)),
}
