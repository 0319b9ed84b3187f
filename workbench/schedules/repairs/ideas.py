"""The list of ideas.  Each is a function (schedule, refused step, verdict) → recipes worth trying."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.barrier_insertion import atomic_updates, fewest_barriers
from workbench.schedules.repairs.blocks_of_lanes import lanes_within_distance
from workbench.schedules.repairs.looser_fusion import fewer_common_loops
from workbench.schedules.repairs.other_loops import another_loop, fewer_loops
from workbench.schedules.repairs.private_results import split_the_reduction
from workbench.schedules.repairs.separate_nests import distribute_first
from workbench.schedules.repairs.shifting import reverse_first, shift_first
from workbench.schedules.repairs.skewing import skew_first, wavefront
from workbench.schedules.repairs.whole_nests import every_statement
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform

Idea = Callable[[Schedule, Transform, Verdict], Iterator[Transform]]

KEEPING: tuple[Idea, ...] = (
    split_the_reduction, skew_first, shift_first, reverse_first, distribute_first, lanes_within_distance,
    every_statement, fewest_barriers, atomic_updates,
)  # fmt: skip
ELSEWHERE: tuple[Idea, ...] = (another_loop, fewer_loops, fewer_common_loops, wavefront)
