"""A schedule's tree with its tiles shrunk, so that a few of them fit a picture."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.expr import Binary, Const, Expr, transform, walk
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, loops

DRAWN_WHOLE = 4
SMALL = (2, 4, 8)


def shrunk(tree: Tree) -> tuple[Tree, dict[int, int]]:
    """The tree with its tile sizes replaced by 2, 4, 8 in their order, and what became what (empty: nothing)."""
    sizes = sorted({d for loop in loops(tree) for _, row in loop.rows for d in _divisors(row)})
    if not sizes or sizes[-1] <= DRAWN_WHOLE:
        return tree, {}
    fewer = SMALL[1:] if len(sizes) == 1 else SMALL
    change = {size: min(size, fewer[min(i, len(fewer) - 1)]) for i, size in enumerate(sizes)}
    return _changed(tree, change), {a: b for a, b in change.items() if a != b}


def largest_tile(tree: Tree, dim: str) -> int:
    """The largest tile size that a loop over a dim has; 0 when it is not tiled."""
    found = [0]
    for loop in loops(tree):
        for _, row in loop.rows:
            if any(getattr(node, "name", None) == dim for node in walk(row)):
                found += _divisors(row)
    return max(found)


def _divisors(row: Expr) -> list[int]:
    return [
        int(node.right.value)
        for node in walk(row)
        if isinstance(node, Binary) and node.op in ("/", "%") and isinstance(node.right, Const) and node.right.value > 1
    ]


def _changed(tree: Tree, change: dict[int, int]) -> Tree:
    match tree:
        case Leaf():
            return tree
        case Mark(_, child):
            return replace(tree, child=_changed(child, change))
        case Sequence(children):
            return Sequence(tuple(_changed(c, change) for c in children))
        case Band(own, child):
            return Band(tuple(_loop(loop, change) for loop in own), _changed(child, change))


def _loop(loop: Loop, change: dict[int, int]) -> Loop:
    return replace(loop, rows=tuple((s, _row(row, change)) for s, row in loop.rows))


def _row(row: Expr, change: dict[int, int]) -> Expr:
    """Factors and divisors of the row that are tile sizes, replaced."""

    def smaller(expr: Expr) -> Expr:
        if isinstance(expr, Const) and isinstance(expr.value, int) and expr.value in change:
            return replace(expr, value=change[expr.value])
        return expr

    def visit(node: Expr) -> Expr:
        if isinstance(node, Binary) and node.op in ("*", "/", "%"):
            return replace(node, left=smaller(node.left), right=smaller(node.right))
        return node

    return transform(row, visit)
