"""Why the steps of a schedule for a GPU are there: one line a step, from where its loops and buffers end up."""

from __future__ import annotations

from workbench import poly
from workbench.errors import WorkbenchError
from workbench.lang.expr import Const
from workbench.poly.programs.loop_names import LoopName, plain
from workbench.poly.programs.tree import LoopKind, loops, path
from workbench.poly.threads.grid import is_thread, on_grid
from workbench.poly.threads.warps import memory_of
from workbench.poly.time.concurrency import is_block
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    AddUnitLoop,
    Atomic,
    Barrier,
    Bind,
    Fuse,
    Interchange,
    Merge,
    Pipeline,
    Reorder,
    Replace,
    Split,
    SplitReduction,
    Stage,
    StorageAlign,
    Tile,
    TransformLayout,
    Unroll,
    Vectorize,
)
from workbench.schedules.transform import Transform

PLACES = {
    "shared": "shared memory, by all threads of a block together, and read there many times",
    "thread": "registers of the thread that needs it",
    "global": "the workspace, for the kernels that follow",
}
LAYOUTS = {
    "shared": "lie in the order in which the threads of a warp read them at once",
    "thread": "are numbered by the thread that owns them, and stay in its registers",
    "global": "lie in the order in which they are read",
}


def gpu_reason(schedule: Schedule, step: Transform) -> str | None:
    """Why one step is there; None for steps that mean on a GPU what they mean elsewhere."""
    match step:
        case Bind(loop, axis):
            return _bound(schedule, loop, axis)
        case Split():
            return _pieces(schedule, step)
        case Tile(sizes, _):
            text = " x ".join(str(size) for _, size in sizes)
            return f"a block of threads computes {text} values of {', '.join(plain(x) for x, _ in sizes)}"
        case Merge(first, second):
            return f"{first} and {second} run over the same values; one kernel for both"
        case Fuse(names):
            return f"{' and '.join(map(plain, names))} are long enough for blocks of threads once they are one loop"
        case SplitReduction(loop):
            return f"iterations of {plain(loop)} add up at once, each for itself; what they found is added up then"
        case AddUnitLoop(statement):
            alone = dict(one_thread(schedule)).get(statement)
            those = f"one thread goes through all of {' and '.join(alone or ())}"
            through = those if alone else "one iteration that a kernel can have"
            return f"no loop around {statement} may run at once: {through}"
        case Atomic(statement):
            return _turns(schedule, statement)
        case Barrier(statement):
            return f"{statement} needs what other threads of the block wrote"
        case _:
            return _inside(schedule, step)


def _inside(schedule: Schedule, step: Transform) -> str | None:
    """The reason of a step that concerns buffers, or what a thread does by itself."""
    match step:
        case Stage(array, at, _, buffer):
            memory = _memory(schedule, buffer or f"{array}_local")
            return f"what an iteration of {plain(at)} touches of {array} goes to {PLACES[memory]}"
        case TransformLayout(array, _):
            return f"cells of {array} {LAYOUTS[_memory(schedule, array)]}"
        case Replace(_, kernel):
            return f"a warp multiplies fragments at once ({kernel}), and its lanes hold the cells that these loops give"
        case Pipeline(loop, stages, _):
            return f"copies begin {stages - 1} iterations of {plain(loop)} before their use: nobody waits for memory"
        case StorageAlign(array):
            return f"rows of {array} begin at different banks, so that the threads of a warp take fewer turns"
        case Unroll(loop):
            return f"{plain(loop)} is written out: its cells are registers of a thread"
        case Vectorize(loop) if plain(loop) in {x.adding.loop for x in schedule.trace if isinstance(x, SplitReduction)}:
            return "what the threads of a block found is added up by shuffles between the lanes of its warps"
        case Vectorize(loop):
            return f"a thread moves neighbours along {plain(loop)} at once, 16 bytes where that fits"
        case Reorder(order):
            return f"{plain(order[0])} outermost, {plain(order[-1])} innermost: threads around what each does alone"
        case Interchange(first, second):
            return f"{plain(first)} and {plain(second)} change places: threads around what each does alone"
    return None


def one_thread(schedule: Schedule) -> list[tuple[str, tuple[str, ...]]]:
    """(statement, its serial loops) wherever one thread of a kernel goes through loops alone."""
    found = []
    for own in schedule.program.statements:
        around = path(schedule.tree, own.id)
        bound = [x for x in around if is_block(x.kind) or is_thread(x.kind)]
        if bound and all(isinstance(x.row(own.id), Const) for x in bound):
            inside = tuple(x.name for x in around[around.index(bound[0]) :] if x not in bound)
            found += [(own.name, inside)] if inside else []
    return found


def _turns(schedule: Schedule, statement: str) -> str:
    own = next((s for s in schedule.program.statements if s.name == statement), None)
    sums = own if own is not None and own.reduction in ("+", "*") else None
    floats = sums is not None and schedule.program.arrays[sums.targets[0][0]].dtype.is_float
    order = ": in an order that is open, so that sums may differ in their last bits from call to call" if floats else ""
    return f"threads that {statement} brings to one cell take turns there{order}"


def _bound(schedule: Schedule, name: str, axis: str) -> str:
    loop, alone = plain(name), dict(one_thread(schedule)).get(LoopName(name).statement or "")
    made = {step.made.loop for step in schedule.trace if isinstance(step, AddUnitLoop)}
    if alone and loop in made:
        return f"a kernel of one thread, as {' and '.join(alone)} must stay serial"
    if is_block(axis):  # type: ignore[arg-type]
        return f"iterations of {loop} do not depend on one another: each is a block of threads"
    if axis == "thread.x":
        return f"neighbouring iterations of {loop} on neighbouring threads, whose accesses lie side by side"
    return f"iterations of {loop} are threads of one block, which share its memory"


def _pieces(schedule: Schedule, step: Split) -> str:
    outer, inner = step.outer.loop, step.inner.loop
    kinds: dict[str, LoopKind] = {x.name: x.kind for x in loops(schedule.tree)}
    pieces = f"pieces of {step.size} iterations of {plain(step.loop)}"
    if is_block(kinds.get(outer, "serial")):
        return f"{pieces}, each for a block of threads"
    if is_thread(kinds.get(inner, "serial")):
        return f"{pieces}, an iteration for each thread; the pieces follow one another"
    if is_thread(kinds.get(outer, "serial")):
        return f"{pieces}, each for one thread"
    if kinds.get(inner) == "vector":
        return f"{pieces}, which a thread moves at once"
    return pieces


def _memory(schedule: Schedule, buffer: str) -> str:
    """Where a buffer lives at last."""
    try:
        order = on_grid(schedule.tree)
        stored = {s.array.name: s for s in poly.storage_of(schedule.program, order)}
        return memory_of(schedule.program, order, stored, buffer) if buffer in stored else "global"
    except (WorkbenchError, KeyError):
        return "global"
