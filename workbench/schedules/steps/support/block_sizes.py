"""Sizes of blocks that are worth a choice: a loop with fewer iterations than a block has is not divided by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.poly.programs.tree import AXES, Loop
from workbench.schedules.edit import Site, sites, spelt
from workbench.schedules.scheduled_program import Schedule

SHORTEST = 3
"""A loop of fewer iterations has no blocks of more than one."""


def iterations(schedule: Schedule, loop: Loop) -> int | None:
    """Between how many values a loop counts; None where open sizes, or data, decide."""
    try:
        limits = poly.row_range(schedule.program, loop)
    except WorkbenchError:
        return None
    return None if limits is None else limits[1] - limits[0] + 1


def dividing_sizes(schedule: Schedule, loop: Loop, sizes: Sequence[int]) -> list[int]:
    """Those of some sizes that divide a loop; all of them where its iterations are not known."""
    count = iterations(schedule, loop)
    return [size for size in sizes if count is None or size < count]


def in_pairs(schedule: Schedule, most: int) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Two loops directly inside one another, none bound, each with the largest block up to `most` that divides it."""
    halved = [most >> n for n in range(most.bit_length() - 1)]
    for pair in pairwise(sites(schedule.tree)):
        if any(site.loop.kind in AXES for site in pair):
            continue  # blocks and threads are blocks already: they were chosen when the loops were bound
        found = [_largest(schedule, site, halved) for site in pair]
        if pair[0].path == pair[1].path and found[0] and found[1]:
            yield found[0], found[1]


def _largest(schedule: Schedule, site: Site, sizes: Sequence[int]) -> tuple[str, int] | None:
    fits = dividing_sizes(schedule, site.loop, sizes)
    return (spelt(schedule.program, schedule.tree, site), fits[0]) if fits else None


def too_short(schedule: Schedule) -> list[str]:
    """The loops that no block divides, as steps name them."""
    counts = [(site, iterations(schedule, site.loop)) for site in sites(schedule.tree)]
    return [spelt(schedule.program, schedule.tree, site) for site, n in counts if n is not None and n < SHORTEST]
