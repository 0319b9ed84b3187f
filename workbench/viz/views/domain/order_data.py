"""The order of execution as plain data: for each point when it is visited, by which thread, in which lane group."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lang.expr import Index, index_names
from workbench.poly.programs.tree import Loop, at_once, path, statements
from workbench.records import record
from workbench.viz.draw.palette import statement_numbers
from workbench.viz.draw.regions import Regions
from workbench.viz.frames.coordinates import Coordinate, Point, Subject, component, known_axis
from workbench.viz.frames.frame import Asked, Frame, frames
from workbench.viz.views.domain.domain_data import Cell, chosen_groups
from workbench.viz.views.domain.region_data import Times, bound_origins, regions


@record
class Step:
    """Cells visited at once: one, or the lanes of a vector.  `number` counts from 1 within a thread."""

    number: int
    cells: tuple[Cell, ...]


@record
class Thread:
    """What one combination of the parallel loops' values executes, in order; `label` names it (`m_o=1`)."""

    label: str
    steps: tuple[Step, ...]


@record
class Order:
    """The visits of one statement on two axes.

    `number` fixes the statement's colour.  `regions` are the blocks and threads of a GPU, and the tiles that are
    neither: cells that share the loops outside the innermost tile.  `again` counts instances whose cell had been
    visited before.
    """

    title: str
    statement: str
    number: int
    dims: tuple[str, ...]
    x: str
    y: str
    threads: tuple[Thread, ...]
    regions: Regions
    again: int
    loops: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def order_data(of: Subject, asked: Asked) -> Order:
    """When each point of a statement is visited first; by default of the statement with the most dims."""
    for axis in filter(None, (asked.x, asked.y)):
        known_axis(of, axis)
    group = _group(of, asked.statement)
    identifier = of.program.statement(asked.statement or group[0]).id
    prefer = shaped_dims(path(of.tree, identifier))
    (f,) = frames(of, [group], asked, first=prefer, whole=True)
    return _order(f, identifier)


def _group(of: Subject, statement: str | None) -> tuple[str, ...]:
    """The statement alone."""
    if statement is not None:
        chosen_groups(of, statement)
        return (of.program.statement(statement).id,)
    return (max(statements(of.tree), key=lambda s: (len(of.program.statement(s).dims), _reduces(of, s))),)


def _reduces(of: Subject, statement: str) -> bool:
    return of.program.statement(statement).kind == "update"


def shaped_dims(loops: tuple[Loop, ...]) -> tuple[str, ...]:
    """Dims that a step changed: tiled, skewed, or executed other than one after another."""
    changed = [loop for loop in loops if loop.kind != "serial" or any(not isinstance(r, Index) for _, r in loop.rows)]
    names = [n for loop in changed for _, row in loop.rows for n in sorted(index_names(row))]
    return tuple(dict.fromkeys(names))


def _order(f: Frame, identifier: str) -> Order:
    program, loops = f.of.program, path(f.of.tree, identifier)
    own = program.statement(identifier)
    times = [component(program, loop, own, f.drawn.sizes) for loop in loops]
    first, again = _first_visits(f, identifier, times)
    return Order(
        program.name,
        own.name,
        statement_numbers(program)[own.name],
        own.dims,
        f.x,
        f.y,
        _threads(first, loops),
        regions(first, loops, bound_origins(f)),
        again,
        tuple((loop.name, loop.kind) for loop in loops),
        f.notes,
    )


def _first_visits(f: Frame, identifier: str, times: list[Coordinate]) -> tuple[dict[Cell, Times], int]:
    """The earliest time of each cell, and how many later visits there are."""
    first: dict[Cell, Times] = {}
    points: tuple[Point, ...] = f.points[identifier]
    for point in points:
        cell, when = f.cell(identifier, point), tuple(t(point) for t in times)
        if cell not in first or when < first[cell]:
            first[cell] = when
    return first, len(points) - len(first)


def _threads(first: Mapping[Cell, Times], loops: tuple[Loop, ...]) -> tuple[Thread, ...]:
    """Visits split by the parallel loops; what differs only in a vector loop happens at once."""
    parallel = [i for i, loop in enumerate(loops) if at_once(loop.kind)]
    serial = [i for i, loop in enumerate(loops) if loop.kind in ("serial", "unroll")]
    split: dict[Times, dict[Times, list[tuple[Times, Cell]]]] = {}
    for cell, when in first.items():
        thread, date = tuple(when[i] for i in parallel), tuple(when[i] for i in serial)
        split.setdefault(thread, {}).setdefault(date, []).append((when, cell))
    return tuple(
        Thread(
            ", ".join(f"{loops[i].name}={v}" for i, v in zip(parallel, thread, strict=True)),
            tuple(
                Step(n, tuple(cell for _, cell in sorted(visits)))
                for n, (_, visits) in enumerate(sorted(dates.items()), 1)
            ),
        )
        for thread, dates in sorted(split.items())
    )
