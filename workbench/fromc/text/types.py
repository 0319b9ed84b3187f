"""C's types as element types, and the conversions C makes between them."""

from __future__ import annotations

from workbench.lang.dtypes import (
    BOOL,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from workbench.lang.expr import Binary, Cast, Const, Expr

# Words of a type in alphabetical order → element type (LP64: `long` has 64 bits).
WORDS: dict[tuple[str, ...], DType] = {
    ("float",): FLOAT32,
    ("double",): FLOAT64,
    ("_Bool",): BOOL,
    ("bool",): BOOL,
    ("char", "signed"): INT8,
    ("char",): INT8,
    ("char", "unsigned"): UINT8,
    ("short",): INT16,
    ("short", "unsigned"): UINT16,
    ("int",): INT32,
    ("signed",): INT32,
    ("unsigned",): UINT32,
    ("int", "unsigned"): UINT32,
    ("long",): INT64,
    ("long", "unsigned"): UINT64,
    ("long", "long"): INT64,
    ("long", "long", "unsigned"): UINT64,
    ("size_t",): UINT64,
    ("ssize_t",): INT64,
    ("ptrdiff_t",): INT64,
    **{(f"{d.name}_t",): d for d in (INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64)},
}

TYPE_NAMES = (*(words[0] for words in WORDS if len(words) == 1 and words[0].endswith("_t")), "bool")


def c_element_type(words: list[str]) -> DType | None:
    """The element type that some words of C name, None if there is none here.

    >>> str(c_element_type(["unsigned", "int"])), c_element_type(["long", "double"])
    ('uint32', None)
    """
    kept = sorted(words)
    for extra in ("int", "signed"):
        if len(kept) > 1 and extra in kept and kept != ["char", "signed"]:
            kept.remove(extra)
    return WORDS.get(tuple(kept))


def promoted(dtype: DType) -> DType:
    """The type in which C computes with a value: small integers as int."""
    return INT32 if dtype.kind == "bool" or (dtype.is_integral and dtype.bits < 32) else dtype


def common_type(left: DType, right: DType) -> DType:
    """The type in which C computes with two values (the usual arithmetic conversions)."""
    left, right = promoted(left), promoted(right)
    if left.is_float or right.is_float:
        floats = [d for d in (left, right) if d.is_float]
        return max(floats, key=lambda d: d.bits)
    if left.kind == right.kind:
        return max(left, right, key=lambda d: d.bits)
    signed, unsigned = (left, right) if left.kind == "int" else (right, left)
    return signed if signed.bits > unsigned.bits else unsigned


def converted(expr: Expr, dtype: DType) -> Expr:
    """The value as C converts it to a type."""
    if expr.dtype == dtype:
        return expr
    match expr:
        case Const(value, _) if dtype.is_float and not isinstance(value, bool) and _exactly(value, dtype):
            return Const(float(value), dtype)
        case Const(value, old) if {old, dtype} == {INT32, INT64} and abs(value) < 1 << 31:
            return Const(value, dtype)
    if dtype == BOOL:
        return Binary("!=", expr, Const(0.0 if expr.dtype.is_float else 0, expr.dtype), BOOL)
    return Cast(expr, dtype)


def _exactly(value: float, dtype: DType) -> bool:
    return dtype == FLOAT64 or (isinstance(value, int) and abs(value) <= 1 << 24)
