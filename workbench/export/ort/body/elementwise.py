"""Arithmetic of the language on tensors of ONNX whose axes have names.

While they are computed, whole numbers of every width are of int64 (and wrapped as their type says), 16-bit floats of
float32; they are converted where they are read and stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import CodegenError
from workbench.export.ort.body.graph import Graph
from workbench.export.ort.model import onnx_type
from workbench.lang.dtypes import BOOL, FLOAT32, INT64, UINT64, DType
from workbench.lang.expr import COMPARISONS
from workbench.lang.unify import limits
from workbench.records import record

_ARITHMETIC = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}
_LOGIC = {"+": "Or", "*": "And", "&": "And", "|": "Or", "^": "Xor", "&&": "And", "||": "Or"}
_BITS = {"&": "BitwiseAnd", "|": "BitwiseOr", "^": "BitwiseXor"}
_COMPARED = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual", "==": "Equal", "!=": "Equal"}


@record
class Named:
    """A tensor: its name in the graph, the index that each axis belongs to, and the type it is computed in."""

    name: str
    axes: tuple[str, ...]
    dtype: DType


def computing_type(dtype: DType) -> DType:
    """The type in which values of a type are computed."""
    if dtype.is_half:
        return FLOAT32
    return INT64 if dtype.is_integral else dtype


@dataclass
class Elementwise:
    """Writes arithmetic into a graph; `order` is that of all axes, operands are broadcast by their names."""

    graph: Graph
    order: tuple[str, ...]

    def __call__(self, operator: str, *operands: Named, dtype: DType, **attributes: Any) -> Named:
        """An operator of ONNX, element by element."""
        axes = self.union(*operands)
        return Named(self.graph(operator, *(self.spread(o, axes) for o in operands), **attributes), axes, dtype)

    def union(self, *operands: Named) -> tuple[str, ...]:
        """The axes of some operands, in order."""
        used = {axis for operand in operands for axis in operand.axes}
        return tuple(axis for axis in self.order if axis in used)

    def spread(self, value: Named, axes: tuple[str, ...], *, leading: bool = False) -> str:
        """The tensor with an axis of length 1 for each that it lacks (those in front only if `leading`)."""
        places = [n for n, axis in enumerate(axes) if axis not in value.axes]
        if not leading:
            first = min((axes.index(axis) for axis in value.axes), default=len(axes))
            places = [n - first for n in places if n > first]
        return self.graph("Unsqueeze", value.name, self.graph.constant(places)) if places else value.name

    def constant(self, value: Any, dtype: DType) -> Named:
        """A number, rounded to its type."""
        own = computing_type(dtype)
        array = np.asarray(value, dtype.numpy).astype(own.numpy)
        return Named(self.graph.constant(array, own.numpy), (), own)

    # -- types

    def as_type(self, value: Named, dtype: DType) -> Named:
        """ONNX's conversion; whole numbers wrap."""
        if value.dtype == dtype:
            return value
        return Named(self.graph("Cast", value.name, to=onnx_type(dtype)), value.axes, dtype)

    def wrap(self, value: Named, dtype: DType) -> Named:
        """A whole number as one of its width."""
        return value if dtype in (INT64, UINT64) else self.as_type(self.as_type(value, dtype), INT64)

    def rounded(self, value: Named, dtype: DType) -> Named:
        """A value as an element of a type holds it."""
        if dtype.is_integral:
            return self.wrap(value, dtype)
        return self.as_type(self.as_type(value, dtype), value.dtype) if dtype.is_half else value

    def biased(self, value: Named) -> Named:
        """Numbers of uint64, which are kept in the bits of int64, as int64 of the same order; and back."""
        return self("Add", value, self.constant(-(1 << 63), INT64), dtype=INT64)

    def cast(self, value: Named, source: DType, dtype: DType) -> Named:
        """A conversion of the language."""
        own = computing_type(dtype)
        if dtype.is_integral:
            return self._whole(value, dtype) if value.dtype.is_float else self.wrap(self.as_type(value, INT64), dtype)
        if source == UINT64 and dtype.is_float:
            value = self.as_type(value, UINT64)
        narrowed = source.is_float and source.bits <= dtype.bits
        if dtype.is_half and not (narrowed and source == dtype):
            return self.as_type(self.as_type(self.as_type(value, FLOAT32), dtype), FLOAT32)
        return self.as_type(value, own)

    def _whole(self, value: Named, dtype: DType) -> Named:
        """Floats are cut to the type's ends, what is no number is 0."""
        low, high = limits(dtype)
        least, past = (self.constant(float(n), value.dtype) for n in (low, high + 1))
        nothing = self.constant(0.0, value.dtype)
        inside = self.binary("&&", self.binary(">=", value, least), self.binary("<", value, past))
        found = self.as_type(self.as_type(self.select(inside, value, nothing), dtype), INT64)
        bits = [np.asarray(n, dtype.numpy).astype(np.int64) for n in (high, low)]
        ends = self.select(self.binary(">", value, nothing), *(self.constant(b, INT64) for b in bits))
        outside = self.select(self("IsNaN", value, dtype=BOOL), self.constant(0, INT64), ends)
        return self.select(inside, found, outside)

    # -- operators

    def select(self, condition: Named, then: Named, otherwise: Named) -> Named:
        """`condition ? then : otherwise`, both computed."""
        if then.dtype != BOOL:
            return self("Where", condition, then, otherwise, dtype=then.dtype)
        other = self.binary("&&", self.negated(condition), otherwise)
        return self.binary("||", self.binary("&&", condition, then), other)

    def negated(self, condition: Named) -> Named:
        return self("Not", condition, dtype=BOOL)

    def unary(self, op: str, value: Named, dtype: DType) -> Named:
        if value.dtype == BOOL:
            return self.negated(value)
        if op == "!":
            return self.negated(self.as_type(value, BOOL))
        found = self("Neg" if op == "-" else "BitwiseNot", value, dtype=value.dtype)
        return self.wrap(found, dtype) if dtype.is_integral else found

    def binary(self, op: str, left: Named, right: Named, dtype: DType = BOOL, *, of: DType | None = None) -> Named:
        """A binary operator; `dtype` is the result's type, `of` that of the operands where it matters."""
        if op in COMPARISONS:
            return self._compared(op, left, right, of)
        if left.dtype == BOOL or op in ("&&", "||"):
            if op not in _LOGIC:
                raise CodegenError(f"{op} of bool has no operator in ONNX")
            return self(_LOGIC[op], left, right, dtype=BOOL)
        if left.dtype.is_float:
            return self._remainder(left, right) if op == "%" else self(_ARITHMETIC[op], left, right, dtype=left.dtype)
        if op in _BITS:
            return self(_BITS[op], left, right, dtype=INT64)
        if op in ("<<", ">>"):
            return self._shifted(op, left, right, dtype)
        if op in ("/", "%"):
            return self._divided(op, left, right, dtype)
        return self.wrap(self(_ARITHMETIC[op], left, right, dtype=INT64), dtype)

    def _compared(self, op: str, left: Named, right: Named, of: DType | None) -> Named:
        if of == UINT64:
            left, right = self.biased(left), self.biased(right)
        if left.dtype == BOOL and op not in ("==", "!="):
            left, right = self.as_type(left, INT64), self.as_type(right, INT64)
        found = self(_COMPARED[op], left, right, dtype=BOOL)
        return self.negated(found) if op == "!=" else found

    def _remainder(self, left: Named, right: Named) -> Named:
        """With the sign of the divisor."""
        rest = self("Mod", left, right, dtype=left.dtype, fmod=1)
        zero = self.constant(0.0, left.dtype)
        other = self("Xor", self.binary("<", rest, zero), self.binary("<", right, zero), dtype=BOOL)
        moved = self.binary("&&", other, self.binary("!=", rest, zero))
        return self.select(moved, self.binary("+", rest, right, left.dtype), rest)

    def _divided(self, op: str, left: Named, right: Named, dtype: DType) -> Named:
        """Towards minus infinity; 0 where the divisor is 0."""
        if dtype == UINT64:
            raise CodegenError(f"{op} of uint64: ONNX Runtime has no operator for it")
        zero, one, minus = (self.constant(n, INT64) for n in (0, 1, -1))
        nothing, negative = self.binary("==", right, zero), self.binary("==", right, minus)
        # The processor traps on a division by 0, and on that of the least number by -1.
        safe = self.select(self.binary("||", nothing, negative), one, right)
        if op == "%":
            return self.select(nothing, zero, self("Mod", left, safe, dtype=INT64))
        found = self("Div", left, safe, dtype=INT64)
        apart = self("Xor", self.binary("<", left, zero), self.binary("<", safe, zero), dtype=BOOL)
        inexact = self.binary("!=", self("Mul", found, safe, dtype=INT64), left)
        found = self.select(self.binary("&&", apart, inexact), self("Sub", found, one, dtype=INT64), found)
        found = self.select(negative, self("Neg", left, dtype=INT64), found)
        return self.wrap(self.select(nothing, zero, found), dtype)

    def _shifted(self, op: str, left: Named, right: Named, dtype: DType) -> Named:
        """By a power of two; a count outside the width shifts everything out."""
        zero = self.constant(0, INT64)
        most = self.constant(dtype.bits if op == "<<" or dtype == UINT64 else min(dtype.bits, 63), INT64)
        inside = self.binary("&&", self.binary(">=", right, zero), self.binary("<", right, most))
        amount = self.as_type(self.select(inside, right, zero), UINT64)
        direction = "LEFT" if op == "<<" else "RIGHT"
        if op == "<<" or dtype == UINT64:
            bits = self("BitShift", self.as_type(left, UINT64), amount, dtype=UINT64, direction=direction)
            return self.select(inside, self.wrap(self.as_type(bits, INT64), dtype), zero)
        power = self("BitShift", self.as_type(self.constant(1, INT64), UINT64), amount, dtype=UINT64, direction="LEFT")
        signs = self.select(self.binary("<", left, zero), self.constant(-1, INT64), zero)
        return self.select(inside, self._divided("/", left, self.as_type(power, INT64), INT64), signs)

    def least_or_greatest(self, word: str, values: list[Named], dtype: DType) -> Named:
        """`min` or `max`, in which what is no number wins."""
        if dtype == UINT64:
            return self.biased(self.least_or_greatest(word, [self.biased(v) for v in values], INT64))
        if dtype == BOOL:
            return self.as_type(self.least_or_greatest(word, [self.as_type(v, INT64) for v in values], INT64), BOOL)
        axes = self.union(*values)
        return Named(self.graph(word.title(), *(self.spread(v, axes) for v in values)), axes, values[0].dtype)


