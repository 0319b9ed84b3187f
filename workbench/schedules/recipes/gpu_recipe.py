"""The default recipe for GPUs: chosen by structure and legality, never by an operator's name.

Nests over the same ranges are fused; products are blocked and their operands staged in shared memory; transpositions
go through a tile in shared memory; rows that are added up get a block of threads each; everything else is a grid of
independent iterations.  What depends on what came before stays in a serial loop, outside of kernels or in a thread.
"""

from __future__ import annotations

from workbench.poly.grid import Region, on_grid, regions
from workbench.poly.program import Program
from workbench.schedules.recipes.copies import without_copies
from workbench.schedules.recipes.default_recipe import MOST_STATEMENTS
from workbench.schedules.recipes.fusion import fused
from workbench.schedules.recipes.gpu_grids import gridded, once, stepwise
from workbench.schedules.recipes.gpu_products import product
from workbench.schedules.recipes.gpu_rows import in_pieces, rowwise
from workbench.schedules.recipes.gpu_transposes import transposed
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.target import Target

MOST_KERNELS = 200
WAYS = (transposed, in_pieces, rowwise, gridded, stepwise)


def gpu_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule for a GPU where nobody chose one: every statement in loops that are bound."""
    machine = target or Target("cuda")
    schedule = naive_schedule(program)
    if len(program.statements) <= MOST_STATEMENTS:
        schedule = fused(without_copies(schedule), Target())
    for identifier in [s.id for s in program.statements if s.kind == "update"]:
        schedule = product(schedule, identifier, machine)
    return all_bound(schedule, machine)


def all_bound(schedule: Schedule, target: Target) -> Schedule:
    """Bind loops of every kernel that has none yet."""
    for _ in range(MOST_KERNELS):
        region = next((r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound), None)
        if region is None:
            break
        schedule = _bound(schedule, region, target)
    return schedule


def _bound(schedule: Schedule, region: Region, target: Target) -> Schedule:
    host = {x.name for x in region.host}
    for way in WAYS:
        after = way(schedule, region.statements, host, target)
        if after is not None:
            return after
    return once(schedule, region.statements)
