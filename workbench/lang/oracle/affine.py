"""Which integer expressions are affine in the indices of a block of the NumPy oracle."""

from __future__ import annotations

from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Size, Unary
from workbench.lang.oracle.blocks import Block
from workbench.lang.oracle.exact import ARITHMETIC, exact

Affine = tuple[int, dict[str, int]] | None


def affine_form(expr: Expr, block: Block) -> Affine:
    """`constant + sum(coefficient * index)` over the indices of a block, or None.

    Only indices with more than one value are kept as unknowns.
    """
    match expr:
        case Index(name, _) if block.lengths.get(name, 0) > 1:
            return 0, {name: 1}
        case Index(name, _) if name in block.starts:
            return block.starts[name], {}
        case Index(name, _):
            return (int(block.fixed[name]), {}) if name in block.fixed else None
        case Const() | Size():
            return int(exact(expr, block.fixed)), {}
        case Cast(operand, _):
            return affine_form(operand, block)
        case Unary("-", operand, _):
            return _scaled(affine_form(operand, block), -1)
        case Binary("+", left, right, _):
            return _sum(affine_form(left, block), affine_form(right, block))
        case Binary("-", left, right, _):
            return _sum(affine_form(left, block), _scaled(affine_form(right, block), -1))
        case Binary("*", left, right, _):
            return _product(affine_form(left, block), affine_form(right, block))
        case Binary(op, left, right, _) if op in "/%":
            return _constant(op, affine_form(left, block), affine_form(right, block))
        case _:
            return None


def _scaled(a: Affine, factor: int) -> Affine:
    return a and (a[0] * factor, {name: c * factor for name, c in a[1].items() if c * factor})


def _sum(a: Affine, b: Affine) -> Affine:
    if a is None or b is None:
        return None
    total = {name: a[1].get(name, 0) + b[1].get(name, 0) for name in a[1] | b[1]}
    return a[0] + b[0], {name: c for name, c in total.items() if c}


def _product(a: Affine, b: Affine) -> Affine:
    if a is None or b is None or (a[1] and b[1]):
        return None
    return _scaled(a, b[0]) if a[1] else _scaled(b, a[0])


def _constant(op: str, a: Affine, b: Affine) -> Affine:
    if a is None or b is None or a[1] or b[1]:
        return None
    return int(ARITHMETIC[op](a[0], b[0])), {}
