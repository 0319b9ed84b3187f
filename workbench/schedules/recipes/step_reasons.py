"""Why a schedule's steps are there: one line a step, from the structure of what it touches."""

from __future__ import annotations

from workbench import poly
from workbench.poly.programs.loop_names import LoopName, plain
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Loop, loops
from workbench.schedules.analysis.structure import Structure, in_place, structure
from workbench.schedules.recipes.default_recipe import MOST_STATEMENTS
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    Affine,
    ComputeAt,
    DecomposeReduction,
    Distribute,
    Fuse,
    Inline,
    Interchange,
    Merge,
    Nontemporal,
    Pad,
    Parallelize,
    Prefetch,
    Reorder,
    Replace,
    Split,
    SplitReduction,
    Stage,
    Tile,
    TransformLayout,
    Unroll,
    Vectorize,
)
from workbench.schedules.transform import Transform


def reasons(schedule: Schedule) -> list[tuple[str, str]]:
    """(step, why) for every step of the trace; a single line for the naive order."""
    if not schedule.trace and len(schedule.program.statements) > MOST_STATEMENTS:
        return [("naive", f"more than {MOST_STATEMENTS} statements run in the order in which they are written")]
    if not schedule.trace:
        return [("naive", "too little work, or no loop that is contiguous in memory and free of dependences")]
    return [(str(step), _reason(schedule, step)) for step in schedule.trace]


def _reason(schedule: Schedule, step: Transform) -> str:
    """Why one step is there."""
    if any("." in x.kind for x in loops(schedule.tree)):  # block.x, thread.x
        from workbench.schedules.recipes.gpu.reasons import gpu_reason

        if (why := gpu_reason(schedule, step)) is not None:
            return why
    match step:
        case Merge(first, second, _) if _begins(schedule.start.program, first, second):
            return f"{first} writes what {second} begins with or writes over; one pass keeps it in cache"
        case Merge(first, second, _):
            return f"{first} and {second} run over the same values; one pass keeps them in cache"
        case DecomposeReduction(name):
            return f"{name} needs a nest of its own before its loops can be blocked"
        case Distribute(before):
            return f"in each block what stands before {before} is done first; its cells stay in registers"
        case Tile(sizes, _):
            return _blocks(schedule, dict(sizes))
        case Fuse(names, _):
            return f"{' and '.join(map(plain, names))} walk through memory as one; short rows leave few cells over"
        case Inline(producer):
            return f"{producer} only repeats cells of another array; they are read where they are"
        case Split():
            return "blocks of one loop"
        case Reorder(order):
            return f"{plain(order[0])} outermost, {plain(order[-1])} innermost"
        case Interchange(first, second):
            return f"{plain(first)} and {plain(second)} change places"
        case Unroll(loop):
            return f"the block over {plain(loop)} is written out: its cells are registers"
        case Vectorize(loop):
            return _lanes(schedule, loop)
        case Parallelize(loop):
            return f"iterations of {plain(loop)} do not depend on one another{_count(schedule, loop)}"
    return _elsewhere(step)


def _elsewhere(step: Transform) -> str:
    """Why something is stored or computed in another place, or asked for earlier."""
    match step:
        case Stage(array, at, "none"):
            return f"each iteration of {plain(at)} makes what it uses of {array}; its place is its own, and small"
        case Stage(array, at):
            return f"what an iteration of {plain(at)} touches of {array} is copied side by side and read many times"
        case TransformLayout(array, _):
            return f"{array} lies in the order in which registers read it"
        case Pad(names):
            return f"the last block inside {', '.join(map(plain, names))} is filled with numbers that change nothing"
        case Replace(loop, kernel):
            return f"the machine has {kernel} for such products; it executes {plain(loop)}"
        case SplitReduction(loop):
            return f"{plain(loop)} is summed up in parts, which need not wait for one another and are added in the end"
        case ComputeAt(producer, at):
            return f"{producer} is computed where an iteration of {plain(at)} reads it, while it is in cache"
        case Prefetch(array, loop, distance):
            return f"{array} is asked for {distance} iterations of {plain(loop)} before it is read"
        case Nontemporal(name):
            return f"what {name} writes fills the caches and nobody reads it soon; it goes past them"
        case Affine(_, origin):
            return f"the order of {origin or 'the given tree'}"
    return "asked for"


def _begins(program: Program, first: str, second: str) -> bool:
    """Whether a recurrence begins with what the first of two statements writes."""
    known = {s.name: s for s in program.statements}
    if first not in known or second not in known or not in_place(known[second]):
        return False
    return {a for a, _ in known[first].targets} == {a for a, _ in known[second].targets}


def _blocks(schedule: Schedule, sizes: dict[str, int]) -> str:
    """Which reuse the blocks of a tile serve."""
    shape = _shape_of(schedule.start.program, next(iter(sizes)))
    dims = {loop: shape and blocked_dim(schedule, shape, loop) for loop in sizes}
    if shape is None or None in dims.values():
        return "blocks that stay in cache"
    found = []
    for loop, dim in dims.items():
        kept = sorted({r.array for r in shape.reads if r.along(dim or "") == 0})
        if kept:
            found.append(f"{', '.join(kept)} {'are' if kept[1:] else 'is'} used again along {plain(loop)}")
    return "; ".join(found) or "small squares, read along one loop and written along another, fill whole cache lines"


EITHER = "neighbouring elements in the lanes of a register"


def _lanes(schedule: Schedule, loop: str) -> str:
    """Which arrays are walked element by element."""
    shape = _shape_of(schedule.start.program, loop)
    dim = shape and blocked_dim(schedule, shape, loop)
    if shape is None or dim is None:
        return EITHER
    walked = sorted({t.array for t in (*shape.writes, *shape.reads) if t.along(dim) == 1})
    partial = " (each lane keeps a partial result)" if dim in shape.reduced else ""
    return f"neighbours of {' and '.join(walked)} along {dim} lie side by side{partial}" if walked else EITHER


def blocked_dim(schedule: Schedule, shape: Structure, loop: str) -> str | None:
    """The dim that blocks of blocks (`C/m_i_i`) were cut from; None for a loop that was made otherwise."""
    cut = {plain(half): plain(whole) for step in schedule.trace for whole, half in step.halves()}
    dim: str | None = plain(loop)
    while dim is not None and dim not in shape.statement.dims:
        dim = cut.pop(dim, None)
    return dim


def _shape_of(program: Program, loop: str) -> Structure | None:
    """The structure of the statement that a qualified loop name points at."""
    statement = LoopName(loop).statement
    known = {s.name: s.id for s in program.statements}
    return structure(program, known[statement]) if statement in known else None


def _count(schedule: Schedule, loop: str) -> str:
    """`; 64 of them`, where the number of iterations is known."""
    found: list[Loop] = [x for x in loops(schedule.tree) if x.name == plain(loop) and x.kind == "parallel"]
    for statement, row in (r for x in found for r in x.rows):
        name = getattr(row, "name", None)
        if name is not None:
            extent = poly.extent(schedule.program, statement, name)
            return f"; {extent} of them" if extent is not None else ""
    return ""
