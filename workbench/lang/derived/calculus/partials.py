"""Partial derivatives of the functions of the language: one table from a name to its formulas.

Where a function has a corner the formula takes the subgradient that its neighbours say: 0 for `abs` and `relu`
at 0, equal shares for equal arguments of `min` and `max`; a step (`floor`, `round`, `sign`) has derivative 0.
Formulas are those of Abramowitz and Stegun, Handbook of Mathematical Functions (1964).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import log, pi, sqrt

from workbench.lang.derived.calculus.algebra import (
    ONE,
    ZERO,
    applying,
    compared_by,
    float_literal,
    if_then_else,
    minus,
    negative,
    over,
    plus,
    times,
)
from workbench.lang.expr import Call, Expr

# -- The digamma function as an expression of the language, which has no builtin for it --
# ψ(x) is moved to an argument of at least 9 by ψ(x) = ψ(x+1) - 1/x, where Stirling's series has an error below
# 1e-15, and to positive ones by ψ(x) = ψ(1-x) - π cot(πx) (Abramowitz and Stegun 1964, 6.3.5, 6.3.7 and 6.3.18).

SHIFT = 9
# B₂ₖ / 2k for k = 1, 2, ...: the coefficients of 1/z^2k.
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)


def digamma(x: Expr) -> Expr:
    """ψ(x) = d/dx log Γ(x)."""
    reflects = compared_by("<", x, float_literal(0.5))
    positive = _of_positive(if_then_else(reflects, minus(ONE, x), x))
    cotangent = over(applying("cospi", x), applying("sinpi", x))
    return minus(positive, if_then_else(reflects, times(float_literal(pi), cotangent)))


def _of_positive(y: Expr) -> Expr:
    z = plus(y, float_literal(SHIFT))
    square = over(ONE, times(z, z))
    series = reduce(lambda rest, b: times(square, plus(float_literal(b), rest)), reversed(SERIES), float_literal(0))
    shifted = reduce(plus, (over(ONE, plus(y, float_literal(i))) for i in range(SHIFT)))
    return minus(minus(minus(applying("log", z), over(float_literal(0.5), z)), series), shifted)


# What stands before the arguments is the call itself: its value is known where the derivative is needed.
Rule = Callable[..., tuple[Expr, ...]]


def partials(node: Call) -> tuple[Expr, ...]:
    """The derivative of a call by each of its arguments.

    >>> from workbench.lang.dtypes import FLOAT64
    >>> from workbench.lang.expr import Read
    >>> from workbench.lang.printing.printer import show
    >>> x = Read("x", (), FLOAT64)
    >>> show(partials(Call("tanh", (x,), FLOAT64))[0])
    '1.0 - tanh(x) * tanh(x)'
    """
    if node.function in ("min", "max"):
        return _shares(node.function, list(node.arguments))
    return RULES[node.function](node, *node.arguments)


def _shares(which: str, arguments: list[Expr]) -> tuple[Expr, ...]:
    """Of two arguments the one that wins, half of each where they are equal; of more, two by two from the left."""
    if len(arguments) == 1:
        return (ONE,)
    *before, last = arguments
    leader = reduce(lambda a, b: applying(which, a, b), before)
    wins, loses = (">=", "<=") if which == "max" else ("<=", ">=")
    won = _share(compared_by(wins, leader, last), leader, last)
    lost = _share(compared_by(loses, leader, last), leader, last)
    return (*(times(share, won) for share in _shares(which, before)), lost)


def _share(wins: Expr, a: Expr, b: Expr) -> Expr:
    return if_then_else(wins, if_then_else(compared_by("==", a, b), float_literal(0.5), ONE))


def _direction(x: Expr) -> Expr:
    """The slope of `abs`; at 0 nothing is passed on, not even what is infinite there."""
    return if_then_else(compared_by("!=", x, ZERO), applying("sign", x))


def _square(x: Expr) -> Expr:
    return times(x, x)


def _below(x: Expr) -> Expr:
    """`1 - x²`."""
    return minus(ONE, _square(x))


def _above(x: Expr) -> Expr:
    """`1 + x²`."""
    return plus(ONE, _square(x))


def _gauss(x: Expr, factor: float, scale: float) -> Expr:
    return times(float_literal(factor), applying("exp", times(float_literal(scale), _square(x))))


def _bessel(order_zero: str, value: Expr, x: Expr) -> Expr:
    """`f₀(x) - f₁(x)/x`, whose limit at 0 is 1/2."""
    return if_then_else(compared_by("==", x, ZERO), float_literal(0.5), minus(applying(order_zero, x), over(value, x)))


def _power(value: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    by_base = if_then_else(compared_by("==", y, ZERO), ZERO, times(y, applying("pow", x, minus(y, ONE))))
    return by_base, if_then_else(compared_by(">", x, ZERO), times(value, applying("log", x)))


def _norm(value: Expr, *parts: Expr) -> tuple[Expr, ...]:
    return tuple(if_then_else(compared_by("==", value, ZERO), ZERO, over(part, value)) for part in parts)


def _inverse_norm(value: Expr, *parts: Expr) -> tuple[Expr, ...]:
    cube = times(times(value, value), value)
    return tuple(negative(times(part, cube)) for part in parts)


def _arc_tangent(_: Expr, y: Expr, x: Expr) -> tuple[Expr, Expr]:
    square = plus(_square(x), _square(y))
    return over(x, square), negative(over(y, square))


def _signs_agree(_: Expr, x: Expr, y: Expr) -> tuple[Expr, Expr]:
    return times(applying("copysign", ONE, y), applying("sign", x)), ZERO


def _one(rule: Callable[[Expr, Expr], Expr]) -> Rule:
    return lambda value, x: (rule(value, x),)


def _of_argument(rule: Callable[[Expr], Expr]) -> Rule:
    return lambda value, x: (rule(x),)


_STEP: Rule = lambda value, *arguments: (ZERO,) * len(arguments)  # noqa: E731 (an entry of the table)

RULES: dict[str, Rule] = {
    **dict.fromkeys(("ceil", "floor", "round", "trunc", "logb", "sign", "isnan", "isinf"), _STEP),
    "abs": _of_argument(_direction),
    "acos": _of_argument(lambda x: negative(applying("rsqrt", _below(x)))),
    "acosh": _of_argument(lambda x: over(ONE, times(applying("sqrt", minus(x, ONE)), applying("sqrt", plus(x, ONE))))),
    "asin": _of_argument(lambda x: applying("rsqrt", _below(x))),
    "asinh": _of_argument(lambda x: applying("rsqrt", _above(x))),
    "atan": _of_argument(lambda x: over(ONE, _above(x))),
    "atan2": _arc_tangent,
    "atanh": _of_argument(lambda x: over(ONE, _below(x))),
    "cbrt": _one(lambda v, x: over(ONE, times(float_literal(3), _square(v)))),
    "copysign": _signs_agree,
    "cos": _of_argument(lambda x: negative(applying("sin", x))),
    "cosh": _of_argument(lambda x: applying("sinh", x)),
    "cospi": _of_argument(lambda x: times(float_literal(-pi), applying("sinpi", x))),
    "cyl_bessel_i0": _of_argument(lambda x: applying("cyl_bessel_i1", x)),
    "cyl_bessel_i1": _one(lambda v, x: _bessel("cyl_bessel_i0", v, x)),
    "erf": _of_argument(lambda x: _gauss(x, 2 / sqrt(pi), -1)),
    "erfc": _of_argument(lambda x: _gauss(x, -2 / sqrt(pi), -1)),
    "erfcinv": _one(lambda v, x: _gauss(v, -sqrt(pi) / 2, 1)),
    "erfcx": _one(lambda v, x: minus(times(float_literal(2), times(x, v)), float_literal(2 / sqrt(pi)))),
    "erfinv": _one(lambda v, x: _gauss(v, sqrt(pi) / 2, 1)),
    "exp": _one(lambda v, x: v),
    "exp10": _one(lambda v, x: times(float_literal(log(10)), v)),
    "exp2": _one(lambda v, x: times(float_literal(log(2)), v)),
    "expm1": _one(lambda v, x: plus(v, ONE)),
    "fabs": _of_argument(_direction),
    "fdim": lambda v, x, y: (if_then_else(w := compared_by(">", x, y), ONE), if_then_else(w, float_literal(-1))),
    "fdivide": lambda v, x, y: (over(ONE, y), negative(over(v, y))),
    "fma": lambda v, x, y, z: (y, x, ONE),
    "fmax": lambda v, x, y: _ignoring(v, x, y, ">="),
    "fmin": lambda v, x, y: _ignoring(v, x, y, "<="),
    "fmod": lambda v, x, y: (ONE, negative(applying("trunc", over(x, y)))),
    "hypot": _norm,
    "j0": _of_argument(lambda x: negative(applying("j1", x))),
    "j1": _one(lambda v, x: _bessel("j0", v, x)),
    "lgamma": _of_argument(digamma),
    "log": _of_argument(lambda x: over(ONE, x)),
    "log10": _of_argument(lambda x: over(float_literal(1 / log(10)), x)),
    "log1p": _of_argument(lambda x: over(ONE, plus(ONE, x))),
    "log2": _of_argument(lambda x: over(float_literal(1 / log(2)), x)),
    "logaddexp": lambda v, x, y: (applying("sigmoid", minus(x, y)), applying("sigmoid", minus(y, x))),
    "logsigmoid": _of_argument(lambda x: applying("sigmoid", negative(x))),
    "nextafter": lambda v, x, y: (ONE, ZERO),
    "norm3d": _norm,
    "norm4d": _norm,
    "normcdf": _of_argument(lambda x: _gauss(x, 1 / sqrt(2 * pi), -0.5)),
    "normcdfinv": _one(lambda v, x: _gauss(v, sqrt(2 * pi), 0.5)),
    "pow": _power,
    "rcbrt": _one(lambda v, x: over(times(float_literal(-1 / 3), v), x)),
    "relu": _of_argument(lambda x: if_then_else(compared_by(">", x, ZERO), ONE)),
    "remainder": lambda v, x, y: (ONE, over(minus(v, x), y)),
    "rhypot": _inverse_norm,
    "rnorm3d": _inverse_norm,
    "rnorm4d": _inverse_norm,
    "rsqrt": _one(lambda v, x: over(times(float_literal(-0.5), v), x)),
    "sigmoid": _one(lambda v, x: times(v, minus(ONE, v))),
    "sin": _of_argument(lambda x: applying("cos", x)),
    "sinh": _of_argument(lambda x: applying("cosh", x)),
    "sinpi": _of_argument(lambda x: times(float_literal(pi), applying("cospi", x))),
    "sqrt": _one(lambda v, x: over(float_literal(0.5), v)),
    "tan": _one(lambda v, x: _above(v)),
    "tanh": _one(lambda v, x: _below(v)),
    "tgamma": _one(lambda v, x: times(v, digamma(x))),
    "y0": _of_argument(lambda x: negative(applying("y1", x))),
    "y1": _one(lambda v, x: minus(applying("y0", x), over(v, x))),
}


def _ignoring(value: Expr, x: Expr, y: Expr, wins: str) -> tuple[Expr, Expr]:
    """What is no number never wins, and leaves all to the other argument."""
    first = if_then_else(call_isnan(y), ONE, _share(compared_by(wins, x, y), x, y))
    return first, if_then_else(call_isnan(x), ONE, _share(compared_by(wins, y, x), x, y))


def call_isnan(x: Expr) -> Expr:
    """`isnan(x)`."""
    return compared_by("!=", x, x)
