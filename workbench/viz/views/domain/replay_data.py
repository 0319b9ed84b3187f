"""A replay as plain data: where every moment's instances stand, the cells they touch, and what a small cache finds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.records import record
from workbench.viz.draw.axes import Axes, axes_for
from workbench.viz.frames.frame import Frame
from workbench.viz.views.domain.array_grids import Grid, grids
from workbench.viz.views.domain.cache_lines import Cache, Layout, Simulation, memory_layout
from workbench.viz.views.domain.domain_data import Cell
from workbench.viz.views.domain.execution import Event, Execution, Moment

LARGEST_UNIT = 24.0


@record
class Board:
    """One coordinate system with the statements (ids) on it."""

    statements: tuple[str, ...]
    axes: Axes
    cells: tuple[Cell, ...]


@record
class Touched:
    """One touch in one moment: `hit` says whether the cache held its line."""

    array: str
    element: int
    writes: bool
    hit: bool


@record
class Shot:
    """One moment: places that are executed (board, cell, thread), what is touched, which lines the cache then holds."""

    places: tuple[tuple[int, Cell, int], ...]
    touched: tuple[Touched, ...]
    lines: tuple[int, ...]


@record
class Reel:
    """All moments in order."""

    execution: Execution
    cache: Cache
    layout: Layout
    boards: tuple[Board, ...]
    grids: tuple[Grid, ...]
    shots: tuple[Shot, ...]

    def hits(self, upto: int) -> tuple[int, int]:
        """(hits, touches) of the moments up to and with one."""
        touched = [t for shot in self.shots[: upto + 1] for t in shot.touched]
        return sum(t.hit for t in touched), len(touched)


def reel(execution: Execution, cache: Cache) -> Reel:
    """The moments with their places and the cache's answers."""
    boards = tuple(_board(execution, n) for n in range(len(execution.frames)))
    layout = memory_layout(execution.arrays, cache)
    simulation = Simulation(cache)
    shots = tuple(_shot(execution, boards, layout, simulation, moment) for moment in execution.moments)
    return Reel(execution, cache, layout, boards, grids(execution.arrays), shots)


def _board(execution: Execution, number: int) -> Board:
    """The axes around everything that is executed there, no larger than a film needs."""
    frame = execution.frames[number]
    own = set(frame.shown)
    instances = ((e.statement, i) for m in execution.moments for e in m if e.statement in own for i in e.instances)
    places = dict.fromkeys((s, frame.cell(s, i)) for s, i in instances)
    cells = tuple(dict.fromkeys(cell for _, cell in places))
    lanes = [_lanes(frame, places, axis) if name else frozenset() for axis, name in enumerate((frame.x, frame.y))]
    axes = axes_for(frame.x, frame.y, cells, *lanes)
    return Board(frame.shown, replace(axes, unit=min(axes.unit, LARGEST_UNIT)), cells)


def _lanes(frame: Frame, places: Iterable[tuple[str, Cell]], axis: int) -> frozenset[int]:
    """Places beside the domain, where statements without this axis stand."""
    beside = {cell[axis] for s, cell in places if frame.coordinates[s][axis] is None}
    return frozenset(beside - {cell[axis] for s, cell in places if frame.coordinates[s][axis] is not None})


def _shot(
    execution: Execution, boards: tuple[Board, ...], layout: Layout, simulation: Simulation, moment: Moment
) -> Shot:
    places = dict.fromkeys(place for event in moment for place in _places(execution, boards, event))
    touched: list[Touched] = []
    for touch in (t for event in moment for t in event.touches):
        hit = simulation.touch(layout.line_of(touch.array, touch.element))
        touched.append(Touched(touch.array, touch.element, touch.kind != "read", hit))
    return Shot(tuple(places), tuple(touched), tuple(simulation.held))


def _places(execution: Execution, boards: tuple[Board, ...], event: Event) -> list[tuple[int, Cell, int]]:
    for number, board in enumerate(boards):
        if event.statement in board.statements:
            frame = execution.frames[number]
            return [(number, frame.cell(event.statement, i), event.thread or 0) for i in event.instances]
    return []
