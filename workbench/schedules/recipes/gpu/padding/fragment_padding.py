"""Rows of the tiles that tensor cores read: the stride at which a warp's loads and stores take the fewest turns.

The lanes' addresses follow from the places of the instruction's registers, those of the copies from 16 bytes a thread.
"""

from __future__ import annotations

from workbench import poly
from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.threads.warp_costs import BANKS
from workbench.schedules.kernels.fragment_banks import WORD, busiest, fragment_turns
from workbench.schedules.kernels.warp_instructions import LANES, WarpInstruction
from workbench.schedules.recipes.gpu.lanes import WarpTile
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import storage_align

MOVED = 16
"""Bytes that a thread copies at once."""


def store_turns(length: int, stride: int, element_bytes: int) -> int:
    """Turns of a warp that copies rows of so many elements, 16 bytes a thread, a quarter of the warp at a time."""
    each = MOVED // element_bytes
    starts = [(n // (length // each) * stride + n % (length // each) * each) * element_bytes for n in range(LANES)]
    quarters = [starts[n : n + LANES // 4] for n in range(0, LANES, LANES // 4)]
    return sum(busiest([s // WORD + w for s in q for w in range(MOVED // WORD)]) for q in quarters)


def padded_for_fragments(
    schedule: Schedule, identifier: str, buffers: dict[str, list[int]], kernel: WarpInstruction, depth: str,
    size: WarpTile,
) -> Schedule:  # fmt: skip
    """The tiles with their rows so far apart that a copy and its loads take the fewest turns."""
    if schedule.program.symbols:
        return schedule
    stored = {s.array.name: s for s in poly.storage_of(schedule.program, schedule.tree)}
    own = {r.tensor: r for r in reads_of(*schedule.program.statement(identifier).values)}
    first = next(r.tensor for r in reads_of(*schedule.program.statement(identifier).values) if r.subscripts)
    for buffer, cells in buffers.items():
        kept = stored[buffer].kept
        length = constant(kept[-1][2]) if kept else None
        element, array = stored[buffer].array.dtype.bytes, stored[buffer].array
        if not cells or len(kept) < 2 or kept[-2][0] < array.times or length is None or length % (MOVED // element):
            continue
        across = depth in index_names(own[buffer].subscripts[-1])
        left = buffer == first
        period = BANKS * WORD // element

        def cost(stride: int, left: bool = left, across: bool = across, n: int = length, b: int = element) -> int:
            fragment = kernel.left if left else kernel.right
            strides = (stride, 1) if left == across else (1, stride)
            blocks = (
                size.depth
                // kernel.shape[2]
                * (size.rows // kernel.shape[0] if left else size.warps * size.columns // kernel.shape[1])
            )
            rows = (size.rows if left else size.columns) if across else size.depth
            stores = rows * n * b // (MOVED * LANES)
            return blocks * sum(fragment_turns(fragment, strides, b)) + stores * store_turns(n, stride, b)

        offsets = range(0, period, MOVED // element)
        choices = {length: -1} | {length + (o - length) % period: o for o in offsets}
        best = min(sorted(choices), key=cost)
        if cost(best) < cost(length):
            schedule = storage_align(buffer, kept[-2][0] - array.times, period, choices[best]).on(schedule)
    return schedule
