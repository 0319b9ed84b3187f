"""Random expressions of the language, over all element types, whose values every way of computing must agree upon.

No result depends on how products and sums of floats are contracted: an expression of floats either adds or multiplies.
Where the language leaves the sign of a zero open (`min(-0.0, 0.0)`), it is made positive.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import numpy as np

from workbench.lang.dtypes import BOOL, DTYPES, FLOAT32, FLOAT64, INT32, DType
from workbench.lang.unify import computed, limits, unify

NUMBERS = tuple(d for d in DTYPES.values() if d != BOOL)
WHOLE = tuple(d for d in NUMBERS if d.is_integral)
COMPARED = ("<", "<=", ">", ">=", "==", "!=")
SUMS, PRODUCTS = ("+", "-"), ("*", "/")
ROUNDINGS = ("floor", "ceil", "trunc", "round", "sqrt", "fabs", "abs")
PLACES = ("i", "i", "i", "i", "i+1", "2*i", "2*N-1-i", "N-1", "0")
FLOAT_CONSTANTS = ("0.0", "1.0", "0.5", "-1.5", "3.0", "127.5", "-128.5", "2147483648.0", "1e30", "inf")
WHOLE_CONSTANTS = (0, 1, -1, 2, 3, -3, 7, 10, 127, 128, -128, 255, 256, 32767, 65535, 2147483647, -2147483648)
VARYING = re.compile(r"[Xs]_|\b[iN]\b")
VAST_CONSTANTS = (3000000000, -3000000000, 4294967296, 9223372036854775807)


@dataclass(frozen=True)
class Term:
    """Text in parentheses where it needs them, and its type."""

    text: str
    dtype: DType


def tensor(dtype: DType) -> str:
    """The input of an element type; it has 2*N elements."""
    return f"X_{dtype.name}"


def scalar(dtype: DType) -> str:
    """The number of an element type that the caller gives."""
    return f"s_{dtype.name}"


PARAMETERS = ", ".join(
    [f"{d.name}(2*N) {tensor(d)}" for d in DTYPES.values()] + [f"{d.name} {scalar(d)}" for d in DTYPES.values()]
)


def program(name: str, expressions: list[str]) -> str:
    """A definition with an output for every expression."""
    outputs = ", ".join(f"o{n}" for n in range(len(expressions)))
    lines = [f"    o{n}(i) = {e} where i in 0:N" for n, e in enumerate(expressions)]
    return "\n".join([f"def {name}({PARAMETERS}) -> ({outputs}) {{", *lines, "}"])


class Writer:
    """Draws expressions; `adding` says which of sums and products floats are made of here."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.adding = True

    def expression(self) -> str:
        """One expression, a number or a truth value."""
        self.adding = self.random.random() < 0.5
        depth = self.random.choice((1, 2, 2, 3, 3, 4))
        return (self.truth(depth) if self.random.random() < 0.15 else self.number(depth)).text

    def anew(self, make: Callable[[int], Term], depth: int) -> Term:
        """What is not part of the floats around: it may add where they multiply."""
        before, self.adding = self.adding, self.random.random() < 0.5
        found = make(depth)
        self.adding = before
        return found

    # -- leaves

    def leaf(self, dtypes: tuple[DType, ...]) -> Term:
        dtype, draw = self.random.choice(dtypes), self.random.random()
        if draw < 0.65:
            return Term(f"{tensor(dtype)}({self.random.choice(PLACES)})", dtype)
        if draw < 0.75:
            return Term(scalar(dtype), dtype)
        if draw < 0.83 and INT32 in dtypes:
            return Term(self.random.choice("iiN"), INT32)
        return self.constant(dtype)

    def constant(self, dtype: DType) -> Term:
        if dtype == BOOL:
            return Term(self.random.choice(("true", "false")), BOOL)
        if dtype.is_float:
            return Term(f"{dtype.name}({self.random.choice(FLOAT_CONSTANTS)})", dtype)
        low, high = limits(dtype)
        known = [c for c in (*WHOLE_CONSTANTS, *VAST_CONSTANTS, low, high) if low <= c <= high and -(2**63) < c < 2**63]
        return Term(f"{dtype.name}({self.random.choice(known)})", dtype)

    # -- numbers

    def number(self, depth: int) -> Term:
        return self.whole(depth) if self.random.random() < 0.6 else self.real(depth)

    def whole(self, depth: int) -> Term:
        """An integer."""
        if depth <= 0:
            return self.leaf(WHOLE)
        kinds = (self.arithmetic, self.arithmetic, self.bits, self.shift, self.negated, self.whole_function)
        return self.random.choice((*kinds, self.whole_cast, self.whole_cast, self.whole_choice))(depth - 1)

    def arithmetic(self, depth: int) -> Term:
        return self.joined(self.random.choice("++-**//%%"), self.whole(depth), self.whole(depth))

    def bits(self, depth: int) -> Term:
        return self.joined(self.random.choice("&|^"), self.whole(depth), self.whole(depth))

    def joined(self, op: str, a: Term, b: Term) -> Term:
        return Term(f"({a.text} {op} {b.text})", computed(unify(a.dtype, b.dtype)))

    def shift(self, depth: int) -> Term:
        a, count = self.whole(depth), self.whole(depth - 1)
        if self.random.random() < 0.6:
            count = Term(str(self.random.choice((0, 1, 3, 7, 8, 15, 31, 32, 63, 64))), INT32)
        return Term(f"({a.text} {self.random.choice(('<<', '>>'))} {count.text})", a.dtype)

    def negated(self, depth: int) -> Term:
        a = self.whole(depth)
        return Term(f"({self.random.choice('-~')}{a.text})", a.dtype)

    def whole_function(self, depth: int) -> Term:
        name = self.random.choice(("min", "max", "abs", "sign", "relu"))
        a = self.whole(depth)
        if name in ("min", "max"):
            b = self.whole(depth)
            return Term(f"{name}({a.text}, {b.text})", unify(a.dtype, b.dtype))
        return Term(f"{name}({a.text})", a.dtype)

    def whole_cast(self, depth: int) -> Term:
        dtype = self.random.choice(WHOLE)
        of = self.random.choice((self.whole, self.real, self.truth))
        return Term(f"{dtype.name}({self.anew(of, depth).text})", dtype)

    def whole_choice(self, depth: int) -> Term:
        a, b = self.whole(depth), self.whole(depth)
        return Term(f"({self.anew(self.truth, depth).text} ? {a.text} : {b.text})", unify(a.dtype, b.dtype))

    def real(self, depth: int) -> Term:
        """A float."""
        floats = tuple(d for d in NUMBERS if d.is_float)
        if depth <= 0:
            return self.leaf(floats)
        kinds = (self.real_arithmetic, self.real_arithmetic, self.rounding, self.pair, self.real_cast, self.real_choice)
        return self.random.choice(kinds)(depth - 1)

    def real_arithmetic(self, depth: int) -> Term:
        a, b = self.real(depth), self.number(depth) if self.random.random() < 0.3 else self.real(depth)
        if not VARYING.search(a.text):  # GCC 12 makes -float(n) of 0.0 - float(n), which is -0.0 where n is 0
            a, b = b, a
        return self.joined(self.random.choice(SUMS if self.adding else PRODUCTS), a, b)

    def rounding(self, depth: int) -> Term:
        a = self.real(depth)
        name = self.random.choice((*ROUNDINGS, "-"))
        return Term(f"(-{a.text})" if name == "-" else f"{name}({a.text})", computed(a.dtype))

    def pair(self, depth: int) -> Term:
        """A function of two numbers; the signs of zeros, and of what is no number, do not matter."""
        a, b = self.real(depth), self.real(depth)
        name = self.random.choice(("min", "max", "fmin", "fmax", "copysign", "fmod", "sign", "relu"))
        dtype = computed(unify(a.dtype, b.dtype))
        if name in ("sign", "relu"):
            return Term(f"{name}({_unsigned_zero(a)})", computed(a.dtype))
        if name in ("copysign", "fmod"):
            b = Term(f"(isnan({b.text}) ? 1.0 : {b.text})", b.dtype)
            return Term(f"{name}({a.text}, {b.text})", dtype)
        return Term(f"{name}({_unsigned_zero(a)}, {_unsigned_zero(b)})", dtype)

    def real_cast(self, depth: int) -> Term:
        dtype = self.random.choice([d for d in NUMBERS if d.is_float])
        of = self.random.choice((self.whole, self.real, self.truth))
        made = of(depth) if of == self.real else self.anew(of, depth)
        return Term(f"{dtype.name}({made.text})", dtype)

    def real_choice(self, depth: int) -> Term:
        a, b = self.real(depth), self.real(depth)
        return Term(f"({self.anew(self.truth, depth).text} ? {a.text} : {b.text})", computed(unify(a.dtype, b.dtype)))

    # -- truth values

    def truth(self, depth: int) -> Term:
        if depth <= 0:
            return self.leaf((BOOL,))
        kinds = (self.comparison, self.comparison, self.connected, self.connected, self.test, self.truth_choice)
        return Term(self.random.choice(kinds)(depth - 1), BOOL)

    def comparison(self, depth: int) -> str:
        of = self.random.choice((self.number, self.number, self.number, self.truth))
        a, b = self.anew(of, depth), self.anew(of, depth)
        if of == self.truth:  # comparisons do not chain
            return f"((!{a.text}) {self.random.choice(('==', '!='))} {b.text})"
        return f"({a.text} {self.random.choice(COMPARED)} {b.text})"

    def connected(self, depth: int) -> str:
        a, b = self.truth(depth), self.truth(depth)
        return f"({a.text} {self.random.choice(('&&', '||', '&', '|', '^'))} {b.text})"

    def test(self, depth: int) -> str:
        draw = self.random.random()
        if draw < 0.4:
            return f"(!{self.truth(depth).text})"
        if draw < 0.7:
            return f"bool({self.anew(self.number, depth).text})"
        return f"{self.random.choice(('isnan', 'isinf'))}({self.anew(self.real, depth).text})"

    def truth_choice(self, depth: int) -> str:
        return f"({self.truth(depth).text} ? {self.truth(depth).text} : {self.truth(depth).text})"


def _unsigned_zero(a: Term) -> str:
    """The number without the sign of its zero."""
    return f"({a.text} == 0.0 ? 0.0 : {a.text})"


# -- values --------------------------------------------------------------------------------------------


def values(dtype: DType, count: int, random: np.random.Generator) -> np.ndarray:
    """Random elements; every second one is at an end of the type, or one of those that are not like the others."""
    special = _special(dtype)
    drawn = special[random.integers(0, len(special), count)]
    if dtype == BOOL:
        return random.random(count) < 0.5
    if dtype.is_float:
        scale = np.float32(10.0) ** random.integers(-3, 4, count).astype(np.float32)
        own = (random.standard_normal(count).astype(np.float32) * scale).astype(dtype.numpy)
    else:
        low, high = limits(dtype)
        own = random.integers(low, high, count, dtype=dtype.numpy, endpoint=True)
        own = np.where(random.random(count) < 0.5, own % dtype.numpy.type(17), own)
    return np.where(random.random(count) < 0.5, drawn, own).astype(dtype.numpy)


def _special(dtype: DType) -> np.ndarray:
    if dtype == BOOL:
        return np.array([False, True])
    if dtype.is_float:
        ends = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -0.25, np.inf, -np.inf, np.nan, 127.6, -128.9, 255.5, -1.7]
        wide = [3e4, -3e9, 2147483647.0, 2147483648.0, -2147483648.0, 9223372036854775808.0, 1e-40, 3e38]
        if dtype in (FLOAT32, FLOAT64):
            ends += wide
        with np.errstate(over="ignore"):
            return np.array(ends, np.float32 if dtype.is_half else dtype.numpy).astype(dtype.numpy)
    low, high = limits(dtype)
    return np.array([low, low + 1, high, high - 1, 0, 1, 2, 3, 10, *([-1, -2] if low else [])], dtype.numpy)
