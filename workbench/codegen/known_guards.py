"""Guards that the ranges of the loops around decide are no guards.

    n_i < 256:  if (0 < 2 - (n_i + 212) / 256) body   →   body

They come from what is computed before a loop that might not run at all.
"""

from __future__ import annotations

from workbench.codegen.launch_extents import Range, interval
from workbench.codegen.nest import Define, For, If, Nest, children, rebuild
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Expr


def without_known(nest: Nest, ranges: dict[str, Range] | None = None) -> Nest:
    """The nest without guards that always hold; `ranges` are those of the variables around."""
    known = {} if ranges is None else ranges
    match nest:
        case If(condition, then) if _holds(condition, known):
            return without_known(then, known)
        case For():
            low, high = interval(nest.lower, known)[0], interval(nest.upper, known)[1]
            known = {**known, nest.variable: (low, None if high is None else high - 1)}
        case Define(variable, value, _):
            known = {**known, variable: interval(value, known)}
    return rebuild(nest, tuple(without_known(child, known) for child in children(nest)))


def _holds(condition: Expr, ranges: dict[str, Range]) -> bool:
    match condition:
        case Binary("<", a, b, _) if a.dtype == b.dtype == INT64:
            low = interval(Binary("-", b, a, INT64), ranges)[0]
            return low is not None and low > 0
    return False
