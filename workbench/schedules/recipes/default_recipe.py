"""The default recipe for C: chosen by structure and legality, never by an operator's name.

Neighbouring nests over the same ranges are fused as deep as it is legal; reductions with reuse get register and
cache blocks, also where they wait for one another in a triangle; every innermost nest is vectorised along memory; the
outermost loop without dependences is divided among threads.  The tables say which recipe does what, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from workbench.lang.expr import reads
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree, path
from workbench.schedules.analysis.structure import in_place, structure, swept
from workbench.schedules.recipes.decisions import asked, decide, undecided
from workbench.schedules.recipes.table import Row, Taken, last, taken, tuned
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.target import Target

MOST_STATEMENTS = 80
"""A longer program runs in the order in which it is written: its dependences are the square of so many."""


def has_temporaries(schedule: Schedule) -> bool:
    """Whether values are kept between statements."""
    return any(a.role == "temporary" for a in schedule.program.arrays.values())


def has_recurrences(schedule: Schedule) -> bool:
    """Whether a statement reads what it wrote."""
    return any(map(in_place, schedule.program.statements))


def has_tuned_recurrences(schedule: Schedule) -> bool:
    """Whether a statement reads what it wrote, and a tuner listens."""
    return asked() and has_recurrences(schedule)


def has_several_sums(schedule: Schedule) -> bool:
    """Whether sums may stand in one another's way."""
    return len(sums(schedule)) > 1


def has_short_operands(schedule: Schedule) -> bool:
    """Whether something is read that has at most 16 bits."""
    values = (r for s in schedule.program.statements for r in reads(*s.values))
    return any(r.dtype.bits <= 16 for r in values)


def has_sums_beside_others(schedule: Schedule) -> bool:
    """Whether sums may share their rows with other statements."""
    return len(schedule.program.statements) > 2 and bool(sums(schedule))


def has_sweeps(schedule: Schedule) -> bool:
    """Whether cells are computed again from their neighbours."""
    return any(swept(structure(schedule.program, s.id)) for s in schedule.program.statements)


def has_whole_sums(schedule: Schedule) -> bool:
    """Whether a single value is summed up."""
    program = schedule.program
    return any(s.kind == "update" and not structure(program, s.id).free for s in program.statements)


def has_waiting_sums(schedule: Schedule) -> bool:
    """Whether terms of a sum are computed here, others in each iteration."""
    program = schedule.program
    made = {array for s in program.statements for array, _ in s.targets}
    found = [(s, r) for s in sums(schedule) if s.dims for r in structure(program, s.id).reads if r.array in made]
    return any(read.along(s.dims[-1]) != 0 for s, read in found)


def has_global_temporaries(schedule: Schedule) -> bool:
    """Whether values are kept between nests."""
    return any(a.role == "temporary" and a.scope == "global" for a in schedule.program.arrays.values())


def carries_values(schedule: Schedule) -> bool:
    """Whether loops that were left as they are hand a value from one iteration to the next."""
    program, tree = schedule.program, schedule.tree
    carrying = [s for s in program.statements if in_place(s) or added(program, s) is not None]
    return any(all(x.kind in ("serial", "parallel") for x in path(tree, s.id)) for s in carrying)


def has_gathers(schedule: Schedule) -> bool:
    """Whether a statement reads cells whose places are data."""
    values = (r for s in schedule.program.statements for r in reads(*s.values))
    return any(any(reads(*r.subscripts)) for r in values)


def sums(schedule: Schedule) -> list[ProgramStatement]:
    """Statements that add something to a cell."""
    return [s for s in schedule.program.statements if added(schedule.program, s) is not None]


# Nests together or apart, as blocks and lanes need them.
BEFORE = (
    Row("inlining", "loops.loop_choices:inlined", "a value that is cheap need not be stored", tuned, takes=()),
    Row("privatization", "memory.privatization:privatized",
        "a value that each iteration begins anew is its own: iterations need not wait for one another",
        has_temporaries, takes=()),
    Row("index_set_splitting", "recurrences.index_set_splitting:with_split_index_sets",
        "a recurrence that turns at an index is two that do not", has_recurrences, takes=()),
    Row("first_values", "recurrences.first_values:with_first_values",
        "what a recurrence begins with may stand in its loops",
        has_tuned_recurrences, takes=()),
    Row("copy_propagation", "memory.copy_propagation:without_copies",
        "an array that only repeats another need not be written", takes=()),
    Row("fusion", "loops.fusion:fused", "one pass over the same values keeps them in cache"),
    Row("fission", "loops.fission:separated", "a sum with reuse needs its loops for itself to be blocked",
        has_several_sums),
    Row("column_partials", "loops.column_partials:with_partial_column_sums",
        "sums over columns are taken beside the rows they are of, while these are in cache", has_sums_beside_others),
    Row("own_rows", "memory.own_rows:with_own_rows",
        "a temporary of which an iteration makes and uses one row is that row", has_temporaries),
    Row("time_tiling", "loops.time_tiling:time_tiled",
        "a stencil takes several steps of time over cells that are in cache", has_sweeps),
    Row("partial_sums", "loops.partial_sums:in_parts", "a long sum of a single value in parts, which threads share",
        has_whole_sums),
    Row("triangles", "recurrences.triangles:in_triangles",
        "blocks of a triangle: most of the work is products between finished ones", has_waiting_sums),
)  # fmt: skip

EACH = ("statement", "target")

# Each sum in the first way that changes it.
WAYS = (
    Row("instructions", "products.integer_products:instructed", "the machine has an instruction for such products",
        has_short_operands, takes=EACH),
    Row("windows", "products.direct_convolution:convolved", "filters are packed, pictures are read where they are",
        takes=EACH),
    Row("packing", "products.packing:packed", "panels of both operands lie as registers read them",
        takes=EACH),
    Row("blocks", "loops.tiling:tiled_for_reuse", "blocks of cells stay in registers, and what they read in caches",
        takes=EACH),
)  # fmt: skip
LOOPS = "loops"
"""The way of what has no use for any of these."""

MORE_WAYS = (
    Row("panels", "products.packing:panelled", "two operands of which something else than a product is summed up",
        takes=EACH),
)  # fmt: skip
"""Ways that a tuner may take besides."""

# Each sum that has no blocks.
UNBLOCKED = (
    Row("column_reduction", "memory.column_reduction:with_column_blocks",
        "strips of columns: their sums stay in registers while rows go by", takes=EACH),
)  # fmt: skip

# What blocks left: lanes, threads, and the ways of memory.
AFTER = (
    Row("tile_fusion", "memory.tile_fusion:with_fused_producers",
        "a large temporary is made in the loops that ask for each of its parts once", has_global_temporaries),
    Row("own_windows", "memory.own_windows:with_own_windows",
        "what a thread's windows read of a temporary it makes itself", has_global_temporaries),
    Row("loop_order", "loops.loop_choices:reordered", "another order of loops may be better", tuned,
        takes=("blocked", "target")),
    Row("row_recurrences", "recurrences.row_recurrences:with_joined_rows",
        "what rows that wait for one another begin with is written beside them", has_recurrences),
    Row("vectorization", "loops.vectorization:vectorized", "neighbours in memory in the lanes of a register",
        takes=("blocked", "target")),
    Row("interleaved_recurrences", "recurrences.interleaved_recurrences:interleaved",
        "several recurrences at once: none waits for the other", carries_values),
    Row("unrolling", "loops.loop_choices:unrolled", "several iterations at once may keep more units busy", tuned),
    Row("parallelization", "loops.parallelization:parallelized", "iterations without dependences on several threads"),
    Row("nontemporal_stores", "memory.nontemporal_stores:with_nontemporal_stores",
        "a large result that nobody reads soon goes past the caches"),
    Row("software_prefetch", "memory.software_prefetch:with_row_prefetch",
        "rows of several passes are asked for before they are needed"),
    Row("gather_prefetch", "memory.gather_prefetch:with_gather_prefetch",
        "rows whose places are data are asked for before they are needed", has_gathers),
)  # fmt: skip


def default_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule `op(...)` runs when nobody chose one."""
    return last(recipes_taken(program, target), naive_schedule(program))


def recipes_taken(program: Program, target: Target | None = None) -> list[Taken]:
    """(row, schedule after it) for every recipe that changes the order of a program, in turn."""
    machine, naive = target or Target(), naive_schedule(program)
    if len(program.statements) > MOST_STATEMENTS:
        return []
    before = list(taken(BEFORE, naive, target=machine))
    start = last(before, naive)
    chosen = list(_chosen(start, machine, judged=False))
    if not last(chosen, start).verdict:
        chosen = list(_chosen(start, machine, judged=True))
    return [*before, *chosen]


def _chosen(schedule: Schedule, machine: Target, *, judged: bool) -> Iterator[Taken]:
    """Each reduction in the first way that changes it, the rest in lanes and among threads."""
    own = [s.id for s in schedule.program.statements if s.kind == "update" or added(schedule.program, s)]
    blocked: set[str] = set()
    for statement in own:
        if (way := _first_way(schedule, statement, machine, judged=judged)) is not None:
            schedule, blocked = way[1], blocked | {statement}
            yield way
    for statement in (s for s in own if s not in blocked):
        found = list(taken(UNBLOCKED, schedule, statement=statement, target=machine))
        schedule = last(found, schedule)
        yield from found
    yield from taken(AFTER, schedule, blocked=blocked, target=machine)


def _first_way(schedule: Schedule, statement: str, machine: Target, *, judged: bool) -> Taken | None:
    """A reduction in the first way that changes it, or in another that was chosen; None if it stays as it is."""
    ways = WAYS
    if asked():
        fitting = _fitting(schedule.program, schedule.tree, statement, machine, judged)
        if not fitting:
            return None
        name = schedule.program.statement(statement).name
        chosen = decide(f"{name}_way", fitting[0], (*fitting, LOOPS), opens=True)
        ways = tuple(row for row in (*WAYS, *MORE_WAYS) if row.name == chosen)
    tried = ((row, _way(row, schedule, statement, machine, judged)) for row in ways)
    return next((way for way in tried if way[1] is not schedule), None)


@lru_cache(maxsize=256)
def _fitting(program: Program, tree: Tree, statement: str, machine: Target, judged: bool) -> tuple[str, ...]:
    """The ways that change a reduction, as the recipe itself would take them; remembered, as a tuner asks again."""
    schedule = Schedule(program, tree)

    def fits(row: Row) -> bool:
        return _way(row, schedule, statement, machine, judged) is not schedule

    with undecided():
        usual = [row.name for row in WAYS if fits(row)]
        more = [row.name for row in MORE_WAYS if not {"instructions", "packing"} & {*usual} and fits(row)]
    return tuple([*(usual or [LOOPS] * bool(more)), *more])


def _way(row: Row, schedule: Schedule, statement: str, machine: Target, judged: bool) -> Schedule:
    """What a way makes of a reduction; judged at once, it is not taken where it would be illegal.

    One verdict at the end is cheaper where all is well.
    """
    if not row.applies(schedule):
        return schedule
    after = row(schedule, statement=statement, target=machine)
    return after if after is schedule or not judged or after.verdict else schedule
