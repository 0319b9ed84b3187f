"""Blocks: a reduction with reuse is tiled for registers and caches."""

from __future__ import annotations

from workbench import poly
from workbench.errors import ScheduleError
from workbench.poly.program import Program
from workbench.poly.tree import Tree, path
from workbench.schedules.blocking import Blocking, blocking
from workbench.schedules.recipes.attempt import attempt, changed
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import decompose_reduction, interchange, tile, unroll, vectorize
from workbench.schedules.steps.decomposition import enclosing_sequence
from workbench.schedules.structure import structure
from workbench.schedules.transform import Transform
from workbench.target import Target


def block(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """Register and cache blocks for one reduction; unchanged if it has no use for them."""
    program = schedule.program
    plan = blocking(structure(program, identifier), target)
    if plan is None or not simple(program, schedule.tree, identifier):
        return schedule
    name = program.statement(identifier).name
    sizes = {f"{name}/{d}": s for d, s in plan.rows if s > 1}
    if plan.form == "across":
        sizes[f"{name}/{plan.vector}"] = plan.vector_size
        if plan.panel:
            sizes[f"{name}/{plan.panel[0]}"] = plan.panel[1]
    try:
        ready = (
            decompose_reduction(name).on(schedule)
            if enclosing_sequence(schedule.tree, identifier)
            else schedule
        )
        ready = tile(sizes).on(ready) if sizes else ready
        order = blocked_order(ready, identifier, plan)
    except ScheduleError:
        return schedule
    steps: list[Transform] = [interchange(*order)]
    inner = [f"{name}/{d}_i" for d, s in plan.rows if s > 1]
    vector = f"{name}/{plan.vector}" + ("_i" if plan.form == "across" else "")
    steps += [unroll(x) for x in inner] + [vectorize(vector)]
    after = attempt(ready, *steps)
    kept = after is not ready and not poly.violations(program, after.tree, changed(schedule, after))
    return after if kept else schedule


def simple(program: Program, tree: Tree, identifier: str) -> bool:
    """Whether the loops around the statement are its own dims, one after another."""
    return [x.name for x in path(tree, identifier)] == list(program.statement(identifier).dims)


def blocked_order(schedule: Schedule, identifier: str, plan: Blocking) -> list[str]:
    """Blocks of cells outside, then the reduction, then the registers."""
    program = schedule.program
    shape = structure(program, identifier)
    rows = [d for d, s in plan.rows if s > 1]
    across = plan.form == "across"
    tiled = {*rows, *([plan.vector] if across else [])}
    others = [d for d in shape.free if d not in tiled]
    outer = [f"{plan.vector}_o"] if across else []
    panel = [f"{plan.panel[0]}_o"] if across and plan.panel else []
    blocks = [f"{d}_o" for d in rows]
    reduced = [
        f"{d}_i" if across and plan.panel and d == plan.panel[0] else d
        for d in shape.reduced if across or d != plan.vector
    ]  # fmt: skip
    registers = [f"{d}_i" for d in rows]
    last = [f"{plan.vector}_i"] if across else [plan.vector]
    inside = [*reduced, *registers, *last] if across else [*reduced, *last, *registers]
    name = program.statement(identifier).name
    return [f"{name}/{x}" for x in (*others, *outer, *panel, *blocks, *inside)]
