"""Legality maps: a small grid of steps of one kind, judged a few at a time, each with an estimate of its traffic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.poly.count.counting import every_touch
from workbench.poly.programs.loop_names import loops_of
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop, path
from workbench.records import record
from workbench.schedules import Schedule, interchange, preview, reverse, shift, skew, split, tile, together
from workbench.schedules.transform import Transform, from_json
from workbench.viz.messages.drawn import Remark
from workbench.viz.messages.stepping import Cost, Costs, LegalityMap, LoopTraffic, Spot, Step
from workbench.viz.panels.assumed import with_sizes
from workbench.viz.panels.choosing.remarks import joined, remarks
from workbench.viz.panels.domain.boxes import span
from workbench.viz.panels.domain.traffic import everywhere, node_rows
from workbench.viz.panels.gestures import axis_loop, loop_name, statement_named

SECONDS = 0.03
TILES = (1, 2, 4, 8, 16, 32, 64, 128)
FACTORS = (-3, -2, -1, 0, 1, 2, 3)


@record
class Grid:
    """Steps in rows and columns, row after row; None is the schedule as it is, or no step at all."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    down: str
    across: str
    steps: tuple[Transform | None, ...]


def grid(schedule: Schedule, kind: str, statement: str, x: str, y: str) -> Grid:
    """The steps of a kind around a statement; `x` and `y` are the axes that are looked at."""
    if kind not in KINDS:
        raise WorkbenchError(unknown_name("map", kind, list(KINDS)))
    return KINDS[kind](schedule, statement_named(schedule, statement), x, y)


def _tiles(schedule: Schedule, own: ProgramStatement, x: str, y: str) -> Grid:
    axes = _loops_of(schedule, own, x, y)
    order = path(schedule.tree, own.id)
    sizes = [[n for n in TILES if n <= max(1, _iterations(schedule, own, loop))] for loop in axes]
    across, down = sizes[0], sizes[1] if len(axes) > 1 else [1]

    def step(width: int, height: int) -> Transform | None:
        wanted = [(loop, n) for loop, n in zip(axes, (width, height), strict=False) if n > 1]
        wanted.sort(key=lambda pair: order.index(pair[0]))
        named: dict[str, int] = {loop_name(schedule, own, loop): n for loop, n in wanted}
        return None if not named else tile(named) if len(named) > 1 else split(*next(iter(named.items())))

    steps = tuple(step(width, height) for height in down for width in across)
    rows, columns = (tuple(map(str, n)) for n in (down, across))
    return Grid("tile", rows, columns, y if len(axes) > 1 else "", axes[0].name, steps)


def _skews(schedule: Schedule, own: ProgramStatement, x: str, y: str) -> Grid:
    axes = [loop_name(schedule, own, loop) for loop in _loops_of(schedule, own, x, y)]
    pairs = list(zip(axes, reversed(axes), strict=True)) if len(axes) > 1 else []
    steps = tuple(skew(a, by=b, factor=f) if f else None for a, b in pairs for f in FACTORS)
    return Grid("skew", tuple(f"{a} by {b}" for a, b in pairs), tuple(map(str, FACTORS)), "", "factor", steps)


def _shifts(schedule: Schedule, own: ProgramStatement, x: str, y: str) -> Grid:
    axes = [*loops_of(own.name, (loop.name for loop in _loops_of(schedule, own, x, y)))]

    def step(*by: int) -> Transform | None:
        moved = [shift(name, n) for name, n in zip(axes, by, strict=True) if n]
        return None if not moved else moved[0] if len(moved) == 1 else together(*moved)

    down = FACTORS if len(axes) > 1 else (0,)
    steps = tuple(step(*(a, b)[: len(axes)]) for b in reversed(down) for a in FACTORS)
    rows = tuple(map(str, reversed(down)))
    return Grid("shift", rows, tuple(map(str, FACTORS)), y if len(axes) > 1 else "", axes[0], steps)


def _reversals(schedule: Schedule, own: ProgramStatement, _x: str, _y: str) -> Grid:
    names = [loop_name(schedule, own, loop) for loop in path(schedule.tree, own.id)]
    return Grid("reverse", ("backwards",), tuple(names), "", "loop", tuple(map(reverse, names)))


def _interchanges(schedule: Schedule, own: ProgramStatement, _x: str, _y: str) -> Grid:
    names = [loop_name(schedule, own, loop) for loop in path(schedule.tree, own.id)]
    steps = tuple(interchange(b, a) if i < j else None for i, a in enumerate(names) for j, b in enumerate(names))
    return Grid("interchange", tuple(names), tuple(names), "outer", "inner", steps)


KINDS: dict[str, Callable[[Schedule, ProgramStatement, str, str], Grid]] = {
    "tile": _tiles, "skew": _skews, "shift": _shifts, "reverse": _reversals, "interchange": _interchanges,
}  # fmt: skip


def _loops_of(schedule: Schedule, own: ProgramStatement, x: str, y: str) -> list[Loop]:
    """The loops that two axes mean; one where both mean the same."""
    found = dict.fromkeys(axis_loop(schedule, own, axis) for axis in (x, y) if axis)
    if not found:
        raise WorkbenchError(f"{own.name} has no loops")
    return list(found)


def _iterations(schedule: Schedule, own: ProgramStatement, loop: Loop) -> int:
    """How often a loop runs at the sizes of the map, at most."""
    base = with_sizes(schedule)[0]
    if base is None:
        return TILES[-1]
    row, values = loop.row(own.id), everywhere(base.program, own.id)
    first, last = span(row, {d: (int(v[0]), int(v[-1])) for d, v in values.items()}, base.program.sizes)
    return last - first + 1


# -- judging ---------------------------------------------------------------------------------------------------------


def judged_map(
    schedule: Schedule, of: Grid, only: Iterable[int] | None = None, seconds: float = SECONDS
) -> LegalityMap:  # fmt: skip
    """The map with cells by their place: the step, whether it is legal, why not, and the traffic after it.

    At least one is judged, then as many of `only` (all when None) as there are seconds for; who asks goes on with the
    rest, or does not.
    """
    places = list(range(len(of.steps))) if only is None else [int(i) for i in only]
    for place in places:
        if not 0 <= place < len(of.steps):
            raise WorkbenchError(f"the map has cells 0 to {len(of.steps) - 1}, not {shown(place)}")
    base, note = with_sizes(schedule)
    found: dict[str, Spot] = {}
    end = time.monotonic() + seconds
    for place in places:
        step = of.steps[place]
        if step is not None:
            found[str(place)] = _cell(schedule, step, _cost(base, step)[0])
        elif of.title != "interchange":
            found[str(place)] = {"text": "as it is", "legal": True, "reason": "", "nodes": _cost(base, None)[0]}
        if time.monotonic() > end:
            break
    return {
        "title": of.title, "rows": list(of.rows), "columns": list(of.columns), "down": of.down, "across": of.across,
        "cells": found, "note": note, "touches": _touches(base),
    }  # fmt: skip


def _cell(schedule: Schedule, step: Transform, nodes: list[LoopTraffic]) -> Spot:
    verdict = schedule.can(step)
    reason = "" if verdict else verdict.explain().partition("\n")[0]
    return {"text": str(step), "step": step.to_json(), "legal": bool(verdict), "reason": reason, "nodes": nodes}


def _touches(base: Schedule | None) -> list[int]:
    """Bytes of each statement whose instances keep nothing."""
    return [] if base is None else [every_touch(base.program, s.id) for s in base.program.statements]


def costs_payload(schedule: Schedule, steps: Sequence[Step]) -> Costs:
    """The traffic now, and after as many of some steps as there is time for: `[nodes, touches]` and remarks of each."""
    base, note = with_sizes(schedule)
    end = time.monotonic() + SECONDS
    found: list[Cost] = []
    told: list[Remark] = []
    for data in steps:
        found.append(_cost(base, from_json(data)))
        told.append(joined(remarks(schedule, from_json(data))).message())
        if time.monotonic() > end:
            break
    return {"now": _cost(base, None), "after": found, "remarks": told, "note": note}


def _cost(base: Schedule | None, step: Transform | None) -> Cost:
    """Nodes and touches of a schedule after a step; empty where nothing can be counted."""
    if base is None:
        return [], []
    try:
        after = base if step is None else preview(base, step)
        return node_rows(after), _touches(after)
    except (WorkbenchError, ArithmeticError):
        return [], []


def map_payload(
    schedule: Schedule, kind: str, statement: str, x: str, y: str, only: Sequence[int] | None = None
) -> LegalityMap:  # fmt: skip
    """The grid of a kind of step and its cells so far, for the front end."""
    return judged_map(schedule, grid(schedule, kind, statement, x, y), only)
