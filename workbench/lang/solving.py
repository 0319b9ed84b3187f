"""Solve the dimensions of parameters for their size symbols: one unknown at a time, linear with a number."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lang.expr import Expr, Size
from workbench.lang.polynomial import Poly


@dataclass(frozen=True, slots=True)
class Solution:
    """`name = (extent - rest) / factor`, exactly."""

    name: str
    factor: int
    rest: Poly


def solve_for(dim: Poly, unknown: set[str]) -> Solution | None:
    """The one unknown of a dimension, if it has exactly one and is linear in it with a numeric factor."""
    parts = [part for monomial in dim for part in monomial]
    names = {part.name for part in parts if isinstance(part, Size) and part.name in unknown}
    if len(names) != 1 or not all(isinstance(part, Size) for part in parts):
        return None
    (name,) = names
    factor = {monomial: x for monomial, x in dim.items() if any(_is(part, name) for part in monomial)}
    ((monomial, number), *more) = factor.items()
    if more or len(monomial) != 1:
        return None
    return Solution(name, number, {monomial: x for monomial, x in dim.items() if monomial not in factor})


def _is(part: Expr, name: str) -> bool:
    return isinstance(part, Size) and part.name == name
