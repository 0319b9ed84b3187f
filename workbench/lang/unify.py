"""Type rules: what two operands become, and how a value is converted.

A float literal is *weak*: it has type WEAK until its context decides, and float32 if nothing does.
"""

from __future__ import annotations

from workbench.lang.dtypes import DTYPES, FLOAT32, INT32, INT64, DType
from workbench.lang.expr import Cast, Const, Expr, children, rebuild

WEAK = DType("float literal", "float", 0, "")
_SIGNED = {d.bits: d for d in DTYPES.values() if d.kind == "int"}


def unify(a: DType, b: DType) -> DType:
    """The smallest type both convert to, by the rules of the language.

    >>> from workbench.lang.dtypes import FLOAT64, INT8, UINT32
    >>> unify(INT8, UINT32).name, unify(INT8, FLOAT64).name
    ('int32', 'float64')
    """
    if a == b:
        return a
    if a.kind == "bool" or b.kind == "bool":
        return b if a.kind == "bool" else a
    if a.is_float and b.is_float:
        return FLOAT32 if a.bits == b.bits else max(a, b, key=lambda d: d.bits)
    if a.is_float or b.is_float:
        return a if a.is_float else b
    if a.kind == b.kind == "uint":
        return max(a, b, key=lambda d: d.bits)
    return _SIGNED[max(a.bits, b.bits)]


def computed(dtype: DType) -> DType:
    """The type in which a value is computed with: float32 for the 16-bit storage types."""
    return FLOAT32 if dtype.is_half else dtype


def settled(expr: Expr) -> Expr:
    """The expression with float32 where nothing decided the type of its literals."""
    return convert(expr, FLOAT32) if expr.dtype == WEAK else expr


def convert(expr: Expr, dtype: DType) -> Expr:
    """The value as `dtype`; literals are converted in place."""
    if expr.dtype == dtype:
        return expr
    if expr.dtype == WEAK and dtype.is_float:
        return _decide(expr, dtype)
    if isinstance(expr, Const) and not isinstance(expr.value, bool) and _exact(expr.value, dtype):
        return Const(float(expr.value) if dtype.is_float else expr.value, dtype)
    return Cast(settled(expr), dtype)


def _exact(value: float, dtype: DType) -> bool:
    if dtype.is_float:
        return isinstance(value, int) and abs(value) <= 2**53
    return isinstance(value, int) and dtype.is_integral and fits(value, dtype)


def _decide(expr: Expr, dtype: DType) -> Expr:
    if expr.dtype != WEAK:
        return expr
    if isinstance(expr, Const):
        return Const(expr.value, dtype)
    if dtype.is_half:
        return Cast(_decide(expr, FLOAT32), dtype)
    if isinstance(expr, Cast):
        return convert(expr.operand, dtype)
    parts = rebuild(expr, tuple(_decide(child, dtype) for child in children(expr)))
    return _with_dtype(parts, dtype)


def _with_dtype(expr: Expr, dtype: DType) -> Expr:
    match expr:
        case Const() | Cast():
            return expr
        case _:
            fields = {name: getattr(expr, name) for name in expr.__slots__}
            return type(expr)(**{**fields, "dtype": dtype})


def limits(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer type."""
    if dtype.kind == "uint":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def fits(value: int, dtype: DType) -> bool:
    """Whether an integer type has this number."""
    lowest, largest = limits(dtype)
    return lowest <= value <= largest


def integer_type(value: int) -> DType | None:
    """int32, int64 if too large for it, None if too large for both."""
    for dtype in (INT32, INT64):
        if fits(value, dtype):
            return dtype
    return None
