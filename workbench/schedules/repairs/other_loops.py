"""The same step where it is legal: another loop of the nest, a block of it, fewer of the loops, or fewer in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from workbench.poly.programs.tree import statements
from workbench.schedules.edit import named, sites, spelt
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.vectorize import Vectorize
from workbench.schedules.steps.order.merge import Merge
from workbench.schedules.steps.order.reorder import Reorder
from workbench.schedules.steps.order.split import Split
from workbench.schedules.steps.order.tile import Tile
from workbench.schedules.steps.support.execution import Execution
from workbench.schedules.transform import Transform, recipe

WIDTHS = (16, 8, 4, 2)


def another_loop(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Threads for the outermost loop of the nest that takes them, lanes for the innermost."""
    if not isinstance(step, Execution):
        return
    own = set(statements(named(schedule.program, schedule.tree, step.loop)[0].band))
    nest = [s for s in sites(schedule.tree) if own & set(statements(s.band)) and s.loop.kind == "serial"]
    for site in reversed(nest) if step.name == "vectorize" else nest:
        yield replace(step, loop=spelt(schedule.program, schedule.tree, site))


def fewer_loops(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """A tile, or an order, of some of the loops."""
    if isinstance(step, Tile):
        for count in range(len(step.sizes) - 1, 1, -1):
            for sizes in combinations(step.sizes, count):
                kept = {name for name, _ in sizes}
                yield replace(step, sizes=sizes, names=tuple(n for n in step.names if n[0] in kept))
    if isinstance(step, Reorder) and len(step.order) > 2:
        for order in combinations(step.order, 2):
            yield Reorder(order)


def fewer_common_loops(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """The outer loops in common, the inner ones apart."""
    if isinstance(step, Merge):
        for depth in range(step.depth - 1, 0, -1):
            yield replace(step, depth=depth)


def lanes_within_distance(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`A(i) = A(i-8)` in blocks of 8: split, then vectorize the points."""
    if not isinstance(step, Vectorize):
        return
    site = named(schedule.program, schedule.tree, step.loop)[0]
    distances = [abs(distance) for v in verdict.violations if (distance := _distance(site.loop.name, v)) is not None]
    if distances and min(distances) > 1:
        for width in WIDTHS:
            if width <= min(distances):
                blocks = Split(step.loop, width)
                yield recipe(blocks, Vectorize(blocks.inner))


def _distance(loop: str, violation: object) -> int | None:
    """How far apart the witness's instances are along a loop that is a dim of both."""
    source, target = getattr(violation, "source", {}), getattr(violation, "target", {})
    return target[loop] - source[loop] if loop in source and loop in target else None
