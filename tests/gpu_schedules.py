"""Schedules for a GPU that need no thought: of any operator, the outermost loops that may run at once are bound."""

from __future__ import annotations

import workbench as wb
from workbench.errors import IllegalSchedule, ScheduleError
from workbench.poly.threads.grid import on_grid, regions
from workbench.schedules import Schedule
from workbench.schedules.transform import Transform

BLOCK = 4  # iterations of a loop that one block executes: small, so that small sizes have several blocks


def bound(schedule: Schedule, *, split: int = BLOCK) -> Schedule:
    """The schedule with a loop of every nest bound to blocks and, cut in pieces of `split`, to threads.

    Where no loop may run at once, the statement gets a loop of one iteration, which is bound.
    """
    for _ in range(64):
        region = next((r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound), None)
        if region is None:
            return schedule
        schedule = _with_region(schedule, region.statements, [x.name for x in region.loops], split)
    raise AssertionError("every step binds a region")


def _with_region(schedule: Schedule, ids: tuple[str, ...], loops: list[str], split: int) -> Schedule:
    name = schedule.program.statement(ids[0]).name
    for loop in loops:
        spelt = f"{name}/{loop}"
        cut = [wb.split(spelt, split), wb.bind(f"{name}/{loop}_o", "block.x"), wb.bind(f"{name}/{loop}_i", "thread.x")]
        for steps in (cut, [wb.bind(spelt, "thread.x")], [wb.bind(spelt, "block.x")]):
            taken = _taken(schedule, steps)
            if taken is not None:
                return taken
    for inside in range(len(loops) + 1):
        axis = "thread.x" if inside else "block.x"
        taken = _taken(schedule, [wb.add_unit_loop(name, inside, name="once"), wb.bind(f"{name}/once", axis)])
        if taken is not None:
            return taken
    raise AssertionError(f"no loop around {name} can be bound: {loops}")


def _taken(schedule: Schedule, steps: list[Transform]) -> Schedule | None:
    """The schedule after all the steps, None if one is refused."""
    try:
        for step in steps:
            schedule = schedule | step
    except (IllegalSchedule, ScheduleError):
        return None
    return schedule


def staged_matmul(stages: int = 0, **sizes: int) -> Schedule:
    """Tiles of 16 x 16 in shared memory; with `stages`, loaded ahead by asynchronous copies."""
    return staged(wb.schedule(wb.ops.matmul, **{"M": 100, "N": 96, "K": 80, **sizes}), stages)


def staged(s: Schedule, stages: int = 0) -> Schedule:
    """The same of a naive product of whatever size."""
    s = s | wb.decompose_reduction("C")
    s = s | wb.tile({"C/m": 16, "C/n": 16, "C/k": 16})
    s = s | wb.interchange("C/m_o", "C/n_o", "C/k_o", "C/m_i", "C/n_i", "C/k_i")
    s = s | wb.stage("A", "k_o") | wb.stage("B", "k_o")
    if stages:
        s = s | wb.pipeline("k_o", stages, async_=True)
    s = bind_all(s, {"C.init/m": "block.y", "C.init/n": "block.x", "C/m_o": "block.y", "C/n_o": "block.x"})
    s = bind_all(s, {"C/m_i": "thread.y", "C/n_i": "thread.x"})
    loads = [x.name for x in s.program.statements if "local" in x.name]
    for load in loads:
        outer, inner = ("m", "k") if load.startswith("A") else ("k", "n")
        s = bind_all(s, {f"{load}/{outer}": "thread.y", f"{load}/{inner}": "thread.x"})
    return s


def bind_all(schedule: Schedule, axes: dict[str, str]) -> Schedule:
    """Loop → axis."""
    for loop, axis in axes.items():
        schedule = schedule | wb.bind(loop, axis)
    return schedule


def register_tiles() -> Schedule:
    """Each thread keeps 4 x 4 cells in registers."""
    s = wb.schedule(wb.ops.matmul, M=37, N=50, K=21) | wb.decompose_reduction("C") | wb.tile({"C/m": 4, "C/n": 4})
    s = s | wb.interchange("C/m_o", "C/n_o", "C/k", "C/m_i", "C/n_i") | wb.unroll("C/m_i") | wb.vectorize("C/n_i")
    return bind_all(s, {"C.init/m": "block.x", "C.init/n": "thread.x", "C/m_o": "block.x", "C/n_o": "thread.x"})


def staying_jacobi() -> Schedule:
    """The threads of one block stay for all time steps of a stencil, and wait twice in each."""
    s = wb.schedule(wb.ops.load("jacobi_1d"), N=37, steps=5)
    waiting = wb.together(
        wb.merge("B", "A.1"), wb.interchange("A.1/i", "t"), wb.bind("A.1/i", "thread.x"),
        wb.barrier("B"), wb.barrier("A.1"),
    )  # fmt: skip
    return s | waiting | wb.bind("A/i", "thread.x")


def atomic_histogram() -> Schedule:
    """Threads count into the same cells."""
    s = wb.schedule(wb.ops.load("histogram"), N=1000, bins=7)
    s = s | wb.atomic("h") | wb.split("bin/i", 128) | wb.split("h/i", 128)
    axes = {
        "bin/i_o": "block.x",
        "bin/i_i": "thread.x",
        "h/i_o": "block.x",
        "h/i_i": "thread.x",
        "h.init/h0": "block.x",
    }
    return bind_all(s, axes)


def symbolic_matmul() -> Schedule:
    """Every size is known at the call only."""
    s = wb.schedule(wb.ops.matmul) | wb.decompose_reduction("C")
    return bind_all(s, {"C.init/m": "block.y", "C.init/n": "thread.x", "C/m": "block.y", "C/n": "thread.x"})


HAND_MADE = {
    "staged matmul": staged_matmul,
    "double-buffered matmul": lambda: staged_matmul(2),
    "staged matmul of any size": lambda: staged(wb.schedule(wb.ops.matmul)),
    "register tiles": register_tiles,
    "staying jacobi": staying_jacobi,
    "atomic histogram": atomic_histogram,
    "symbolic matmul": symbolic_matmul,
}
