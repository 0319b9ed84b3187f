"""What the GPU recipes share: steps that are kept only if legal, loops by name, sizes of blocks."""

from __future__ import annotations

from collections.abc import Sequence

from workbench import poly
from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Binary, Const, Expr, Index
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.tree import Loop, path
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.try_steps import changed_statements
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import fuse
from workbench.schedules.transform import Transform, applied
from workbench.target import Target

WARP = 32

THREAD_COUNTS = (32, 64, 128, 256, 512, 1024)
"""Threads of a block that may be chosen: whole warps, powers of two."""


def legal_after(schedule: Schedule, *steps: Transform) -> Schedule | None:
    """The schedule after the steps that change something; None if one does not fit, or what comes is not known to be
    legal.
    """
    try:
        after = applied(schedule, *steps)
        return after if stays_legal(schedule, after) else None
    except (ScheduleError, BudgetExceeded):
        return None


def stays_legal(before: Schedule, after: Schedule) -> bool:
    """Whether the later schedule is legal, given that the earlier one is."""
    if after.program is not before.program:
        return bool(after.verdict)
    return not poly.violations(after.program, after.tree, changed_statements(before, after))


def outer_loops_of(schedule: Schedule, ids: tuple[str, ...]) -> list[Loop]:
    """The loops around all of some statements, outermost first."""
    paths = [path(schedule.tree, s) for s in ids]
    found: list[Loop] = []
    for level in zip(*paths, strict=False):
        if len({x.name for x in level}) > 1 or any(set(dict(level[0].rows)) != set(dict(x.rows)) for x in level):
            break
        found.append(level[0])
    return found


def spelled(schedule: Schedule, statement: str, loop: str) -> LoopName:
    """`C/m`, for the statement with this id."""
    return loop_of(schedule.program.statement(statement).name, loop)


def in_one(schedule: Schedule, loops: Sequence[LoopName]) -> tuple[Schedule, list[LoopName]]:
    """Loops directly inside one another as a single one; none where there are none."""
    while len(loops) > 1:
        first = fuse(loops[0], loops[1])
        schedule, loops = first.on(schedule), [first.fused, *loops[2:]]
    return schedule, list(loops)


def walked_dim(loop: Loop, statement: str) -> str | None:
    """The dim of a statement along which a loop walks in steps of one, None if there is none."""
    match dict(loop.rows).get(statement):
        case Index(name, _) | Binary("%", Index(name, _), Const(_, _), _):
            return name
        case Binary("+") as row:
            digits = _digits(row)
            return digits[0][0] if digits else None
    return None


def most_iterations(schedule: Schedule, loop: Loop) -> int | None:
    """The most iterations of a loop that is a dim of its statements, or a part of one; None where that is not known."""
    counts = [_trip(schedule, statement, row) for statement, row in loop.rows]
    return None if None in counts else max((c for c in counts if c is not None), default=None)


def _trip(schedule: Schedule, statement: str, row: Expr) -> int | None:
    match row:
        case Index(name, _):
            return structure(schedule.program, statement).trip(name)
        case Binary("/", inner, Const(int(size), _), _):
            whole = _trip(schedule, statement, inner)
            return None if whole is None else -(-whole // size)
        case Binary("%", _, Const(int(size), _), _):
            return size
        case Binary("+"):
            return _fused_trip(structure(schedule.program, statement), _digits(row))
    return None


def _digits(row: Expr) -> list[tuple[str, int]]:
    """(dim, iterations of the loop from one of its values to the next), the fastest first, of loops that `fuse` joined:
    `48*h + w` counts through w and h.  None at all for any other sum.
    """
    terms = polynomial(row).terms
    found = [(atoms[0].name, factor) for atoms, factor in terms if len(atoms) == 1 and isinstance(atoms[0], Index)]
    found.sort(key=lambda digit: digit[1])
    return found if len(found) == len(terms) and found[0][1] == 1 else []


def _fused_trip(shape: Structure, digits: list[tuple[str, int]]) -> int | None:
    count = 1
    for dim, factor in digits:
        own = shape.trip(dim)
        if own is None or factor != count:
            return None
        count *= own
    return count if digits else None


def score(schedule: Schedule, loop: Loop) -> int:
    """Accesses that walk along memory with a loop, minus those that jump."""
    total = 0
    for statement, _ in loop.rows:
        dim = walked_dim(loop, statement)
        total += structure(schedule.program, statement).contiguous(dim) if dim else 0
    return total


def parallel(schedule: Schedule, statement: str, loop: str) -> bool:
    """Whether the iterations of a loop may run at once as it stands."""
    try:
        return poly.can_parallelize(schedule.program, schedule.tree, spelled(schedule, statement, loop))
    except (ScheduleError, BudgetExceeded):
        return False


def name_of(schedule: Schedule, ids: tuple[str, ...]) -> str:
    """What decisions about some statements are named after: the first of them."""
    return schedule.program.statement(ids[0]).name


def threads_of(name: str, usual: int, target: Target) -> int:
    """Threads of a block, as usual or as they were chosen, no more than the GPU has."""
    most = target.device.block_threads
    return min(most, decide(f"{name}_threads", min(usual, most), [n for n in THREAD_COUNTS if n <= most]))


def power(number: int | None, most: int, least: int = 1) -> int:
    """The smallest power of two that holds a number, within limits; the largest where it is not known."""
    if number is None:
        return most
    return max(least, min(most, 1 << max(0, number - 1).bit_length()))
