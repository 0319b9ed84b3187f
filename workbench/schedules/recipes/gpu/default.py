"""The default recipe for GPUs: chosen by structure and legality, never by an operator's name.

Nests over the same ranges are fused; products are blocked and their operands staged in shared memory; transpositions
go through a tile in shared memory; rows that are added up get a block of threads each; everything else is a grid of
independent iterations.  What depends on what came before stays in a serial loop, outside of kernels or in a thread.
"""

from __future__ import annotations

from functools import lru_cache

from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.poly.threads.grid import Region, on_grid, regions
from workbench.schedules.recipes.decisions import asked, decide, undecided
from workbench.schedules.recipes.default_recipe import MOST_STATEMENTS
from workbench.schedules.recipes.gpu.grids import gridded, once, stepwise
from workbench.schedules.recipes.gpu.product_choices import chosen_product
from workbench.schedules.recipes.gpu.products import product
from workbench.schedules.recipes.gpu.rows import in_chosen_pieces, in_pieces, rowwise
from workbench.schedules.recipes.gpu.shared import name_of
from workbench.schedules.recipes.gpu.transposition import transposed
from workbench.schedules.recipes.loops.fusion import fused
from workbench.schedules.recipes.loops.loop_choices import inlined
from workbench.schedules.recipes.memory.copy_propagation import without_copies
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.target import Target

MOST_KERNELS = 200
WAYS = (transposed, in_pieces, rowwise, gridded, stepwise)


def gpu_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule for a GPU where nobody chose one: every statement in loops that are bound."""
    machine = target or Target("cuda")
    schedule = naive_schedule(program)
    if len(program.statements) <= MOST_STATEMENTS:
        start = inlined(schedule) if asked() else schedule
        schedule = fused(without_copies(start), Target())
    for identifier in [s.id for s in schedule.program.statements if s.kind == "update"]:
        schedule = (chosen_product if asked() else product)(schedule, identifier, machine)
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
    host = frozenset(x.name for x in region.host)
    if not asked():
        return _first(schedule, region.statements, host, target)
    fitting = _fitting(schedule.program, schedule.tree, region.statements, host, target)
    if not fitting:
        return once(schedule, region.statements)
    cut = schedule if "in_pieces" in fitting else in_chosen_pieces(schedule, region.statements, set(host))
    if cut is not schedule:
        return cut
    chosen = decide(f"{name_of(schedule, region.statements)}_mapping", fitting[0], fitting, opens=True)
    way = next(w for w in WAYS if w.__name__ == chosen)
    after = way(schedule, region.statements, set(host), target)
    if after is not None:
        return after
    with undecided():
        return _first(schedule, region.statements, host, target)


def _first(schedule: Schedule, ids: tuple[str, ...], host: frozenset[str], target: Target) -> Schedule:
    """The first way that fits; else one thread does everything."""
    for way in WAYS:
        after = way(schedule, ids, set(host), target)
        if after is not None:
            return after
    return once(schedule, ids)


@lru_cache(maxsize=256)
def _fitting(
    program: Program, tree: Tree, ids: tuple[str, ...], host: frozenset[str], target: Target
) -> tuple[str, ...]:
    """The ways that fit a kernel, as the recipe itself would take them; remembered, as a tuner asks again."""
    with undecided():
        return tuple(w.__name__ for w in WAYS if w(Schedule(program, tree), ids, set(host), target) is not None)
