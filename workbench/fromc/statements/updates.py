"""Assignments that combine something into the cell they write: reductions, once their order is declared free."""

from __future__ import annotations

from workbench.lang.expr import Binary, Call, Expr, Read, Select, reads
from workbench.poly.programs.accumulating import taken_out

IN_ORDER = "#pragma workbench in order"

EXTREMES = {"min": "min", "max": "max", "fmin": "min", "fmax": "max"}


def as_reduction(cell: Read, value: Expr) -> tuple[str, Expr] | None:
    """(reduction, contribution) of `cell = cell + x` and its kind; None where the cell is read in x.

    `fmin`, `fmax` and the conditional forms count as minimum and maximum: without NaN they are.
    """
    plain = taken_out(cell, value)
    if plain is not None:
        return plain
    match value:
        case Binary("+" | "-" as op, left, right, _):
            return _nested(cell, op, left, right, value)
        case Call(name, (left, right), _) if name in EXTREMES and cell in (left, right):
            found = EXTREMES[name], right if left == cell else left
        case Select(Binary("<" | "<=" | ">" | ">=" as op, a, b, _), then, otherwise, _) if {a, b} == {
            then,
            otherwise,
        } and cell in (a, b):
            smaller = (op in ("<", "<=")) == (then == a)
            found = "min" if smaller else "max", b if a == cell else a
        case _:
            return None
    return None if cell in set(reads(found[1])) else found


def _nested(cell: Read, op: str, left: Expr, right: Expr, value: Expr) -> tuple[str, Expr] | None:
    """`cell + a + b` is `cell + (a + b)` once the order is free."""
    inner = as_reduction(cell, left)
    if inner is None or inner[0] != "+" or cell in set(reads(right)):
        return None
    return "+", Binary(op, inner[1], right, value.dtype)
