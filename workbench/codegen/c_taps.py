"""Loops that are unrolled though no step says so: the few taps of a sum in registers."""

from __future__ import annotations

from math import prod

from workbench.codegen.nest import For, walk
from workbench.lang.normal_form import constant

TAPS = 4
"""Iterations of such a loop at most."""

STRAIGHT = 96
"""Sums in a row at most.  GCC computes each cell of a straight line to its end before the next: where many cells get
many contributions, one addition waits for the other, and each cell walks over all rows again.
"""

LONG = 99
"""Iterations of a loop whose number is not known."""


def few_taps(loop: For) -> bool:
    """A few steps of a sum in registers, whose operands overlap: the taps of a convolution along a row."""
    inner = [x for x in walk(loop.body) if isinstance(x, For)]
    if loop.kind != "serial" or constant(loop.lower) != 0 or any(x.kind != "unroll" for x in inner):
        return False
    turns = [-(-(constant(x.upper) or LONG) // x.step) for x in (loop, *inner)]
    return turns[0] <= TAPS and prod(turns) <= STRAIGHT
