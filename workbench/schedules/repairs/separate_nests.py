"""Each statement of a nest for itself, or all of them together: fission first, or the step for every statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from workbench.poly.programs.loop_names import LoopName
from workbench.poly.programs.tree import statements
from workbench.schedules.edit import named
from workbench.schedules.legality import Verdict
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.order.decompose_reduction import DecomposeReduction
from workbench.schedules.steps.order.distribute import Distribute
from workbench.schedules.steps.order.interchange import Interchange
from workbench.schedules.steps.order.reorder import Reorder
from workbench.schedules.steps.order.reverse import Reverse
from workbench.schedules.steps.order.shift import Shift
from workbench.schedules.steps.order.skew import Skew
from workbench.schedules.steps.order.tile import Tile
from workbench.schedules.steps.support.execution import Execution
from workbench.schedules.transform import Transform, recipe, together


def distribute_first(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """Each statement in a nest of its own, and the step for every one of them."""
    found = named_by(step)
    if not found:
        return
    site = named(schedule.program, schedule.tree, found[0])[0]
    inside = [schedule.program.statement(s) for s in statements(site.band)]
    for place in range(1, len(inside)):
        cut = Distribute(inside[place].name)
        parts = (inside[:place], inside[place:])
        yield recipe(cut, *(_for(step, part[-1].name) for part in parts))
    for own in inside:
        if own.kind == "update":
            yield recipe(DecomposeReduction(own.name), _for(step, own.name))


def named_by(step: Transform) -> list[str]:
    """The loops that a step of order or execution names; none for another one."""
    match step:
        case Execution():
            return [step.loop]
        case Tile():
            return [name for name, _ in step.sizes]
        case Interchange():
            return [step.first, step.second]
        case Reorder():
            return list(step.order)
    return []


def _for(step: Transform, statement: str) -> Transform:
    """The step on the loops around one statement."""

    def of(loop: str) -> str:
        return LoopName(loop).around(statement)

    match step:
        case Execution():
            return replace(step, loop=of(step.loop))
        case Tile():
            names = tuple((of(name), outer, inner) for name, outer, inner in step.names)
            return replace(step, sizes=tuple((of(name), size) for name, size in step.sizes), names=names)
        case Interchange():
            return replace(step, first=of(step.first), second=of(step.second))
        case Reorder():
            return replace(step, order=tuple(map(of, step.order)))
    return step


def every_statement(schedule: Schedule, step: Transform, verdict: Verdict) -> Iterator[Transform]:
    """`reverse("C/m")` leaves the initialisation of C behind; turned round with it, it may be legal."""
    if not isinstance(step, Skew | Shift | Reverse):
        return
    loop = LoopName(step.loop)
    inside = statements(named(schedule.program, schedule.tree, step.loop)[0].band)
    if loop.statement and len(inside) > 1:
        names = [schedule.program.statement(s).name for s in inside]
        yield together(*(replace(step, loop=loop.around(name)) for name in names))
