"""Subscripts that count through memory together become one: `A(x / 9, x % 9)` lies `x` elements from the first one.

So what `fuse` made of rows and columns is one run of neighbours for lanes, register tiles and addresses.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Cell, Nest, Write, transform
from workbench.lang.algebra.normal_form import exact_quotient, polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial, expression
from workbench.lang.algebra.quotients import divisions, in_quotients
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr, Read, reads
from workbench.lang.expr import transform as transform_expr
from workbench.poly.programs.program import Array, Program


def collapsed(nest: Nest, program: Program) -> Nest:
    """The nest with every cell in the subscripts that need the fewest divisions; addresses stay the same."""

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in program.arrays:
            return replace(node, subscripts=joined(program.arrays[node.tensor], node.subscripts))
        return node

    def cell(own: Cell) -> Cell:
        subscripts = tuple(transform_expr(s, change) for s in own.subscripts)
        return replace(own, subscripts=joined(program.arrays[own.array], subscripts))

    def moved(node: Nest) -> Nest:
        if not isinstance(node, Write):
            return node
        values = tuple(transform_expr(v, change) for v in node.values)
        return replace(node, cells=tuple(map(cell, node.cells)), values=values)

    return transform(nest, moved)


def joined(array: Array, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The subscripts, those that divide the same variables joined into the innermost of them where divisions cancel.

    The others of such a group stand at their lowest value, and the joined one may leave its dimension.
    """
    found = list(subscripts)
    for group in _groups(subscripts):
        place = _place(array, subscripts, group)
        if place is not None:
            position, value = place
            for d in group:
                found[d] = array.lower[d]
            found[position] = expression(polynomial(array.lower[position]) + value, INT64)
    return tuple(found)


def _groups(subscripts: tuple[Expr, ...]) -> list[list[int]]:
    """Positions whose quotients and remainders are of common variables."""
    groups: list[tuple[set[str], list[int]]] = []
    for position, subscript in enumerate(subscripts):
        names = set() if any(reads(subscript)) else _divided(polynomial(subscript))
        if not names:
            continue
        met = [g for g in groups if g[0] & names]
        groups = [g for g in groups if g not in met]
        names = names.union(*(g[0] for g in met))
        groups.append((names, [*(d for g in met for d in g[1]), position]))
    return [positions for _, positions in groups]


def _divided(form: Polynomial) -> set[str]:
    """The variables inside quotients and remainders."""
    return {name for part in divisions(form) for name in polynomial(part).indices}


def _place(array: Array, subscripts: tuple[Expr, ...], group: list[int]) -> tuple[int, Polynomial] | None:
    """(the position that takes all, its distance from the lowest value), None where a division stays."""
    total = ZERO
    for d in group:
        total += (polynomial(subscripts[d]) - polynomial(array.lower[d])) * polynomial(array.strides[d])
    flat = in_quotients(total)
    if divisions(flat):
        return None
    for position in reversed(group):
        stride = polynomial(array.strides[position])
        if len(stride.terms) == 1:
            value, rest = exact_quotient(flat, stride)
            if not rest:
                return position, value
    return None
