"""Guards that the ranges of the loops around decide are no guards.

    n_i < 256:  if (0 < 2 - (n_i + 212) / 256) body   →   body

They come from what is computed before a loop that might not run at all.
"""

from __future__ import annotations

from workbench.codegen.nest.nest import If, Nest, children, rebuild
from workbench.codegen.nest.ranges import Ranges, inside, interval
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Expr


def without_known(nest: Nest, ranges: Ranges | None = None) -> Nest:
    """The nest without guards that always hold; `ranges` are those of the variables around."""
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
