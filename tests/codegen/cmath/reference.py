"""Exact values of the mathematical functions (mpmath), where to sample them, and distances in ulp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpmath import mp, mpf

from workbench.lang.dtypes import DType

mp.dps = 40
Array = np.ndarray[Any, Any]
Real = Any  # an mpf
Sampler = Callable[[np.random.Generator, int], Array]
ROOT2 = mp.sqrt(2)


def erfcinv(x: Real) -> Real:
    """Newton's iteration on log erfc."""
    if x > 1:
        return -erfcinv(2 - x)
    if x > 0.5:
        return mp.erfinv(1 - x)
    y = mp.sqrt(-mp.log(x))
    for _ in range(100):
        tail = mp.erfc(y)
        step = (mp.log(tail) - mp.log(x)) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y) * tail
        y += step
        if abs(step) < y * mpf(10) ** -32:
            break
    return y


def norm(*parts: Real) -> Real:
    return mp.sqrt(sum(p * p for p in parts))


def cube_root(x: Real) -> Real:
    return mp.sign(x) * mp.cbrt(abs(x))


EXACT: dict[str, Callable[..., Any]] = {
    "exp": mp.exp, "exp2": lambda x: mpf(2) ** x, "exp10": lambda x: mpf(10) ** x, "expm1": mp.expm1,
    "log": mp.log, "log2": lambda x: mp.log(x, 2), "log10": mp.log10, "log1p": mp.log1p, "tanh": mp.tanh,
    "sigmoid": lambda x: 1 / (1 + mp.exp(-x)), "logsigmoid": lambda x: -mp.log1p(mp.exp(-x)),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "rsqrt": lambda x: 1 / mp.sqrt(x), "sqrt": mp.sqrt, "pow": mp.power, "erf": mp.erf, "erfc": mp.erfc,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x), "erfinv": mp.erfinv, "erfcinv": erfcinv,
    "normcdf": lambda x: mp.erfc(-x / ROOT2) / 2, "normcdfinv": lambda p: -ROOT2 * erfcinv(2 * p),
    "cyl_bessel_i0": lambda x: mp.besseli(0, x), "cyl_bessel_i1": lambda x: mp.besseli(1, x),
    "sinpi": mp.sinpi, "cospi": mp.cospi, "cbrt": cube_root, "rcbrt": lambda x: 1 / cube_root(x),
    "hypot": norm, "norm3d": norm, "norm4d": norm, "rhypot": lambda *p: 1 / norm(*p),
    "rnorm3d": lambda *p: 1 / norm(*p), "rnorm4d": lambda *p: 1 / norm(*p), "tgamma": mp.gamma,
    "acos": mp.acos, "asin": mp.asin, "atan": mp.atan, "acosh": mp.acosh, "asinh": mp.asinh,
    "atanh": mp.atanh, "cosh": mp.cosh, "sinh": mp.sinh, "atan2": mp.atan2,
    "fma": lambda a, b, c: a * b + c, "fdivide": lambda a, b: a / b, "fdim": lambda a, b: max(a - b, mpf(0)),
}  # fmt: skip


def uniform(low: float, high: float) -> Sampler:
    return lambda rng, n: rng.uniform(low, high, n)


def powers(low: float, high: float, *, signed: bool = False) -> Sampler:
    """Magnitudes 10^low to 10^high."""
    return lambda rng, n: 10 ** rng.uniform(low, high, n) * (rng.choice([-1.0, 1.0], n) if signed else 1)


def mixed(*parts: Sampler) -> Sampler:
    return lambda rng, n: np.concatenate([part(rng, n // len(parts)) for part in parts])


ANY = powers(-320, 308, signed=True)
POSITIVE = powers(-320, 308)
NEAR_HALF = mixed(powers(-300, 0), lambda rng, n: 0.5 - 10 ** rng.uniform(-15, -1, n))
UNIT = mixed(uniform(-1, 1), powers(-300, 0, signed=True), lambda rng, n: 1 - 10 ** rng.uniform(-15, -1, n))
DOMAIN: dict[str, list[Sampler]] = {
    **{name: [mixed(uniform(-746, 710), uniform(-104, 89), uniform(-2, 2), powers(-300, 0, signed=True))]
       for name in ("exp", "expm1", "sigmoid", "logsigmoid", "cosh", "sinh")},
    "exp2": [mixed(uniform(-1080, 1025), uniform(-150, 128), uniform(-2, 2))],
    "exp10": [mixed(uniform(-324, 309), uniform(-45, 38), uniform(-2, 2))],
    **{name: [mixed(POSITIVE, uniform(0.4, 2.5), lambda rng, n: 1 + rng.uniform(-1e-6, 1e-6, n))]
       for name in ("log", "log2", "log10", "rsqrt", "sqrt")},
    "log1p": [mixed(POSITIVE, uniform(-1, 3), powers(-300, 0, signed=True))],
    "tanh": [mixed(uniform(-21, 21), uniform(-1, 1), powers(-320, 0, signed=True))],
    **{name: [mixed(uniform(-7, 7), uniform(-1e5, 1e5), ANY)] for name in ("sin", "cos")},
    "tan": [mixed(uniform(-7, 7), uniform(-1e5, 1e5))],
    "pow": [mixed(uniform(0, 3), POSITIVE, lambda rng, n: 1 + rng.uniform(-1e-3, 1e-3, n), POSITIVE),
            mixed(uniform(-300, 300), uniform(-2, 2), uniform(-7e5, 7e5), uniform(-1, 1))],
    "erf": [mixed(uniform(-6, 6), uniform(-1.5, 1.5), powers(-320, 0, signed=True))],
    "erfc": [mixed(uniform(-6, 27), powers(-300, 0, signed=True))],
    "erfcx": [mixed(uniform(-26, 80), uniform(-2, 2), powers(-300, 3, signed=False))],
    "erfinv": [UNIT],
    "erfcinv": [mixed(uniform(0, 2), powers(-307, 0), lambda rng, n: 2 - 10 ** rng.uniform(-15, -1, n))],
    "normcdf": [mixed(uniform(-38, 8), uniform(-3, 3))],
    "normcdfinv": [mixed(uniform(0, 1), powers(-307, 0), uniform(0.4, 0.6))],
    **{name: [mixed(uniform(-20, 20), uniform(-713, 713))] for name in ("cyl_bessel_i0", "cyl_bessel_i1")},
    **{name: [mixed(uniform(-4, 4), uniform(-1e6, 1e6), NEAR_HALF)]
       for name in ("sinpi", "cospi")},
    **{name: [mixed(uniform(-10, 10), ANY)] for name in ("cbrt", "rcbrt", "asinh", "atan")},
    **{name: [powers(-300, 300, signed=True)] * 2 for name in ("hypot", "rhypot", "fdim", "fdivide")},
    **{name: [mixed(powers(-300, 300), uniform(-1, 1))] * 3 for name in ("norm3d", "rnorm3d")},
    **{name: [mixed(powers(-300, 300), uniform(-1, 1))] * 4 for name in ("norm4d", "rnorm4d")},
    "tgamma": [uniform(0.01, 170)], "acosh": [mixed(uniform(1, 10), powers(0.1, 300))], "atan2": [ANY, ANY],
    **{name: [UNIT] for name in ("acos", "asin", "atanh")},
    "fma": [uniform(-1, 1)] * 3,
}  # fmt: skip


def ulps(got: float, exact: Real, dtype: DType) -> float:
    """Distance in units of the last place of the exact value; infinite where an infinity or NaN is wrong."""
    info = np.finfo(dtype.numpy)
    overflow = mpf(2) ** info.maxexp * (1 - mpf(2) ** (-info.nmant - 2))
    if abs(exact) >= overflow * (1 - mpf(2) ** -info.nmant) and np.isinf(got):
        return 0.0 if (got > 0) == (exact > 0) else float("inf")
    if exact == 0 or not np.isfinite(got):
        return 0.0 if got == exact else float("inf")
    exponent = max(mp.frexp(exact)[1] - 1, info.minexp)
    return float(abs(mpf(float(got)) - exact) / mpf(2) ** (exponent - info.nmant))
