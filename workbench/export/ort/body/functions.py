"""The functions of the language in operators of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log, pi
from typing import Any

from workbench.errors import CodegenError
from workbench.export.ort.body.elementwise import Elementwise, Named
from workbench.lang.dtypes import BOOL, FLOAT64, DType
from workbench.records import record

_DIRECT = {
    "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh",
    "ceil": "Ceil", "cos": "Cos", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log", "sigmoid": "Sigmoid",
    "sin": "Sin", "sqrt": "Sqrt", "tanh": "Tanh", "abs": "Abs", "fabs": "Abs", "sign": "Sign",
}  # fmt: skip
# What ONNX Runtime computes for float32 alone.
_SINGLE = {"acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "erf", "erfc", "normcdf"}


@record
class Term:
    """A value that Python's operators compute with."""

    write: Elementwise
    value: Named

    def of(self, operator: str, **attributes: Any) -> Term:
        """An operator of ONNX that takes one operand."""
        return Term(self.write, self.write(operator, self.value, dtype=self.value.dtype, **attributes))

    def test(self, operator: str) -> Term:
        return Term(self.write, self.write(operator, self.value, dtype=BOOL))

    def _with(self, op: str, other: Term | float, dtype: DType | None = None) -> Term:
        return Term(self.write, self.write.binary(op, self.value, self._term(other).value, dtype or self.value.dtype))

    def _term(self, other: Term | float) -> Term:
        return other if isinstance(other, Term) else Term(self.write, self.write.constant(other, self.value.dtype))

    def __add__(self, other: Term | float) -> Term:
        return self._with("+", other)

    def __sub__(self, other: Term | float) -> Term:
        return self._with("-", other)

    def __mul__(self, other: Term | float) -> Term:
        return self._with("*", other)

    def __truediv__(self, other: Term | float) -> Term:
        return self._with("/", other)

    def __rtruediv__(self, other: float) -> Term:
        return self._term(other) / self

    def __rsub__(self, other: float) -> Term:
        return self._term(other) - self

    def __neg__(self) -> Term:
        return self.of("Neg")

    def __lt__(self, other: Term | float) -> Term:
        return self._with("<", other, BOOL)

    def __le__(self, other: Term | float) -> Term:
        return self._with("<=", other, BOOL)

    def equals(self, other: Term | float) -> Term:
        return self._with("==", other, BOOL)

    def __and__(self, other: Term) -> Term:
        return self._with("&&", other, BOOL)

    def __or__(self, other: Term) -> Term:
        return self._with("||", other, BOOL)

    def pick(self, then: Term | float, otherwise: Term | float, like: Term) -> Term:
        """`self ? then : otherwise`; numbers are of `like`'s type."""
        return Term(self.write, self.write.select(self.value, like._term(then).value, like._term(otherwise).value))

    def power(self, other: Term | float) -> Term:
        return Term(self.write, self.write("Pow", self.value, self._term(other).value, dtype=self.value.dtype))


def _trunc(x: Term) -> Term:
    return (x < 0).pick(x.of("Ceil"), x.of("Floor"), x)


def _round(x: Term) -> Term:
    whole = _trunc(x)
    far = (x - whole).of("Abs")
    return (far < 0.5).pick(whole, whole + x.of("Sign"), x)


def _log1p(x: Term) -> Term:
    """Accurate near 0 (Kahan): the rounding of 1 + x is undone."""
    u = x + 1.0
    return (u.equals(1.0) | u.test("IsInf")).pick(x, u.of("Log") * (x / (u - 1.0)), x)


def _expm1(x: Term) -> Term:
    """Accurate near 0 (Kahan)."""
    u = x.of("Exp")
    near = u.equals(1.0).pick(x, (u - 1.0) * (x / u.of("Log")), x)
    return (x.of("Abs") < 1.0).pick(near, u - 1.0, x)


def _cbrt(x: Term) -> Term:
    return x.of("Sign") * x.of("Abs").power(1 / 3)


def _softly(x: Term, y: Term, less: bool) -> Term:
    """`fmin` and `fmax`: what is no number loses."""
    found = (x < y if less else y < x).pick(x, y, x)
    return y.test("IsNaN").pick(x, x.test("IsNaN").pick(y, found, x), x)


def _copysign(x: Term, y: Term) -> Term:
    size = x.of("Abs")
    return ((y < 0) | ((1.0 / y) < 0)).pick(-size, size, x)


def _atan2(y: Term, x: Term) -> Term:
    flat = (y / x).of("Atan")
    left = flat + ((y < 0) | ((1.0 / y) < 0)).pick(-pi, pi, x)
    up = y.equals(0.0).pick(_copysign(y * 0.0, y), (y < 0).pick(-pi / 2, pi / 2, x), x)
    return x.equals(0.0).pick(up, (x < 0).pick(left, flat, x), x)


def _logaddexp(x: Term, y: Term) -> Term:
    apart = x.equals(y).pick(0.0, x - y, x).of("Abs")
    return (y < x).pick(x, y, x) + (-apart).of("Softplus")


def _norm(*parts: Term) -> Term:
    total = parts[0] * parts[0]
    for part in parts[1:]:
        total = total + part * part
    return total.of("Sqrt")


def _turned(x: Term, word: str) -> Term:
    """sin or cos of pi x, exact where it is 0."""
    turn = Term(x.write, x.write("Mod", x.value, x._term(2.0).value, dtype=x.value.dtype, fmod=1))
    rest = turn.of("Abs") if word == "Cos" else turn
    one = Term(x.write, x.write("Mod", rest.value, x._term(1.0).value, dtype=x.value.dtype, fmod=1))
    return one.equals(0.5 if word == "Cos" else 0.0).pick(0.0, (rest * pi).of(word), x)


_MADE: Mapping[str, Callable[..., Term]] = {
    "atan2": _atan2,
    "cbrt": _cbrt,
    "copysign": _copysign,
    "cosh": lambda x: (x.of("Exp") + (-x).of("Exp")) * 0.5,
    "cospi": lambda x: _turned(x, "Cos"),
    "erfc": lambda x: 1.0 - x.of("Erf"),
    "exp10": lambda x: x._term(10.0).power(x),
    "exp2": lambda x: x._term(2.0).power(x),
    "expm1": _expm1,
    "fdim": lambda x, y: (x <= y).pick(0.0, x - y, x),
    "fdivide": lambda x, y: x / y,
    "fma": lambda x, y, z: x * y + z,
    "fmax": lambda x, y: _softly(x, y, less=False),
    "fmin": lambda x, y: _softly(x, y, less=True),
    "fmod": lambda x, y: Term(x.write, x.write("Mod", x.value, y.value, dtype=x.value.dtype, fmod=1)),
    "hypot": _norm,
    "log10": lambda x: x.of("Log") * (1 / log(10)),
    "log1p": _log1p,
    "log2": lambda x: x.of("Log") * (1 / log(2)),
    "logaddexp": _logaddexp,
    "logsigmoid": lambda x: -(-x).of("Softplus"),
    "norm3d": _norm,
    "norm4d": _norm,
    "normcdf": lambda x: ((x * 0.5**0.5).of("Erf") + 1.0) * 0.5,
    "pow": lambda x, y: x.power(y),
    "rcbrt": lambda x: 1.0 / _cbrt(x),
    "rhypot": lambda *parts: 1.0 / _norm(*parts),
    "rnorm3d": lambda *parts: 1.0 / _norm(*parts),
    "rnorm4d": lambda *parts: 1.0 / _norm(*parts),
    "round": _round,
    "rsqrt": lambda x: 1.0 / x.of("Sqrt"),
    "sinh": lambda x: (_expm1(x) - _expm1(-x)) * 0.5,
    "sinpi": lambda x: _turned(x, "Sin"),
    "tan": lambda x: x.of("Sin") / x.of("Cos"),
    "trunc": _trunc,
}
# What ONNX has nothing for: an operator that calls one runs as compiled code alone.
_MISSING = """cyl_bessel_i0 cyl_bessel_i1 erfcinv erfcx erfinv j0 j1 lgamma logb nextafter normcdfinv remainder tgamma
y0 y1"""
MISSING = frozenset(_MISSING.split())


def called(write: Elementwise, function: str, arguments: list[Named], dtype: DType) -> Named:
    """A function of the language; CodegenError where ONNX has nothing to make it of."""
    first = arguments[0]
    if function in ("min", "max"):
        return write.least_or_greatest(function, arguments, dtype)
    if function in ("isnan", "isinf"):
        return write("IsNaN" if function == "isnan" else "IsInf", first, dtype=BOOL)
    if function == "relu":
        return write.least_or_greatest("max", [first, write.constant(0, first.dtype)], dtype)
    if first.dtype == FLOAT64 and function in _SINGLE:
        raise CodegenError(f"{function} of float64: ONNX Runtime computes it for float32 alone")
    if function in _DIRECT:
        found = write(_DIRECT[function], first, dtype=first.dtype)
        return write.wrap(found, dtype) if dtype.is_integral else found
    if function not in _MADE:
        raise CodegenError(f"{function} has no operator in ONNX")
    return _MADE[function](*(Term(write, a) for a in arguments)).value
