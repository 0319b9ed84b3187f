"""The digamma function as an expression of the language, which has no builtin for it.

ψ(x) is moved to an argument of at least 9 by ψ(x) = ψ(x+1) - 1/x, where Stirling's series has an error below
1e-15, and to positive ones by ψ(x) = ψ(1-x) - π cot(πx) (Abramowitz and Stegun 1964, 6.3.5, 6.3.7 and 6.3.18).
"""

from __future__ import annotations

from functools import reduce
from math import pi

from workbench.lang.derived.calculus.algebra import ONE, call, choose, compare, literal, minus, over, plus, times
from workbench.lang.expr import Expr

SHIFT = 9
# B₂ₖ / 2k for k = 1, 2, ...: the coefficients of 1/z^2k.
SERIES = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)


def digamma(x: Expr) -> Expr:
    """ψ(x) = d/dx log Γ(x)."""
    reflects = compare("<", x, literal(0.5))
    positive = _of_positive(choose(reflects, minus(ONE, x), x))
    cotangent = over(call("cospi", x), call("sinpi", x))
    return minus(positive, choose(reflects, times(literal(pi), cotangent)))


def _of_positive(y: Expr) -> Expr:
    z = plus(y, literal(SHIFT))
    square = over(ONE, times(z, z))
    series = reduce(lambda rest, b: times(square, plus(literal(b), rest)), reversed(SERIES), literal(0))
    shifted = reduce(plus, (over(ONE, plus(y, literal(i))) for i in range(SHIFT)))
    return minus(minus(minus(call("log", z), over(literal(0.5), z)), series), shifted)
