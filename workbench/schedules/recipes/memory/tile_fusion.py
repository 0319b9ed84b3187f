"""Tile fusion: a temporary too large for the second cache is computed in the tiles that use it, a part at a time.

    for c: for y, x: P(c, y, x) = …;   for c: for y, x: O(c, y, x) += P(c, y + kh, x + kw) * K(c, kh, kw)
    →   for c: { for y, x: P_local(y, x) = …;  for y, x: O(c, y, x) += P_local(y + kh, x + kw) * K(c, kh, kw) }

Along loops that ask for each part once nothing is computed twice.  Where windows overlap (a blur), blocks of rows are
computed, and the few rows that two blocks share are computed for both.
"""

from __future__ import annotations

from math import prod

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import Index, Read
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, path
from workbench.poly.regions.storage import array_bytes
from workbench.schedules.analysis.structure import structure
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import tile
from workbench.schedules.steps.instances.compute_at import compute_at
from workbench.target import Target

LEAST = 8
"""Rows of a block."""

MOST_RECOMPUTED = 1.15
"""Times as many instances as before, at most, where blocks share rows."""


def with_fused_producers(schedule: Schedule, target: Target) -> Schedule:
    """Every large temporary in the loops that ask for each of its parts once; unchanged where there is none."""
    for array in reversed(schedule.program.arrays.values()):
        extents = [constant(e) for e in array.extent]
        if array.role != "temporary" or array.scope != "global" or None in extents:
            continue
        if (array_bytes(array) or 0) > target.cache_bytes[1]:
            row = prod(e or 0 for e in extents[1:]) * array.dtype.bytes
            schedule = _inside(schedule, array.name, target.cache_bytes[1] // (4 * max(1, row)), target.cores)
    return schedule


def _inside(schedule: Schedule, array: str, rows: int, cores: int) -> Schedule:
    """`rows` of the array fill a good part of the second cache."""
    pair = maker_and_user(schedule.program, array)
    if pair is None:
        return schedule
    loop = deepest(schedule, *pair, array)
    if loop is None:
        return _in_blocks(schedule, pair[1], array, rows, cores)
    return computed_at(schedule, array, loop_of(pair[1].name, loop.name), 1) or schedule


def maker_and_user(program: Program, array: str) -> tuple[ProgramStatement, ProgramStatement] | None:
    """The one assignment that makes an array and the one other statement that reads it; None if there are more."""
    made = [s for s in program.statements if any(t == array for t, _ in s.targets)]
    users = [s for s in program.statements if s not in made and _reading(s, array)]
    alone = len(made) == len(users) == 1 and made[0].kind == "assign"
    return (made[0], users[0]) if alone else None


def computed_at(schedule: Schedule, array: str, loop: str, most: float) -> Schedule | None:
    """The array computed in a loop of its user, where that is legal and takes not too many times the instances."""
    step = compute_at(array, loop)
    try:
        after = step.on(schedule) if step.recomputed(schedule).ratio <= most else None
    except ScheduleError:
        return None
    return after if after is not None and after.verdict else None


def _in_blocks(schedule: Schedule, user: ProgramStatement, array: str, rows: int, cores: int) -> Schedule:
    """Blocks of the user's outermost loop, each with the rows it needs; unchanged where that does not help.

    A user that is computed in blocks itself has its rows made in the same ones.
    """
    loops = path(schedule.tree, user.id)
    if loops and all(schedule.program.arrays[t].scope == "local" for t, _ in user.targets):
        return computed_at(schedule, array, loop_of(user.name, loops[0].name), MOST_RECOMPUTED) or schedule
    name = getattr(loops[0].row(user.id), "name", "") if loops else ""
    trip = structure(schedule.program, user.id).trip(name) if name else None
    if trip is None or user.kind != "assign" or loops[0].kind != "serial" or loops[0].name != name:
        return schedule
    most = min(rows, trip // (4 * cores))
    if most < LEAST:
        return schedule
    block = 1 << (most.bit_length() - 1)
    try:
        blocked = (blocks := tile({loop_of(user.name, name): block})).on(schedule)
    except ScheduleError:
        return schedule
    return computed_at(blocked, array, blocks.blocks[0], MOST_RECOMPUTED) or schedule


def _reading(statement: ProgramStatement, array: str) -> list[Read]:
    return [r for r in reads_of(*statement.values) if r.tensor == array]


def deepest(schedule: Schedule, maker: ProgramStatement, user: ProgramStatement, array: str) -> Loop | None:
    """The last of the user's leading loops each of which walks along one dimension of the array, whole."""
    shared = _shared(schedule.program, maker, user, array)
    found, trips = None, 1
    for loop in path(schedule.tree, user.id):
        name = getattr(loop.row(user.id), "name", "")
        if name not in shared or loop.kind not in ("serial", "parallel"):
            break
        found, trips = loop, trips * shared[name]
    return found if trips > 1 else None


def _shared(program: Program, maker: ProgramStatement, user: ProgramStatement, array: str) -> dict[str, int]:
    """The user's dims that are the maker's, cell by cell, with their trip counts."""
    (cells,) = (subscripts for t, subscripts in maker.targets if t == array)
    made, used = structure(program, maker.id), structure(program, user.id)
    found: dict[str, int] = {}
    for place, cell in enumerate(cells):
        names = {getattr(r.subscripts[place], "name", "") for r in _reading(user, array)}
        if len(names) != 1 or not isinstance(cell, Index):
            continue
        (name,) = names
        trip = used.trip(name) if name in user.dims else None
        if trip is not None and trip == made.trip(cell.name) and name in used.free:
            found[name] = trip
    return found
