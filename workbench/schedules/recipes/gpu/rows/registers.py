"""Rows that a block goes through several times stay in the registers of its threads: memory is read and written once.

    for m (block): for n_i (thread): for n_o: X_row(n_i, n_o) = X(m, n);  …three passes over X_row…

Each thread has every T-th element of the row, the one that it computes in each of the passes.
"""

from __future__ import annotations

from collections import Counter

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.algebra.normal_form import constant
from workbench.poly.derive.buffers import copies_of
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.tree import Loop, path
from workbench.poly.threads.grid import is_block, on_grid
from workbench.poly.threads.thread_cells import in_registers
from workbench.schedules.edit import own_loops
from workbench.schedules.recipes.gpu.shared import WARP, spelled, stays_legal
from workbench.schedules.recipes.staging import staged
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import bind, reorder, split, transform_layout

MOST_EACH = 32
"""Elements of one row that a thread keeps."""

MOST_ROWS = 4
"""Arrays whose rows are kept at most."""


def kept_in_registers(schedule: Schedule, statement: str, threads: int) -> Schedule:
    """The rows of a block of so many threads around a statement, each array that is touched more than once in
    registers; unchanged where none can be.
    """
    block = next((x for x in reversed(path(schedule.tree, statement)) if is_block(x.kind)), None)
    if block is None:
        return schedule
    home, found = spelled(schedule, statement, block.name), 0
    for array in _touched_again(schedule, block):
        after = _in_row(schedule, array, home, threads) if found < MOST_ROWS else None
        if after is not None:
            schedule, found = after, found + 1
    return schedule


def _touched_again(schedule: Schedule, block: Loop) -> list[str]:
    """Arrays of the program that statements inside a loop touch more than once."""
    inside = [schedule.program.statement(s) for s, _ in block.rows]
    counts = Counter(a.array for s in inside for a in s.accesses)
    own = schedule.program.original.arrays
    return [array for array in own if counts[array] > 1]


def _in_row(schedule: Schedule, array: str, home: str, threads: int) -> Schedule | None:
    """The row of one array in registers; None if it is too long, or not one of which each thread has its part."""
    try:
        after, buffer = staged(schedule, array, home, f"{array}_row")
        place = next(s for s in poly.storage_of(after.program, after.tree) if s.array.name == buffer)
        long = [(d - place.array.times, constant(extent)) for d, _, extent in place.kept if constant(extent) != 1]
        position, count = long[0] if len(long) == 1 else (-1, None)
        if position < 0 or count is None or not _fits(count, threads):
            return None
        after = _divided(after, buffer, position, count, threads)
        tree = on_grid(after.tree)
        place = next(s for s in poly.storage_of(after.program, tree) if s.array.name == buffer)
        return after if in_registers(after.program, tree, place) and stays_legal(schedule, after) else None
    except (ScheduleError, BudgetExceeded):
        return None


def _fits(count: int, threads: int) -> bool:
    """Whether each thread gets equally many elements of a row, and few: loops over them are written out."""
    return count % (threads if count > threads else WARP) == 0 and count <= threads * MOST_EACH


def _divided(schedule: Schedule, buffer: str, position: int, count: int, threads: int) -> Schedule:
    """The copies of a row divided among the threads as its passes are, and the row laid out by them.

    ScheduleError where it is more than copied.
    """
    array = schedule.program.arrays[buffer]
    rank = array.rank - array.times
    for copy in copies_of(schedule.program, buffer):
        if copy.kind != "assign":
            raise ScheduleError(f"{buffer} is added to")
        loop = loop_of(copy.name, own_loops(schedule.tree, copy.id)[-rank:][position])
        if count > threads:
            cut = split(loop, threads)
            schedule, loop = reorder(cut.inner, cut.outer).on(cut.on(schedule)), cut.inner
        schedule = bind(loop, "thread.x").on(schedule)
    if count <= threads:
        return schedule
    names = [f"d{i}" for i in range(rank)]
    own = [f"{names[position]} % {threads}", f"{names[position]} / {threads}"]
    cells = [*names[:position], *own, *names[position + 1 :]]
    return transform_layout(buffer, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)
