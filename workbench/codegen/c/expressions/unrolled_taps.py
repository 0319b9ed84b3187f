"""Loops that are unrolled though no step says so: the few taps of a sum in registers."""

from __future__ import annotations

from math import prod

from workbench.codegen.nest.nest import For, walk
from workbench.lang.algebra.normal_form import constant

TAPS = 4
"""Iterations of such a loop at most."""

STRAIGHT = 96
"""Sums in a row at most.  More than this was measured to be slower with GCC 12 (256 sums and more: 1.4 to 1.9 times);
convolutions of the suite have at most 84.
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
