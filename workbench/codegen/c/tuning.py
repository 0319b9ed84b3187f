"""For which processors GCC weighs instructions: where a tile of sums has registers for its operands, for none of them.

Tuned for a Zen (`-march=native` there), GCC 12 takes a load for so cheap that it reads a vector of one operand from
memory again for each row of a tile, 12 loads for 8 multiply-adds where 6 would do: tiles of 4 x 2 vectors took twice
their time on a Zen 3.  Where the innermost sum is over a few taps, which compilers write out, operands of neighbouring
taps fill the registers, and reading again is right: a convolution of 3 x 3 took 1.15 of its time with operands held.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.codegen.nest.nest import Accumulate, For, Nest, walk
from workbench.lang.algebra.normal_form import constant
from workbench.target import Target

FEW = 8
"""Steps of a loop at most that compilers write out by themselves; `recipes.products.convolution_tiles` counts on it."""

BITS = 256
"""Wider registers are more, and multiply by what they read from memory."""

ALIKE = """#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX2__)
#pragma GCC target("tune=generic") /* else operands of a register tile are read again for each of its rows */
#endif
"""


def tuning(nest: Nest, target: Target) -> str:
    """What stands before everything else in the C text; "" if nothing need be said."""
    if target.vector_bits != BITS or "avx2" not in target.isa:
        return ""
    steps = [*_steps(nest)]
    return ALIKE if steps and min(steps) > FEW else ""


def _steps(nest: Nest) -> Iterator[float]:
    """How often the innermost loop turns of each sum over cells in registers."""
    for tile in walk(nest):
        if isinstance(tile, Accumulate):
            for loop in walk(tile.body):
                if isinstance(loop, For) and loop.kind == "serial" and _is_around_cells(loop):
                    trip = constant(loop.upper)
                    yield float("inf") if trip is None else trip


def _is_around_cells(loop: For) -> bool:
    """Whether a loop contains cells alone, some of them in lanes."""
    inner = [x for x in walk(loop.body) if isinstance(x, For)]
    return any(x.lanes > 1 for x in inner) and all(x.kind == "unroll" or x.lanes > 1 for x in inner)
