"""Skewing first: dependences that run backwards along a loop run forwards once an outer loop is added to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.poly.dependence.distances import backwards
from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import statements
from workbench.schedules.edit import Site, find_loops, named, spelt
from workbench.schedules.legality import Verdict
from workbench.schedules.repairs.separate_nests import named_by
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.interchange import Interchange
from workbench.schedules.steps.order.reorder import Reorder
from workbench.schedules.steps.order.skew import Skew
from workbench.schedules.steps.order.tile import Tile
from workbench.schedules.steps.support.execution import Execution
from workbench.schedules.transform import Transform, recipe, together

MOST_SKEWS = 6


def skew_first(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`skew(...) | tile(...)`: the fewest skews that make the loops of a tile or another order permutable."""
    if not isinstance(step, Tile | Interchange | Reorder):
        return
    names = named_by(step)
    for before in step.prerequisites(schedule):
        schedule = before.on(schedule)
    skews = permutable(schedule, names)
    if skews:
        yield recipe(*skews, step)


def wavefront(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Threads or lanes along a diagonal: an outer loop becomes the wave, an inner one has nothing left to wait for."""
    if not isinstance(step, Execution):
        return
    site = named(schedule.program, schedule.tree, step.loop)[0]
    own = [_spelt(schedule, site, position) for position in range(len(site.band.loops))]
    for position in range(len(own)):
        if position == site.position:
            continue
        outer, inner = sorted((position, site.position))
        straight = permutable(schedule, [own[outer], own[inner]])
        if straight is not None:
            yield recipe(*straight, _skew(schedule, site, outer, inner, 1), replace(step, loop=own[inner]))


def permutable(schedule: Schedule, names: list[str]) -> tuple[Transform, ...] | None:
    """Skews after which the loops may be tiled and interchanged at will; None if a few do not do it."""
    skews: tuple[Transform, ...] = ()
    while len(skews) <= MOST_SKEWS:
        sites = sorted(find_loops(schedule.program, schedule.tree, names), key=lambda s: s.position)
        band = sites[0].band
        if any(site.path != sites[0].path for site in sites):
            return None
        chosen = [site.loop for site in sites]
        found = next(backwards(schedule.program, schedule.tree, chosen), None)
        if found is None:
            return skews
        if not found.ahead:
            return None
        by, factor = found.ahead[0]
        places = {loop.name: position for position, loop in enumerate(band.loops)}
        skew = _skew(schedule, sites[0], places[found.loop.name], places[by.name], factor)
        skews = (*skews, skew)
        schedule = skew.on(schedule)
    return None


def _spelt(schedule: Schedule, site: Site, position: int) -> LoopName:
    return spelt(schedule.program, schedule.tree, replace(site, position=position))


def _skew(schedule: Schedule, site: Site, loop: int, by: int, factor: int) -> Transform:
    """Skew one loop of a site's band by another, for every statement in it."""
    name, other = _spelt(schedule, site, loop), _spelt(schedule, site, by)
    inside = statements(site.band)
    if not name.statement or len(inside) == 1:
        return Skew(name, other, factor)
    return together(*(Skew(name.around(schedule.program.statement(s).name), other, factor) for s in inside))
