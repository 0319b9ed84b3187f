"""Guards of tails: those that the ranges of the loops around decide are none, and whole pieces need one question.

    for n < min(32 - 16*k_o, 16): body      →      if (k_o < 2) for n < 16: body

in place of a bound that each thread looks at.  So it is with copies that are ahead: in the last iterations there is
nothing to copy.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import For, If, Nest, children, rebuild, transform
from workbench.codegen.nest.ranges import Ranges, inside, interval
from workbench.lang.algebra.normal_form import constant, polynomial, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index
from workbench.poly.time.concurrency import is_block


def without_known(nest: Nest, ranges: Ranges | None = None) -> Nest:
    """The nest without guards that always hold; `ranges` are those of the variables around.

        n_i < 256:  if (0 < 2 - (n_i + 212) / 256) body   →   body

    They come from what is computed before a loop that might not run at all.
    """
    known = {} if ranges is None else ranges
    if isinstance(nest, If) and _holds(nest.condition, known):
        return without_known(nest.then, known)
    inner = inside(nest, known)
    return rebuild(nest, tuple(without_known(child, inner) for child in children(nest)))


def _holds(condition: Expr, ranges: Ranges) -> bool:
    match condition:
        case Binary("<", a, b, _) if a.dtype == b.dtype == INT64:
            low = interval(Binary("-", b, a, INT64), ranges)[0]
            return low is not None and low > 0
    return False


def in_whole_pieces(nest: Nest) -> Nest:
    """The nest with the number of iterations of such loops constant, under a guard."""
    return transform(nest, _whole)


def _whole(node: Nest) -> Nest:
    if not isinstance(node, For) or is_block(node.kind) or constant(node.lower) != 0 or node.step != 1:
        return node
    found = _length(node.upper)
    if found is None:
        return node
    left, length = found
    return If(_there(simplify(Binary("/", left, length, INT64))), replace(node, upper=length))


def _there(pieces: Expr) -> Expr:
    """Whether there is a piece: `k_o < 2` for 2 - k_o of them."""
    match pieces:
        case Binary("-", Const() as all_pieces, Index() as before, _):
            return Binary("<", before, all_pieces, BOOL)
    return Binary(">=", pieces, Const(1, INT64), BOOL)


def _length(upper: Expr) -> tuple[Expr, Const] | None:
    """(what is left, the piece's length), where what is left is a multiple of the length."""
    if not isinstance(upper, Call) or upper.function != "min" or len(upper.arguments) != 2:
        return None
    for left, length in (upper.arguments, upper.arguments[::-1]):
        number = constant(length) or 0
        if isinstance(length, Const) and number > 1 and constant(left) is None and _divides(number, left):
            return left, length
    return None


def _divides(number: int, left: Expr) -> bool:
    return all(factor % number == 0 for _, factor in polynomial(left).terms)
