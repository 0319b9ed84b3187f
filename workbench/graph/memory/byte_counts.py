"""Sizes in bytes: numbers, or polynomials of named sizes with the range each name may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from workbench.errors import WorkbenchError, unknown_name
from workbench.lang.algebra.polynomial import Polynomial, expression
from workbench.lang.expr import Binary, Call, Const, Expr, Size
from workbench.lang.printing.printer import show

Bytes = int | Polynomial
Span = tuple[int, int]
Bounds = Mapping[str, Span]
"""Name → its least and its greatest value, both possible."""


def at_sizes(size: Bytes, sizes: Mapping[str, int]) -> int:
    """The number of bytes at these sizes; WorkbenchError for a name without a value.

    >>> from workbench.lang.algebra.polynomial import atom
    >>> at_sizes(atom(Size("N")) * 4 + 8, {"N": 3})
    20
    """
    return size if isinstance(size, int) else byte_bounds(size, {name: (n, n) for name, n in sizes.items()})[0]


def byte_bounds(size: Bytes, bounds: Bounds) -> Span:
    """Numbers that the size is never below and never above; both are taken if every name occurs once.

    >>> from workbench.lang.algebra.polynomial import atom
    >>> byte_bounds(atom(Size("N")) * -4 + 8, {"N": (1, 3)})
    (-4, 4)
    """
    if isinstance(size, int):
        return size, size
    low = high = 0
    for monomial, x in size.terms:
        least, most = _product([_atom(part, bounds) for part in monomial])
        low, high = low + min(x * least, x * most), high + max(x * least, x * most)
    return low, high


def never_above(a: Bytes, b: Bytes, bounds: Bounds) -> bool:
    """Whether `a <= b` is certain for all sizes."""
    if isinstance(a, int) and isinstance(b, int):
        return a <= b
    return byte_bounds(difference_of_bytes(b, a), bounds)[0] >= 0


def bytes_sum(a: Bytes, b: Bytes) -> Bytes:
    """The sum; an int does not know how to add a Polynomial."""
    return b + a if isinstance(a, int) else a + b


def difference_of_bytes(a: Bytes, b: Bytes) -> Bytes:
    """The difference."""
    return bytes_sum(a, -b)


def is_multiple(size: Bytes, by: int) -> bool:
    """Whether the size is certainly a multiple of a number."""
    return size % by == 0 if isinstance(size, int) else all(x % by == 0 for _, x in size.terms)


def size_text(size: Bytes) -> str:
    """The size as one would write it."""
    return str(size) if isinstance(size, int) else show(expression(size))


def _product(factors: list[Span]) -> Span:
    if all(low >= 0 for low, _ in factors):
        return prod(low for low, _ in factors), prod(high for _, high in factors)
    low, high = 1, 1
    for a, b in factors:
        ends = (low * a, low * b, high * a, high * b)
        low, high = min(ends), max(ends)
    return low, high


def _atom(expr: Expr, bounds: Bounds) -> Span:
    match expr:
        case Const(int(value), _):
            return value, value
        case Size(name, _):
            if name not in bounds:
                raise WorkbenchError(f"bytes: {unknown_name('size', name, bounds)}; give its value or its bounds")
            return bounds[name]
        case Binary(op, left, right, _) if op in _BINARY:
            return _BINARY[op](_atom(left, bounds), _atom(right, bounds))
        case Call("min" | "max" as which, arguments, _):
            pick = min if which == "min" else max
            found = [_atom(argument, bounds) for argument in arguments]
            return pick(low for low, _ in found), pick(high for _, high in found)
    raise WorkbenchError(f"bytes: {show(expr)} is no size; expected +, -, *, /, %, min and max of named sizes")


def _quotient(a: Span, b: Span) -> Span:
    if b[0] <= 0:
        raise WorkbenchError(f"bytes: a divisor may be {b[0]}; expected it to be at least 1 for all sizes")
    ends = [x // y for x in a for y in b]
    return min(ends), max(ends)


def _remainder(a: Span, b: Span) -> Span:
    if a[0] == a[1] and b[0] == b[1] > 0:
        return a[0] % b[0], a[0] % b[0]
    return _quotient(a, b) and (0, b[1] - 1)


_BINARY: dict[str, Callable[[Span, Span], Span]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: _product([a, b]),
    "/": _quotient,
    "%": _remainder,
}
