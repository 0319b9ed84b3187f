"""The iteration domain for the front end: instances with their times and cells, dependences as pairs of instances."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod

import numpy as np

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.lang.expr import Expr, Index
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path, statements
from workbench.poly.regions.extents import extent
from workbench.schedules import Schedule
from workbench.schedules.schedule_text import loop_value
from workbench.viz.draw.palette import array_numbers, statement_numbers
from workbench.viz.frames.coordinates import Point, groups
from workbench.viz.frames.frame import Asked, Frame, frames, windows
from workbench.viz.frames.small_sizes import drawn_for
from workbench.viz.messages.drawn import Access, Arrows, Domain, Instances, Nest
from workbench.viz.panels.domain.numbers import Numbers, Packed, column
from workbench.viz.views.domain.cache_lines import scale
from workbench.viz.views.domain.region_data import tile_depth
from workbench.viz.views.domain.small_problem import small_enough
from workbench.viz.views.program.program_rows import statement_line

MOST_PAIRS = 40_000
MOST_POINTS = 250_000
LONGEST_AXIS = 16  # in letters


def domain_payload(schedule: Schedule, asked: Asked, packed: Packed) -> Domain:
    """Statements with their instances, nests with their axes, dependences; tables go into `packed`.

    The schema stands in docs/panel.md.  Sizes are small ones, as in `viz.domain`, unless `asked` names them.
    """
    found = drawn_frames(schedule, asked)
    first = found[0]
    program, tree = first.of.program, first.of.tree
    points = tables(first)
    whens = moments(program, tree, points, first.drawn.sizes)
    sizes = {**program.sizes, **first.drawn.sizes}
    smaller = scale(schedule.program, program, sizes)
    numbers = {**statement_numbers(program), **statement_numbers(schedule.program)}  # the same as among the loops
    costs = _costs(schedule.program, program, points)
    return {
        "notes": _notes(schedule, asked, sizes, found),
        "scale": {"data": smaller.data, "row": smaller.row},
        "arrays": {name: array.dtype.bytes for name, array in program.arrays.items()},
        "marks": {**array_numbers(program), **array_numbers(schedule.program)},
        "sizes": sizes,
        "statements": [
            {
                "name": s.name,
                "number": numbers[s.name],
                "cost": costs[s.name],
                **_instances(program, tree, s, points, whens, first, packed),
            }
            for s in program.statements
        ],
        "nests": [_nest(program, tree, f) for f in found],
        "arrows": _arrows(first, points, packed),
    }


def _costs(own: Program, drawn: Program, points: dict[str, Numbers]) -> dict[str, float]:
    """Name → operations and touches of all instances: at the program's own sizes, where domains count as the boxes
    around them.  Of open sizes, and where a step changed instances, whose dims depend on one another: as drawn.
    """
    work = {s: len(s.accesses) + (0 if s.kind == "initialise" else poly.operations(s)) for s in drawn.statements}
    boxes = {s.name: [extent(own, s.id, dim) for dim in s.dims] for s in own.statements if own.parent is None}
    if not boxes or any(None in box for box in boxes.values()):
        return {s.name: float(work[s] * len(points[s.id])) for s in drawn.statements}
    return {s.name: float(work[s] * prod(n or 0 for n in boxes.get(s.name, ()))) for s in drawn.statements}


def _notes(schedule: Schedule, asked: Asked, sizes: dict[str, int], found: list[Frame]) -> list[str]:
    """What the picture leaves out; sizes that are not the schedule's own are always said."""
    told = dict.fromkeys(note for f in found for note in f.notes)
    own, given = schedule.original, asked.sizes or {}
    changed = {n: v for n, v in sizes.items() if own.sizes.get(n) != v and n not in given}
    if any(note.startswith("drawn for") for note in told) or not (note := drawn_for(own, changed)):
        return list(told)
    return [note, *told]


def drawn_frames(schedule: Schedule, asked: Asked) -> list[Frame]:
    """A frame for each nest, at sizes small enough to list every instance."""
    of, asked = small_enough(schedule, asked)
    return frames(of, groups(of.tree), asked, first=_slid(of.program), whole=True, elsewhere=True)


def _slid(program: Program) -> tuple[str, ...]:
    """The dims along which windows slide, where they do in two directions or more: one looks at an image as it is."""
    found = [sorted({slid for slid, _ in windows(s)}, key=s.dims.index) for s in program.statements]
    return tuple(dict.fromkeys(dim for dims in found if len(dims) > 1 for dim in dims))


def tables(frame: Frame) -> dict[str, Numbers]:
    """The instances of every statement (by id) at the drawn sizes."""
    program, drawn = frame.of.program, frame.drawn
    return {s.id: _table(program, s.id, tuple(drawn.sizes.items()), drawn.window) for s in program.statements}


# Remembered, as most steps change the order and not the instances.
@lru_cache(maxsize=64)
def _table(program: Program, statement: str, sizes: tuple[tuple[str, int], ...], window: int | None) -> Numbers:
    rows = poly.instances_at(program, statement, dict(sizes), window=window, limit=MOST_POINTS)
    return np.asarray(rows, np.int32).reshape(len(rows), len(program.statement(statement).dims))


def _instances(
    program: Program, tree: Tree, own: ProgramStatement, points: dict[str, Numbers], whens: dict[str, Numbers],
    frame: Frame, packed: Packed,
) -> Instances:  # fmt: skip
    mine, around = points[own.id], path(tree, own.id)
    known = {**program.sizes, **frame.drawn.sizes}
    numbers = loop_numbers(program, tree)
    times = [column(loop.row(own.id), own.dims, mine, known) for loop in around]
    return {
        "dims": list(own.dims),
        "does": statement_line(own),
        "loops": [loop.name for loop in around],
        "numbers": [numbers[loop] for loop in around],
        "kinds": [loop.kind for loop in around],
        "counts": [counted(program, loop) for loop in around],
        "plain": [isinstance(loop.row(own.id), Index) for loop in around],
        "tiled": tile_depth(around),
        "points": packed.add(mine),
        "times": packed.add(np.stack(times, axis=1) if times else np.zeros((len(mine), 0), np.int32)),
        "when": packed.add(whens[own.id].reshape(-1, 1)),
        "accesses": list(_accesses(own, mine, known, packed)),
    }


@lru_cache(maxsize=16)
def loop_numbers(program: Program, tree: Tree) -> dict[Loop, int]:
    """Loop → its number: a loop around several statements has the same one for all of them."""
    return {loop: n for n, loop in enumerate(dict.fromkeys(x for s in program.statements for x in path(tree, s.id)))}


def _accesses(
    own: ProgramStatement, points: Numbers, known: dict[str, int], packed: Packed
) -> Iterator[Access]:
    """The cell of each access at each instance; `cells` is missing where data decide it."""
    for access in own.accesses:
        shown: Access = {"array": access.array, "kind": access.kind}
        try:
            cells = [column(e, own.dims, points, known) for e in access.subscripts]
        except (ValueError, KeyError):
            yield shown
            continue
        yield {**shown, "cells": packed.add(np.stack(cells, 1) if cells else np.zeros((len(points), 0), np.int32))}


def _nest(program: Program, tree: Tree, frame: Frame) -> Nest:
    names = [s.id for s in program.statements]
    dims = dict.fromkeys(d for s in frame.group for d in program.statement(s).dims)
    loops = dict.fromkeys(x.name for s in frame.group for x in path(tree, s) if not _is_dim(x, s))
    own = {s: program.statement(s).dims for s in frame.group}
    moved = [x for s in frame.group for x in path(tree, s) if x.name in own[s] and not _is_dim(x, s)]
    counts = {text: x.name for x in moved if (text := counted(program, x)) and text not in dims}
    return {
        "statements": [names.index(s) for s in frame.group],
        "x": frame.x,
        "y": frame.y,
        "axes": [*dims, *(name for name in loops if name not in dims), *counts],
        "counts": counts,
    }


def counted(program: Program, loop: Loop) -> str:
    """What the axis of a loop is called whose dim counts something else by now: `i + t`; nothing for a plain dim."""
    value = loop_value(program, loop)
    return value if len(value) <= LONGEST_AXIS else f"loop {loop.name}"


def _is_dim(loop: Loop, statement: str) -> bool:
    row = loop.row(statement)
    return isinstance(row, Index) and row.name == loop.name


def _arrows(frame: Frame, points: dict[str, Numbers], packed: Packed) -> list[Arrows]:
    """Dependences as pairs of rows of the two statements' tables; none when there are too many."""
    program, drawn = frame.of.program, frame.drawn
    names = [s.id for s in program.statements]
    try:
        known = dependences_between(program, tuple(drawn.sizes.items()), drawn.window)
    except WorkbenchError:
        return []
    rows = {s: row_numbers(mine) for s, mine in points.items()}
    found: list[Arrows] = []
    for pairs in known:
        d = pairs.dependence
        ends = [
            (rows[d.source][a], rows[d.target][b])
            for a, b in pairs.pairs
            if a in rows[d.source] and b in rows[d.target]
        ]
        if ends:
            found.append({
                "kind": d.kind, "array": d.array, "source": names.index(d.source), "target": names.index(d.target),
                "pairs": packed.add(np.asarray(ends, np.int32)),
            })  # fmt: skip
    return found


@lru_cache(maxsize=16)
def dependences_between(
    program: Program, sizes: tuple[tuple[str, int], ...], window: int | None
) -> tuple[poly.Pairs, ...]:
    """`poly.dependence_pairs`, remembered: most steps change the order and not the program."""
    return poly.dependence_pairs(program, dict(sizes), window=window, limit=MOST_PAIRS)


def row_numbers(points: Numbers) -> dict[Point, int]:
    """Point → its row."""
    return {tuple(point): row for row, point in enumerate(points.tolist())}


# -- when ------------------------------------------------------------------------------------------------------------


def moments(
    program: Program, tree: Tree, points: dict[str, Numbers], sizes: dict[str, int]
) -> dict[str, Numbers]:  # fmt: skip
    """The place of each instance in the order of execution by one thread, counted from 0 over all statements."""
    known = {**program.sizes, **sizes}
    order = [s.id for s in program.statements]
    dates = {s: _date(program.statement(s), tree, points[s], known) for s in order}
    depth = max((d.shape[1] for d in dates.values()), default=0)
    padded = [np.pad(d, ((0, 0), (0, depth - d.shape[1]))) for d in dates.values()]
    whole = np.concatenate(padded) if padded else np.zeros((0, 0), np.int32)
    ranks = np.empty(len(whole), np.int32)
    keys = tuple(whole[:, i] for i in reversed(range(depth)))
    ranks[np.lexsort(keys) if keys else np.arange(len(whole))] = np.arange(len(whole), dtype=np.int32)
    ends = np.cumsum([len(points[s]) for s in order])[:-1]
    return dict(zip(order, np.split(ranks, ends), strict=True))


def _date(own: ProgramStatement, tree: Tree, points: Numbers, known: dict[str, int]) -> Numbers:
    parts = [
        np.full(len(points), part, np.int32) if isinstance(part, int) else column(part, own.dims, points, known)
        for part in components(tree, own.id)
    ]
    return np.stack(parts, 1) if parts else np.zeros((len(points), 0), np.int32)


def components(tree: Tree, statement: str) -> tuple[Expr | int, ...]:
    """The time of a statement: loop rows, and positions in sequences, from the outside in."""
    match tree:
        case Band(own, child):
            return (*(loop.row(statement) for loop in own), *components(child, statement))
        case Mark(_, child):
            return components(child, statement)
        case Sequence(children):
            at = next(i for i, child in enumerate(children) if statement in statements(child))
            return (at, *components(children[at], statement))
        case Leaf():
            return ()
