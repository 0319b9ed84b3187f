"""Operators that work element by element, with NumPy's broadcasting."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from workbench.errors import UnsupportedModel
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.values import Dims, Value
from workbench.graph.terms.dimensions import shown_list
from workbench.lang.dtypes import BOOL, FLOAT32, DType

OPERANDS = "abcdefgh"
# The Gaussian error linear unit (Hendrycks and Gimpel, 2016), and its approximation.
GELU = {
    "none": "0.5 * a * (1.0 + erf(a * 0.7071067811865476))",
    "tanh": "0.5 * a * (1.0 + tanh(0.7978845608028654 * (a + 0.044715 * a * a * a)))",
}
# A quotient of whole numbers that is cut towards zero, where the language rounds down.
TRUNCATED = "a / b + int8(a % b != 0 && (a ^ b) < 0)"
_OPERAND = re.compile(rf"\b[{OPERANDS}]\b")


def elementwise(
    g: Emitter, name: str, expression: str, *operands: Value, element: DType | None = None, first: str = "",
) -> Value:  # fmt: skip
    """`expression` over operands `a`, `b`, ... that are broadcast; the result has the first one's type by default.

    `first` is a subexpression `q`, which is rounded to its own type before it is used.
    """
    dims = broadcast([operand.dims for operand in operands])
    of = element or operands[0].element
    reads, inputs = {}, []
    for letter, operand in zip(OPERANDS, operands, strict=False):
        sizes, subscripts = aligned(operand.dims, dims)
        reads[letter] = letter + (f"({','.join(subscripts)})" if subscripts else "")
        inputs.append((letter, operand, sizes))
    value = _OPERAND.sub(lambda found: reads[found[0]], expression)
    every = f"({','.join(axis_index(at) for at in range(len(dims)))})" if dims else ""
    body = f"y{every} = {_stored(value, of, operands)}"
    if first:
        quotient, used = _OPERAND.sub(lambda found: reads[found[0]], first), re.sub(r"\bq\b", f"q{every}", body)
        body = f"q{every} = {quotient}\n{used}"
    return g.define(name, inputs, [("y", of, [axis_size(at) for at in range(len(dims))])], body)


def _stored(value: str, of: DType, operands: Sequence[Value]) -> str:
    """A value as an element of a type: narrowed where what is computed may be wider."""
    same = all(operand.element == of for operand in operands) and not of.is_half
    return value if same or of == BOOL else f"{of.name}({value})"


def axis_index(at: int) -> str:
    """The index of an axis."""
    return f"i{at}"


def axis_size(at: int) -> str:
    """The name of the size of an axis."""
    return f"D{at}"


def aligned(dims: Dims, onto: Dims) -> tuple[list[str], list[str]]:
    """Sizes and subscripts of an operand whose axes are aligned at the right with those of the result."""
    shift = len(onto) - len(dims)
    sizes, subscripts = [], []
    for at, dim in enumerate(dims, shift):
        spread = dim.constant == 1 and onto[at].constant != 1
        sizes.append("1" if spread else axis_size(at))
        subscripts.append("0" if spread else axis_index(at))
    return sizes, subscripts


def broadcast(shapes: Sequence[Dims]) -> Dims:
    """The dimensions of the result; UnsupportedModel for shapes that cannot be broadcast.

    Dimensions that vary are taken to be equal to those of the other operands, which a run checks.
    """
    rank = max((len(dims) for dims in shapes), default=0)
    found = []
    for at in range(-rank, 0):
        here = [dims[at] for dims in shapes if len(dims) >= -at]
        numbers = {dim.constant for dim in here if dim.constant not in (None, 1)}
        if len(numbers) > 1:
            together = " and ".join(shown_list(dims) for dims in shapes)
            raise UnsupportedModel(f"shapes that cannot be broadcast together: {together}")
        other = [dim for dim in here if dim.constant != 1]
        found.append(next(dim for dim in here if dim.constant in numbers) if numbers else (other or here)[0])
    return tuple(found)


def literal(value: float, of: DType = FLOAT32) -> str:
    """A number as the language writes it, with the digits that its type has."""
    if not of.is_float:
        return str(int(value)) if value >= 0 else f"({int(value)})"
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "inf" if value > 0 else "(-inf)"
    text = repr(float(value)) if of.bits == 64 else np.format_float_scientific(np.float32(value), trim="0")
    plain = repr(float(text))
    text = plain if "e" not in plain and len(plain) < 16 else text
    return text if value >= 0 else f"({text})"


def cast(g: Emitter, value: Value, to: DType) -> Value:
    """A value in another element type: floats are cut towards zero, NaN is 0, truth is what is not 0."""
    if value.element == to:
        return value
    expression = "a != 0" if to == BOOL and value.element != BOOL else f"{to.name}(a)"
    return elementwise(g, f"cast_{to.name}", expression, value, element=to)


def selected(g: Emitter, condition: Value, then: Value, otherwise: Value) -> Value:
    """`condition ? then : otherwise`."""
    return elementwise(g, "select", "a ? b : c", condition, then, otherwise, element=then.element)


def expand(g: Emitter, value: Value, dims: Dims) -> Value:
    """A value repeated along axes of size 1, to these dimensions (aligned at the right)."""
    if value.dims == dims:
        return value
    sizes, subscripts = aligned(value.dims, dims)
    told = {
        name
        for name, text in zip((axis_size(at) for at in range(len(dims) - value.rank, len(dims))), sizes, strict=True)
        if text == name
    }
    given, out = {}, []
    for at, dim in enumerate(dims):
        if axis_size(at) in told:
            out.append(axis_size(at))
        elif dim.constant is not None:
            out.append(str(dim.constant))
        else:
            given[axis_size(at)] = dim
            out.append(axis_size(at))
    read = f"x({','.join(subscripts)})" if subscripts else "x"
    left = f"y({','.join(axis_index(at) for at in range(len(dims)))})" if dims else "y"
    return g.define("expand", [("x", value, sizes)], [("y", value.element, out)], f"{left} = {read}", sizes=given)
