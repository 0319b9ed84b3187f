"""C's types, the conversions between them, and what its operators make of values; no compiler is asked.

Integers are Python's, wrapped to their width (as with -fwrapv), float is NumPy's float32, double Python's float.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Value = Any  # int, np.float32 or float, as the type says


class Undefined(Exception):
    """The text does what C leaves undefined, or reads what nobody wrote."""


class Rounded(Exception):
    """A product was rounded: a compiler that contracts it with a sum gets other bits, and may."""


@dataclass(frozen=True)
class CType:
    """A type: `kind` is int, uint, bool or float."""

    kind: str
    bits: int

    @property
    def is_float(self) -> bool:
        return self.kind == "float"


INT, UINT, LONG, ULONG = CType("int", 32), CType("uint", 32), CType("int", 64), CType("uint", 64)
FLOAT, DOUBLE, BOOL = CType("float", 32), CType("float", 64), CType("bool", 8)
_LENGTHS = {"char": 8, "short": 16, "int": 32, "long": 64}


def named(words: list[str]) -> CType:
    """The type of some words: `unsigned long`, `int8_t`, `_Bool`; `long` has 64 bits, `char` a sign."""
    if words in (["float"], ["double"]):
        return FLOAT if words == ["float"] else DOUBLE
    if words in (["_Bool"], ["bool"]):
        return BOOL
    if words[-1].endswith("_t"):
        kind, bits = ("uint", words[-1][4:-2]) if words[-1].startswith("u") else ("int", words[-1][3:-2])
        return CType(kind, int(bits))
    sizes = [_LENGTHS[w] for w in words if w in _LENGTHS]
    bits = 64 if 64 in sizes else min(sizes, default=32)
    return CType("uint" if "unsigned" in words else "int", bits)


def promoted(t: CType) -> CType:
    """Integers narrower than int count as int."""
    return INT if not t.is_float and t.bits < 32 else t


def common(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions."""
    if a.is_float or b.is_float:
        return DOUBLE if DOUBLE in (a, b) else FLOAT
    a, b = promoted(a), promoted(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "uint" else b


def wrapped(value: int, t: CType) -> int:
    """The number of the type that is equal modulo 2**bits."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.kind == "int" and value >> (t.bits - 1) else value


def conversion(old: CType, new: CType) -> Callable[[Value], Value]:
    """What turns a value of one type into the other."""
    if old == new:
        return lambda v: v
    if new == BOOL:
        return lambda v: int(v != 0)
    if new == DOUBLE:
        return float
    if new == FLOAT:
        return np.float32 if old.is_float else _single(old)
    return (lambda v: _whole(v, new)) if old.is_float else (lambda v: wrapped(v, new))


def _single(old: CType) -> Callable[[int], Value]:
    """Rounded once: by way of a double it would be twice."""
    wide = np.uint64 if old.kind == "uint" else np.int64
    return lambda v: np.float32(wide(v))


def _whole(value: Value, t: CType) -> int:
    number = float(value)
    if not math.isfinite(number) or wrapped(int(number), t) != int(number):
        raise Undefined(f"{number} as an integer of {t.bits} bits")
    return int(number)


def constant(text: str) -> tuple[CType, Value]:
    """The type and value of a literal: the first that fits, as its suffix and base allow."""
    word = text.lower()
    is_hex = word.startswith("0x")
    if not is_hex and re.search(r"[.e]", word):
        return (FLOAT, np.float32(word[:-1])) if word.endswith("f") else (DOUBLE, float(word))
    number = int(word.rstrip("ul"), 16 if is_hex else 8 if re.match(r"0\d", word) else 10)
    suffix = word[len(word.rstrip("ul")) :]
    kinds = [UINT, ULONG] if "u" in suffix else [INT, UINT, LONG, ULONG] if is_hex else [INT, LONG]
    if "l" in suffix:
        kinds = [t for t in kinds if t.bits == 64]
    return next(t for t in kinds if wrapped(number, t) == number), number


def written(value: Value, name: str) -> Value:
    """The value; Undefined if there is none."""
    if value is None:
        raise Undefined(f"{name} is read before it is written")
    return value


# -- operators -----------------------------------------------------------------------------------------

COMPARISONS: dict[str, Callable[[Value, Value], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
_FLOATING = {"+": operator.add, "-": operator.sub, "*": operator.mul}


RING = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def inside(value: int, t: CType) -> int:
    """A number that signed index arithmetic gives: beyond its type C leaves open what that is."""
    if wrapped(value, t) != value:
        raise Undefined("signed arithmetic without data overflows")
    return value


def operation(op: str, t: CType) -> Callable[[Value, Value], Value]:
    """`a op b` for operands and a result of one type."""
    if op in COMPARISONS:
        return lambda a, b: int(COMPARISONS[op](a, b))
    if t.is_float:
        return _quotient if op == "/" else (lambda a, b: _exact(op, a, b))
    if op in "/%":
        return lambda a, b: _divided(op, a, b, t)
    return lambda a, b: wrapped(_INTEGER[op](a, b), t)


def shifted(op: str, a: int, b: int, t: CType) -> int:
    """`a << b` and `a >> b`; the sign comes along to the right."""
    if not 0 <= b < t.bits:
        raise Undefined(f"a shift by {b} of {t.bits} bits")
    return wrapped(a << b, t) if op == "<<" else a >> b


def _divided(op: str, a: int, b: int, t: CType) -> int:
    """Rounded towards zero; the rest has the sign of `a`."""
    if b == 0 or (t.kind == "int" and b == -1 and a == -(1 << (t.bits - 1))):
        raise Undefined(f"{a} {op} {b}")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op == "/" else a - b * quotient


def _exact(op: str, a: Value, b: Value) -> Value:
    """A sum or product of the type; Rounded where it is none of its numbers."""
    with np.errstate(all="ignore"):
        found = _FLOATING[op](a, b)
    if not math.isfinite(found) or Fraction(float(found)) != _FLOATING[op](Fraction(float(a)), Fraction(float(b))):
        raise Rounded(f"{a} {op} {b}")
    return found


def _quotient(a: Value, b: Value) -> Value:
    if b == 0:
        raise Undefined(f"{a} / {b}")
    return a / b
