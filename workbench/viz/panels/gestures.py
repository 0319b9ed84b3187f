"""Gestures become steps: what a drag over points, a loop dropped on another, or a statement dropped on a nest means."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import ScheduleError, WorkbenchError, shown, unknown_name
from workbench.lang.expr import Binary, index_names
from workbench.poly.programs.loop_names import LoopName, loop_of, plain
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop, loops, path
from workbench.schedules import Schedule, distribute, interchange, merge, reorder, skew, split, tile
from workbench.schedules.transform import Transform
from workbench.viz.messages.stepping import Judged
from workbench.viz.panels.domain.points import counted

if TYPE_CHECKING:
    from workbench.viz.panels.widget import Panel


def step_for(schedule: Schedule, name: str, given: dict[str, Any]) -> Transform:
    """The step that a gesture stands for; ScheduleError where it stands for none here."""
    if name not in GESTURES:
        raise WorkbenchError(unknown_name("gesture", name, list(GESTURES)))
    return GESTURES[name](schedule, **given)


def judged(panel: Panel, name: str, given: dict[str, Any]) -> Judged:
    """Whether the step of a gesture that is not finished would be legal."""
    step = step_for(panel.schedule, name, given)
    return {"text": str(step), "legal": bool(panel.schedule.can(step))}


def _tile(schedule: Schedule, statement: str, x: str, y: str, width: int, height: int) -> Transform:
    """A drag over width × height points: blocks of that size, of the loops that count the two axes."""
    own = statement_named(schedule, statement)
    order = path(schedule.tree, own.id)
    wanted = [(axis_loop(schedule, own, axis), size) for axis, size in ((x, width), (y, height)) if axis and size > 1]
    if not wanted:
        raise ScheduleError("a tile of one point changes nothing: drag over more, or give a size above 1")
    wanted.sort(key=lambda pair: order.index(pair[0]))
    sizes: dict[str, int] = {loop_name(schedule, own, loop): size for loop, size in wanted}
    if len(sizes) == 1:
        return split(*next(iter(sizes.items())))
    return tile(sizes)


def _skew(schedule: Schedule, statement: str, loop: str, by: str, factor: int) -> Transform:
    own = statement_named(schedule, statement)
    moved, steady = (loop_name(schedule, own, axis_loop(schedule, own, axis)) for axis in (loop, by))
    return skew(moved, by=steady, factor=factor)


def _interchange(schedule: Schedule, statement: str, first: str, second: str) -> Transform:
    """The loops of two axes in each other's place."""
    own = statement_named(schedule, statement)
    return _exchanged(schedule, own, axis_loop(schedule, own, first), axis_loop(schedule, own, second))


def _swap(schedule: Schedule, first: str, second: str) -> Transform:
    """A loop dropped on another; both as steps name them (`m`, `C/m`)."""
    own, around = _around_both(schedule, first, second)
    by_name = {loop.name: loop for loop in around}
    return _exchanged(schedule, own, *(by_name[plain(name)] for name in (first, second)))


def _around_both(schedule: Schedule, first: str, second: str) -> tuple[ProgramStatement, tuple[Loop, ...]]:
    """A statement that both loops are around, and all loops around it."""
    pairs = [(s, path(schedule.tree, s.id)) for s in schedule.program.statements]
    a, b = plain(first), plain(second)
    prefer = {LoopName(x).statement for x in (first, second)}
    fits = [(s, around) for s, around in pairs if {a, b} <= {loop.name for loop in around}]
    fits.sort(key=lambda pair: pair[0].name not in prefer)
    if not fits or a == b:
        raise ScheduleError(f"{first} and {second} are not loops around one statement: they cannot change places")
    return fits[0]


def _move(schedule: Schedule, loop: str, target: str, place: str) -> Transform:
    """A loop dropped between rows: directly outside another (`place` "before") or inside it; the others keep order."""
    own, around = _around_both(schedule, loop, target)
    names = [loop_name(schedule, own, x) for x in around]
    a, b = (next(i for i, x in enumerate(around) if x.name == plain(name)) for name in (loop, target))
    order = [n for i, n in enumerate(names) if i != a]
    order.insert(order.index(names[b]) + (place == "after"), names[a])
    low = min(i for i, (x, y) in enumerate(zip(names, order, strict=True)) if x != y) if order != names else None
    if low is None:
        raise ScheduleError(f"{loop} stands there already")
    high = max(i for i, (x, y) in enumerate(zip(names, order, strict=True)) if x != y)
    moved = order[low : high + 1]
    return interchange(moved[1], moved[0]) if len(moved) == 2 else reorder(*moved)


def _blocks(schedule: Schedule, sizes: dict[str, int]) -> Transform:
    """Sizes typed beside loops, as steps name these: blocks of those above 1."""
    wanted = {name: int(size) for name, size in sizes.items() if int(size) > 1}
    if not wanted:
        raise ScheduleError("blocks of one iteration change nothing: give a size above 1")
    return split(*next(iter(wanted.items()))) if len(wanted) == 1 else tile(wanted)


def _exchanged(schedule: Schedule, own: ProgramStatement, a: Loop, b: Loop) -> Transform:
    order = path(schedule.tree, own.id)
    outer, inner = sorted((a, b), key=order.index)
    if outer is inner:
        raise ScheduleError(f"both axes are counted by one loop, {outer.name}: there is nothing to interchange")
    return interchange(loop_name(schedule, own, inner), loop_name(schedule, own, outer))


def _merge(schedule: Schedule, first: str, second: str) -> Transform:
    """A statement dropped on a nest: the two share their outermost loop, in the order they run in."""
    a, b = statement_named(schedule, first), statement_named(schedule, second)
    names = [s.name for s in schedule.program.statements]
    if a is b:
        raise ScheduleError(f"{first} was dropped on itself")
    before, after = sorted((a.name, b.name), key=names.index)
    return merge(before, after)


def _distribute(schedule: Schedule, statement: str) -> Transform:
    """A statement, and what follows it, in a nest of its own."""
    return distribute(statement_named(schedule, statement).name)


def statement_named(schedule: Schedule, name: str) -> ProgramStatement:
    """The statement that a person calls so; WorkbenchError that lists the known ones."""
    own = schedule.program.statements
    try:
        return next(s for s in own if s.name == name)
    except StopIteration:
        raise WorkbenchError(unknown_name("statement", shown(name), [s.name for s in own])) from None


def axis_loop(schedule: Schedule, own: ProgramStatement, axis: str) -> Loop:
    """The loop around a statement that an axis means: that of its name, or the innermost that walks along the dim."""
    around = path(schedule.tree, own.id)
    named = [loop for loop in around if axis in (loop.name, counted(schedule.program, loop))]
    walking = [loop for loop in around if axis in index_names(row := loop.row(own.id)) and not _counts_blocks(row)]
    if not named and not walking:
        raise ScheduleError(
            f"no loop around {own.name} walks along {axis}; there are {', '.join(x.name for x in around)}"
        )
    return (named or walking)[-1]


def _counts_blocks(row: Any) -> bool:
    return isinstance(row, Binary) and row.op == "/"


def loop_name(schedule: Schedule, own: ProgramStatement, loop: Loop) -> LoopName:
    """The name a step gives a loop: with a statement where several loops share it."""
    twice = [other.name for other in loops(schedule.tree)].count(loop.name) > 1
    return loop_of(own.name if twice else "", loop.name)


GESTURES: dict[str, Callable[..., Transform]] = {
    "tile": _tile, "skew": _skew, "interchange": _interchange, "swap": _swap, "merge": _merge,
    "distribute": _distribute, "move": _move, "blocks": _blocks,
}  # fmt: skip
