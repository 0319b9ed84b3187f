"""Arithmetic on sizes that are known only by name, while a model is taken over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.graph.importing.values import Array, symbolic
from workbench.graph.terms.dimensions import Dimension, dimension, shown
from workbench.graph.text.reading_one import read_dimension
from workbench.lang.expr import Size


def quotient(a: Dimension, b: Dimension) -> Dimension:
    """The quotient, rounded down."""
    if a.constant is not None and b.constant:
        return dimension(a.constant // b.constant)
    if b.constant and all(coefficient % b.constant == 0 for _, coefficient in a.terms):
        return Dimension({monomial: coefficient // b.constant for monomial, coefficient in a.terms})
    return read_dimension(f"({shown(a)})/({shown(b)})")


def _at_least(a: Dimension, b: Dimension) -> bool:
    """Whether a dimension is as large as another whatever sizes there are, none of which is negative."""
    difference = a - b
    plain = all(isinstance(atom, Size) for atom in difference.atoms)
    return plain and all(coefficient >= 0 for _, coefficient in difference.terms)


def least(a: Dimension, b: Dimension) -> Dimension:
    """The smaller one."""
    if _at_least(b, a):
        return a
    if _at_least(a, b):
        return b
    return read_dimension(f"min({shown(a)}, {shown(b)})")


def largest(a: Dimension, b: Dimension) -> Dimension:
    """The larger one."""
    if _at_least(a, b):
        return a
    if _at_least(b, a):
        return b
    return read_dimension(f"max({shown(a)}, {shown(b)})")


BINARY: dict[str, Callable[[Dimension, Dimension], Dimension]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": quotient,
    "min": least,
    "max": largest,
}


def combined_dimensions(sign: str, a: Array, b: Array) -> Array:
    """Two arrays of sizes, element by element with NumPy's broadcasting."""
    left, right = np.broadcast_arrays(_objects(a), _objects(b))
    return symbolic(_mapped(lambda x, y: BINARY[sign](dimension(x), dimension(y)), left, right))


def total(sign: str, of: Array) -> Array:
    """All elements of an array of sizes together."""
    found = None
    for each in _objects(of).reshape(-1):
        found = dimension(each) if found is None else BINARY[sign](found, dimension(each))
    return symbolic(np.array(found if found is not None else dimension(int(sign == "*")), object))


def _mapped(function: Callable[..., Any], *arrays: Array) -> Array:
    found = np.empty(arrays[0].shape, object)
    flat = [array.reshape(-1) for array in arrays]
    for at in range(found.size):
        found.reshape(-1)[at] = function(*(each[at] for each in flat))
    return found


def _objects(array: Array) -> Array:
    return _mapped(lambda each: each if isinstance(each, Dimension) else dimension(int(each)), array)


def joined(arrays: Sequence[Array]) -> Array:
    """Vectors of sizes one after another."""
    return symbolic(np.concatenate([_objects(array) for array in arrays]))


def bounds(whole: Dimension, start: Dimension, end: Dimension, step: int) -> tuple[Dimension, Dimension]:
    """Where a slice begins and how many elements it has, with ends cut to the axis as NumPy does."""
    low, high = (dimension(0), whole) if step > 0 else (dimension(-1), whole - 1)
    first, last = (_clamped(each, whole, low, high) for each in (start, end))
    distance = last - first if step > 0 else first - last
    number = largest(dimension(0), quotient(distance + (abs(step) - 1), dimension(abs(step))))
    return first, number


def _clamped(at: Dimension, whole: Dimension, low: Dimension, high: Dimension) -> Dimension:
    if at.constant is not None:
        if at.constant >= 2**31 - 1:
            return high
        if at.constant < -(2**31 - 1):
            return low
        counted = at if at.constant >= 0 else whole + at
        if at.constant < 0 and whole.constant is None:
            return counted
    else:
        counted = at
    return largest(low, least(counted, high))
