"""For which processors GCC weighs instructions: where tiles of sums would read their operands again for each row.

Tuned for a Zen (`-march=native` there), GCC 12 takes a load for so cheap that it reads a vector of one operand from
memory again for each row of a tile of three or four, 12 loads for 8 multiply-adds where 6 would do: tiles of 4 x 2
vectors took twice their time on a Zen 3.  Tiles of five rows and more hold them however GCC is tuned, those of two
never.  Where only the rest has so few, and there are masks, it is left to it: told otherwise, GCC holds these too, and
one of the twelve sums of the other tiles has no register (twice the time).

Where the innermost sum is over a few taps, which compilers write out, operands of neighbouring taps fill the registers,
and reading again is right: a convolution of 3 x 3 took 1.15 of its time with operands held.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import inf, prod

from workbench.codegen.nest.nest import Accumulate, For, Local, Nest, walk
from workbench.lang.algebra.normal_form import constant
from workbench.target import Target

FEW = 8
"""Steps of a loop at most that compilers write out by themselves; `recipes.products.convolution_tiles` counts on it."""

READ_AGAIN = (3, 4)
"""Rows of a tile for each of which its operands would be read."""

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
    tiles = [x for x in walk(nest) if isinstance(x, Accumulate) and any(_steps(x))]
    if not tiles or min(n for x in tiles for n in _steps(x)) <= FEW:
        return ""
    shapes: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for cells in (c for x in tiles for c in x.locals):
        shapes[cells.cell.array].append(_shape(cells))
    masked = any(isinstance(x, For) and x.limit is not None for tile in tiles for x in walk(tile.body))
    told = [shape for own in shapes.values() for shape in ([max(own, key=prod)] if masked else own)]
    return ALIKE if any(_is_read_again(*shape) for shape in told) else ""


def _shape(cells: Local) -> tuple[float, float]:
    """How often a tile uses a vector that it read, and how many it reads."""
    trips = {x.variable: _trip(x) for x in cells.dims}
    across = trips.pop(cells.lane_variable, cells.lanes) / cells.lanes
    return prod(trips.values()), across


def _is_read_again(rows: float, across: float) -> bool:
    """Whether a second vector would take a register's place."""
    return rows in READ_AGAIN and across > 1


def _steps(tile: Accumulate) -> Iterator[float]:
    """How often the innermost loop of a sum over cells in registers turns."""
    for loop in walk(tile.body):
        if isinstance(loop, For) and loop.kind == "serial" and _is_around_cells(loop):
            yield _trip(loop)


def _trip(loop: For) -> float:
    upper, lower = constant(loop.upper), constant(loop.lower)
    return inf if upper is None or lower is None else upper - lower


def _is_around_cells(loop: For) -> bool:
    """Whether a loop contains cells alone, some of them in lanes."""
    inner = [x for x in walk(loop.body) if isinstance(x, For)]
    return any(x.lanes > 1 for x in inner) and all(x.kind == "unroll" or x.lanes > 1 for x in inner)
