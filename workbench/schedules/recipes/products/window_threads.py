"""What threads divide in a direct convolution: panels of filters, each packed by the thread that uses it, or rows.

    for f_o (parallel): { pack; for n, y, x_o: … }     or     for f_o: { pack; for y (parallel): for n, x_o: … }

Few filters are one panel, which threads do not share; small pictures with many filters have few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from workbench.poly.programs.loop_names import fused_name, over_blocks
from workbench.records import record
from workbench.schedules.analysis.structure import Structure
from workbench.target import Target


@record
class Cut:
    """How a convolution is cut: dims of `batches` outside, `filters`, `width` at a time, then `rows`, and the pixels
    of a `run` of dims that are walked as one, `height` at a time; a multiply-add of a vector takes `slots` times its
    shortest time.
    """

    batches: tuple[str, ...]
    filters: str
    width: int
    rows: tuple[str, ...]
    run: tuple[str, ...]
    height: int
    slots: float

    @property
    def panels(self) -> str:
        """The loop over panels of filters."""
        return str(over_blocks(self.filters))

    def trips(self, shape: Structure) -> dict[str, int]:
        """How often each loop outside of the reduction turns, in their order."""
        found = {d: shape.trip(d) or 1 for d in self.batches}
        found[self.panels] = -(-(shape.trip(self.filters) or 1) // self.width)
        found |= {d: shape.trip(d) or 1 for d in self.rows}
        first, *others = self.run
        pixels = fused_name(*self.run) if others else first
        found[str(over_blocks(pixels))] = -(-prod(shape.trip(d) or 1 for d in self.run) // self.height)
        return found


def divided(shape: Structure, cut: Cut, target: Target) -> tuple[float, str]:
    """(seconds, loop) of the fastest way to divide it: groups of filters that know nothing of one another, panels of
    filters, or rows of the picture.
    """
    ways = [(_seconds(shape, cut, loop, target), loop) for loop in candidates(shape, cut)]
    return min(ways, key=lambda way: way[0])


def candidates(shape: Structure, cut: Cut) -> Sequence[str]:
    """Loops that threads may divide, what they do by themselves first: the outermost one that turns more than once."""
    trips = cut.trips(shape)
    usual = (*cut.batches, cut.panels)[0]
    return [usual, *(loop for loop, trip in trips.items() if loop != usual and trip > 1)]


def _seconds(shape: Structure, cut: Cut, loop: str, target: Target) -> float:
    """Seconds if threads divide a loop: the share of the slowest one, and all that is begun and packed for it."""
    trips, costs = cut.trips(shape), target.costs
    lanes = target.lanes(8 * max(4, *(v.dtype.bytes for v in shape.statement.values)))
    vectors = -(-(shape.trip(cut.filters) or 1) // lanes)
    depth = prod(shape.trip(d) or 1 for d in shape.reduced)
    groups = prod(shape.trip(d) or 1 for d in cut.batches)
    steps = depth * vectors * groups * prod(shape.trip(d) or 1 for d in (*cut.rows, *cut.run))
    computed, packed = steps * cut.slots * costs.multiply_add_seconds, depth * vectors * groups
    share = -(-trips[loop] // target.cores) / trips[loop]
    order = [*trips]
    filters = order.index(cut.panels)
    shared = order.index(loop) <= filters
    regions = prod(list(trips.values())[: order.index(loop)] if shared else list(trips.values())[: filters + 1])
    packing = packed * costs.copied_vector_seconds * (share if shared else 1.0)
    return computed * share + packing + (regions * costs.region_seconds if target.cores > 1 else 0.0)
