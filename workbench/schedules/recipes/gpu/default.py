"""The default recipe for GPUs: chosen by structure and legality, never by an operator's name.

Nests over the same ranges are fused; products are blocked and their operands staged in shared memory; transpositions
go through a tile in shared memory; rows that are added up get a block of threads each; scatters take turns at a cell
by atomic updates; everything else is a grid of independent iterations.  What depends on what came before stays in a
serial loop, outside of kernels or in a thread.  The tables say which recipe does what, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.poly.threads.grid import Region, on_grid, regions
from workbench.schedules.recipes.decisions import asked, decide, undecided
from workbench.schedules.recipes.default_recipe import MOST_STATEMENTS
from workbench.schedules.recipes.gpu.shared import name_of
from workbench.schedules.recipes.table import Row, Taken, last, taken, tuned
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.target import Target

MOST_KERNELS = 200


def untuned(schedule: Schedule) -> bool:
    """Whether no tuner listens."""
    return not asked()


# Nests together, as far as kernels can be.
BEFORE = (
    Row("inlining", "loops.loop_choices:inlined", "a value that is cheap need not be stored", tuned, takes=()),
    Row("copy_propagation", "memory.copy_propagation:without_copies",
        "an array that only repeats another need not be written", takes=()),
    Row("unframed", "memory.copy_propagation:without_frames",
        "a frame of constants is a condition where what it surrounds is read", takes=()),
    Row("fusion", "gpu.products:fused_but_products", "one kernel over the same values", takes=("processor",)),
)  # fmt: skip

# Each update.
PRODUCTS = (
    Row("product", "gpu.products:product",
        "tiles of a product: operands in shared memory or in fragments for tensor cores, results in registers",
        untuned, takes=("statement", "target")),
    Row("chosen_product", "gpu.product_choices:chosen_product", "a product in the way and the tiles that were chosen",
        tuned, takes=("statement", "target")),
)  # fmt: skip

# Each kernel in the first mapping that fits; a row gives None where it does not.
MAPPINGS = (
    Row("scattered", "gpu.scatters:scattered",
        "updates of cells that data name: iterations at once, which take turns at a cell",
        takes=("statements", "host", "target")),
    Row("transposed", "gpu.transposition:transposed",
        "tiles in shared memory: read along one loop, written along the other",
        takes=("statements", "host", "target")),
    Row("in_pieces", "gpu.rows.mapping:in_pieces", "a long sum with few results in pieces, a block for each",
        takes=("statements", "host", "target")),
    Row("rowwise", "gpu.rows.mapping:rowwise", "a block for each row, whose threads divide what is added up",
        takes=("statements", "host", "target")),
    Row("gridded", "gpu.grids:gridded", "blocks and threads for the outermost iterations without dependences",
        takes=("statements", "host", "target")),
    Row("stepwise", "gpu.grids:stepwise", "serial loops on the host, each statement inside a kernel",
        takes=("statements", "host", "target")),
)  # fmt: skip
PIECES = Row("chosen_pieces", "gpu.rows.mapping:in_chosen_pieces", "a sum in as many pieces as were chosen", tuned,
             takes=("statements", "host"))  # fmt: skip
ONCE = Row("once", "gpu.grids:once", "nothing may run at once: one thread does everything", takes=("statements",))


def gpu_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule for a GPU where nobody chose one: every statement in loops that are bound."""
    return last(recipes_taken(program, target), naive_schedule(program))


def recipes_taken(program: Program, target: Target | None = None) -> list[Taken]:
    """(row, schedule after it) for every recipe that changes the order of a program, in turn."""
    machine, naive = target or Target("cuda"), naive_schedule(program)
    few = len(program.statements) <= MOST_STATEMENTS
    found = list(taken(BEFORE, naive, processor=Target())) if few else []
    for statement in [s.id for s in last(found, naive).program.statements if s.kind == "update"]:
        found += taken(PRODUCTS, last(found, naive), statement=statement, target=machine)
    return [*found, *_mapped(last(found, naive), machine)]


def all_bound(schedule: Schedule, target: Target) -> Schedule:
    """Bind loops of every kernel that has none yet."""
    return last(list(_mapped(schedule, target)), schedule)


def _mapped(schedule: Schedule, target: Target) -> Iterator[Taken]:
    """Every kernel that has no bound loops yet, in its mapping."""
    for _ in range(MOST_KERNELS):
        region = next((r for r in regions(on_grid(schedule.tree)) if r.loops and not r.bound), None)
        if region is None:
            break
        row, schedule = _mapping(schedule, region, target)
        yield row, schedule


def _mapping(schedule: Schedule, region: Region, target: Target) -> Taken:
    ids, host = region.statements, frozenset(x.name for x in region.host)
    if not asked():
        return _first(schedule, ids, host, target)
    fitting = _fitting(schedule.program, schedule.tree, ids, host, target)
    if not fitting:
        return ONCE, ONCE(schedule, statements=ids)
    cut = schedule if "in_pieces" in fitting else PIECES(schedule, statements=ids, host=set(host))
    if cut is not schedule:
        return PIECES, cut
    chosen = decide(f"{name_of(schedule, ids)}_mapping", fitting[0], fitting, opens=True)
    row = next(row for row in MAPPINGS if row.name == chosen)
    after = row(schedule, statements=ids, host=set(host), target=target)
    if after is not None:
        return row, after
    with undecided():
        return _first(schedule, ids, host, target)


def _first(schedule: Schedule, ids: tuple[str, ...], host: frozenset[str], target: Target) -> Taken:
    """The first mapping that fits; else one thread does everything."""
    for row in MAPPINGS:
        after = row(schedule, statements=ids, host=set(host), target=target)
        if after is not None:
            return row, after
    return ONCE, ONCE(schedule, statements=ids)


@lru_cache(maxsize=256)
def _fitting(
    program: Program, tree: Tree, ids: tuple[str, ...], host: frozenset[str], target: Target
) -> tuple[str, ...]:
    """The mappings that fit, as the recipe itself would take them; remembered, as a tuner asks again."""
    schedule = Schedule(program, tree)
    with undecided():
        tried = ((row, row(schedule, statements=ids, host=set(host), target=target)) for row in MAPPINGS)
        return tuple(row.name for row, after in tried if after is not None)
