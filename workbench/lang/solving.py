"""Solve the dimensions of parameters for their size symbols: one unknown at a time, linear with a number."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lang.expr import Size
from workbench.lang.polynomial import Poly, as_constant


@dataclass(frozen=True, slots=True)
class Solution:
    """`name = (extent - rest) / factor`, exactly."""

    name: str
    factor: int
    rest: Poly


def solve_for(dim: Poly, unknown: set[str]) -> Solution | None:
    """The one unknown of a dimension, if it has exactly one and is linear in it with a numeric factor."""
    names = {part.name for m in dim for part in m if isinstance(part, Size) and part.name in unknown}
    opaque = any(not isinstance(part, Size) for monomial in dim for part in monomial)
    if len(names) != 1 or opaque:
        return None
    (name,) = names
    factor = {m: x for m, x in dim.items() if any(isinstance(part, Size) and part.name == name for part in m)}
    number = as_constant({(): x for x in factor.values()}) if len(factor) == 1 and len(next(iter(factor))) == 1 else None
    if number is None:
        return None
    return Solution(name, number, {m: x for m, x in dim.items() if m not in factor})
