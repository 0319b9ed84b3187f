"""Solve the dimensions of parameters for their size symbols: one unknown at a time, linear with a number."""

from __future__ import annotations

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Size
from workbench.lang.polynomial import Polynomial, split
from workbench.records import record


@record(slots=True)
class Solution:
    """`name = (extent - rest) / factor`, exactly."""

    name: str
    factor: int
    rest: Polynomial


def solve_for(dim: Polynomial, unknown: set[str]) -> Solution | None:
    """The one unknown of a dimension, if it has exactly one and is linear in it with a numeric factor."""
    names = {part.name for part in dim.atoms if isinstance(part, Size) and part.name in unknown}
    if len(names) != 1 or not all(isinstance(part, Size) for part in dim.atoms):
        return None
    (name,) = names
    factor, rest = split(dim, Size(name, INT64)) or (None, dim)
    number = factor.constant if factor else None
    return Solution(name, number, rest) if number else None
