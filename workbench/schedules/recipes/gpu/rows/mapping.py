"""Rows: what is added up along memory gets a block of threads, whose partial results are combined in shared memory.

One row, or a few, are cut into pieces first, each with a block of its own; a second kernel adds up what they found.
"""

from __future__ import annotations

from math import prod

from workbench.poly.programs.tree import Loop, path
from workbench.poly.threads.grid import is_block, is_thread
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.gpu.grids import THREADS, outermost
from workbench.schedules.recipes.gpu.rows.fused import in_one_loop, run_through
from workbench.schedules.recipes.gpu.rows.registers import kept_in_registers
from workbench.schedules.recipes.gpu.shared import (
    WARP,
    legal_after,
    most_iterations,
    name_of,
    outer_loops_of,
    parallel,
    power,
    score,
    spelled,
    threads_of,
    walked_dim,
)
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    SplitReduction,
    add_unit_loop,
    bind,
    fuse,
    reorder,
    split,
    split_reduction,
    vectorize,
)
from workbench.target import Target

FEW_ROWS = 32
PIECE = 4096
PIECES = (1 << 10, 1 << 11, 1 << 13, 1 << 14, 1 << 16)
"""Other numbers of contributions that one block adds up."""

ABREAST = (2, 4, 8)
"""Rows that one block may take."""

SPLITS = (2, 4, 8, 16, 32, 64)
"""Pieces of a reduction that are added up at once."""

MOST_ALONE = 1 << 14
"""Iterations inside a serial loop that one block goes through: for more of them the host starts kernels again."""
LONG_ROW = 8192
"""Rows up to this length have 256 threads, longer ones 1024: a row of 36864 takes 41 and 35 µs on an H200, one of 2048
131 and 266."""
BRANCH = 16
"""Partial results that one thread adds up."""


def rowwise(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """A block for each iteration of the loops without dependences; its threads divide what is inside."""
    common = [x for x in outer_loops_of(schedule, ids) if x.name not in host]
    free = [x for x in common if parallel(schedule, ids[0], x.name)]
    inner = [x for s in ids for x in path(schedule.tree, s) if x not in common and x.name not in host]
    serial = [x for x in common if x not in free]
    if not free and serial and prod(most_iterations(schedule, x) or PIECE for x in inner) > MOST_ALONE:
        return None
    if not _worth(schedule, ids, free, [*serial, *inner]):
        return None
    after = outermost(schedule, ids[0], free) if free else schedule
    if after is None:
        return None
    longest = max(
        prod(most_iterations(schedule, x) or PIECE for x in path(schedule.tree, s) if x in inner) for s in ids
    )
    most = threads_of(name_of(schedule, ids), THREADS if longest <= LONG_ROW else 4 * THREADS, target)
    abreast = decide(f"{name_of(schedule, ids)}_abreast", 1, ABREAST) if free else 1
    after = _blocks(after, ids[0], [x.name for x in free], abreast) or _blocks(after, ids[0], [x.name for x in free])
    if after is None:
        return None
    most = min(most, target.device.block_threads // abreast)
    divided = [after := threads_inside(in_one_loop(after, s, most), s, most) for s in ids]
    if not divided or not any(_threaded(after, s) for s in ids):
        return None
    if abreast > 1 or not decide(f"{name_of(schedule, ids)}_kept", True, (True, False)):
        return after
    return kept_in_registers(after, ids[0], most)


def _worth(schedule: Schedule, ids: tuple[str, ...], free: list[Loop], inner: list[Loop]) -> bool:
    """Whether neighbours in memory are inside the rows, and the rows are long enough for the threads of a warp."""
    outside = max((_walked(schedule, x, inner) for x in free), default=0)
    long = [x for x in inner if (most_iterations(schedule, x) or PIECE) >= WARP]
    if not long:
        runs = [run_through(schedule, s, [x for x in path(schedule.tree, s) if x in inner]) for s in ids]
        long = [run[-1] for run in runs if prod(most_iterations(schedule, x) or PIECE for x in run) >= WARP]
    best = max((score(schedule, x) for x in long), default=0)
    rows = prod(most_iterations(schedule, x) or PIECE for x in free)
    return bool(long) and (best > 0 >= outside or rows < FEW_ROWS)


def _walked(schedule: Schedule, loop: Loop, inner: list[Loop]) -> int:
    """The score of a loop, of accesses that move inside it too: a number for each row is no matter."""
    total = 0
    for statement, _ in loop.rows:
        dim, shape = walked_dim(loop, statement), structure(schedule.program, statement)
        inside = {walked_dim(x, statement) for x in inner} - {dim, None}
        for touch in (*shape.writes, *shape.reads) if dim else ():
            if any(touch.along(d or "") != 0 for d in inside):
                stride = touch.along(dim or "")
                total += 2 if stride == 1 else 0 if stride == 0 else -3
    return total


def _blocks(schedule: Schedule, statement: str, rows: list[str], abreast: int = 1) -> Schedule | None:
    """The rows bound to blocks, three axes at most, so many `abreast` in each."""
    while len(rows) > 3:
        both = fuse(*(spelled(schedule, statement, x) for x in rows[:2]))
        joined = legal_after(schedule, both)
        if joined is None:
            rows = rows[-3:]
            break
        schedule, rows = joined, [both.fused.loop, *rows[2:]]
    if abreast > 1:
        step = split(spelled(schedule, statement, rows[-1]), abreast)
        cut = legal_after(schedule, step, bind(step.inner, "thread.y"))
        if cut is None:
            return None
        schedule, rows = cut, [*rows[:-1], step.outer.loop]
    steps = [
        bind(spelled(schedule, statement, x), f"block.{axis}") for axis, x in zip("xyz", reversed(rows), strict=False)
    ]
    return legal_after(schedule, *steps) if steps else _one_block(schedule, statement)


def _one_block(schedule: Schedule, statement: str) -> Schedule:
    """A block for all there is, so that its threads can wait for one another; unchanged around several statements."""
    name = schedule.program.statement(statement).name
    once = add_unit_loop(name, 0, name="once")
    return legal_after(schedule, once, bind(once.made, "block.x")) or schedule


def _threaded(schedule: Schedule, statement: str) -> bool:
    return statement in {s.id for s in schedule.program.statements} and any(
        is_thread(x.kind) for x in path(schedule.tree, statement)
    )


def threads_inside(schedule: Schedule, statement: str, most: int) -> Schedule:
    """The loops around a statement inside its block, divided among threads; unchanged where that is not legal."""
    if _threaded(schedule, statement):
        return schedule
    loops = path(schedule.tree, statement)
    cut = max((i + 1 for i, x in enumerate(loops) if is_block(x.kind)), default=0)
    inner = [x for x in loops[cut:] if x.kind == "serial" and most_iterations(schedule, x) != 1]
    for loop in sorted(inner, key=lambda x: (-score(schedule, x), -inner.index(x))):
        if parallel(schedule, statement, loop.name):
            after = _divided(schedule, statement, loop, most)
            if after is not None:
                return after
    for loop in sorted(inner, key=lambda x: (-score(schedule, x), -inner.index(x))):
        if _reduced(schedule, statement, loop):
            after = _added_up(schedule, statement, loop, inner, most)
            if after is not None:
                return after
    return schedule


def _reduced(schedule: Schedule, statement: str, loop: Loop) -> bool:
    """Whether some statement in a loop adds up along it."""
    for s, _ in loop.rows:
        dim = walked_dim(loop, s)
        own = schedule.program.statement(s)
        if own.kind == "update" and dim in structure(schedule.program, s).reduced:
            return True
    return False


def _divided(schedule: Schedule, statement: str, loop: Loop, most: int) -> Schedule | None:
    """Neighbouring iterations on neighbouring threads, each of which goes through the row in strides."""
    count, name = most_iterations(schedule, loop), spelled(schedule, statement, loop.name)
    if count is not None and count <= most:
        return legal_after(schedule, bind(name, "thread.x"))
    cut = split(name, most)
    turned, bound = reorder(cut.inner, cut.outer), bind(cut.inner, "thread.x")
    return legal_after(schedule, cut, turned, bound) or legal_after(schedule, cut, bound)


def _added_up(schedule: Schedule, statement: str, loop: Loop, inner: list[Loop], most: int) -> Schedule | None:
    """Every thread adds up part of a row; a tree of two levels adds up what the threads found."""
    name, count = spelled(schedule, statement, loop.name), most_iterations(schedule, loop)
    size = power(count, most, WARP)
    others = [spelled(schedule, statement, x.name) for x in inner if x is not loop]
    whole = count is not None and count <= size
    own = name if whole else name.inner
    cut = [] if whole else [split(name, size)]
    rest = [*others, *([] if whole else [name.outer])]
    before = {s.id for s in schedule.program.statements}
    order = [reorder(own, *rest)] if rest else []
    after = legal_after(schedule, *cut, *order, split_reduction(own), bind(own, "thread.x"))
    if after is None and not whole:
        after = legal_after(schedule, *cut, reorder(own, name.outer), split_reduction(own), bind(own, "thread.x"))
    if after is None:
        return None
    return _tree(after, [s.id for s in after.program.statements if s.id not in before], size)


def _adding(schedule: Schedule) -> set[str]:
    """The loops that add partial results up, as the steps so far say."""
    return {step.adding.loop for step in schedule.trace if isinstance(step, SplitReduction)}


def _tree(schedule: Schedule, made: list[str], size: int) -> Schedule:
    """The partial results of a block added up by shuffles; else by fewer threads, before one adds up theirs."""
    for statement in made:
        own, adding = schedule.program.statement(statement), _adding(schedule)
        parts = [x for x in path(schedule.tree, statement) if x.name in adding]
        if own.kind == "update" and parts and most_iterations(schedule, parts[-1]) == size:
            after = legal_after(schedule, vectorize(spelled(schedule, statement, parts[-1].name)))
            if after is not None and decide(f"{own.name}_shuffled", True, (True, False)):
                schedule = after
                continue
        if own.kind != "update" or not parts or size < 4 * BRANCH:
            continue
        cut = split(spelled(schedule, statement, parts[-1].name), size // BRANCH)
        steps = cut, reorder(cut.inner, cut.outer), split_reduction(cut.inner)
        after = legal_after(schedule, *steps, bind(cut.inner, "thread.x"))
        schedule = after or schedule
    return schedule


def in_pieces(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """A long reduction with few results in pieces, a block for each: the first of two passes."""
    updates = [s for s in ids if schedule.program.statement(s).kind == "update"]
    if not updates:
        return None
    common = [x for x in outer_loops_of(schedule, ids) if x.name not in host]
    for statement in updates:
        loops = [x for x in path(schedule.tree, statement) if x.name not in host]
        rows = [x for x in common if parallel(schedule, statement, x.name)]
        reduced = [x for x in loops if x not in rows and _reduced(schedule, statement, x)]
        if not reduced or prod(most_iterations(schedule, x) or PIECE for x in rows) >= FEW_ROWS:
            continue
        inside = prod(most_iterations(schedule, x) or PIECE for x in reduced[1:])
        count = most_iterations(schedule, reduced[0])
        piece = max(1, decide(f"{name_of(schedule, ids)}_piece", PIECE, PIECES) // inside)
        if (count is not None and count < 2 * piece) or (count is None and reduced[0].name in _adding(schedule)):
            continue  # pieces of unknown number are not cut again: that would never end
        name = spelled(schedule, statement, reduced[0].name)
        after = legal_after(schedule, split_reduction(name, piece) if piece > 1 else split_reduction(name))
        if after is not None:
            return after
    return None


def in_chosen_pieces(schedule: Schedule, ids: tuple[str, ...], host: set[str]) -> Schedule:
    """A reduction of the program in as many pieces as were chosen, each added up at once; unchanged with one piece."""
    for own in map(schedule.program.statement, ids):
        loop = _long_reduction(schedule, own.id, host) if own.kind == "update" else None
        count = most_iterations(schedule, loop) or 0 if loop is not None else 0
        options = [n for n in SPLITS if count >= 2 * n]
        pieces = decide(f"{own.name}_split", 1, options) if options else 1
        if loop is not None and pieces > 1:
            size = -(-count // pieces)
            return legal_after(schedule, split_reduction(spelled(schedule, own.id, loop.name), size)) or schedule
    return schedule


def _long_reduction(schedule: Schedule, statement: str, host: set[str]) -> Loop | None:
    """The outermost loop along which a result of the program itself is added up; partial results are none."""
    own = schedule.program.statement(statement)
    if own.targets[0][0] not in schedule.program.original.arrays:
        return None
    loops = [x for x in path(schedule.tree, statement) if x.name not in host and x.kind == "serial"]
    reduced, adding = structure(schedule.program, statement).reduced, _adding(schedule)
    return next((x for x in loops if walked_dim(x, statement) in reduced and x.name not in adding), None)
