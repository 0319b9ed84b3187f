"""Subscripts: affine, or data (a gather); anything else is refused at its place."""

from __future__ import annotations

from typing import Any

from workbench.fromc.numbers.values import Values
from workbench.lang.expr import Expr, Read, reads, size_names, walk
from workbench.poly.programs.affine import NotAffine, pieces


def require_known(values: Values, node: Any, expr: Expr) -> None:
    """Problem for a subscript that isl cannot say, unless it is one once its sizes have numbers, or reads data."""
    for read in (n for n in walk(expr) if isinstance(n, Read)):
        for subscript in read.subscripts:
            _require(values, node, read, subscript)


def _require(values: Values, node: Any, read: Read, subscript: Expr) -> None:
    if any(reads(subscript)):
        return
    try:
        pieces(subscript)
    except NotAffine as error:
        if error.blame or size_names(error.expr):
            return
        message = f"a subscript of {read.tensor} is not affine: it multiplies or divides loop variables"
        fix = "expected sums of loop variables and sizes with constant factors"
        raise values.problem(message, node, fix) from None
