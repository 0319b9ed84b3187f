"""The same step where it is legal: another loop of the nest, or fewer of the loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from workbench.poly.programs.tree import statements
from workbench.schedules.edit import named, sites, spelt
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.execution.loops import Execution
from workbench.schedules.steps.order.interchange import Interchange
from workbench.schedules.steps.order.tile import Tile
from workbench.schedules.transform import Transform


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
    if isinstance(step, Interchange) and len(step.order) > 2:
        for order in combinations(step.order, 2):
            yield Interchange(order)
