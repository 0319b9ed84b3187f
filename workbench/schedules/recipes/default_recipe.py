"""The default recipe for C: chosen by structure and legality, never by an operator's name.

Neighbouring nests over the same ranges are fused as deep as it is legal; reductions with reuse get register and
cache blocks, also where they wait for one another in a triangle; every innermost nest is vectorised along memory; the
outermost loop without dependences is divided among threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from workbench.lang.expr import reads
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.schedules.analysis.structure import in_place, structure, swept
from workbench.schedules.recipes.decisions import asked, decide, undecided
from workbench.schedules.recipes.loops.fusion import fused
from workbench.schedules.recipes.loops.parallelization import parallelized
from workbench.schedules.recipes.loops.tiling import block
from workbench.schedules.recipes.loops.vectorization import vectorized
from workbench.schedules.recipes.memory.column_reduction import striped
from workbench.schedules.recipes.memory.copy_propagation import without_copies
from workbench.schedules.recipes.memory.nontemporal_stores import written_past_caches
from workbench.schedules.recipes.memory.software_prefetch import asked_ahead
from workbench.schedules.recipes.products.direct_convolution import windowed
from workbench.schedules.recipes.products.integer_products import instructed
from workbench.schedules.recipes.products.packing import packed
from workbench.schedules.scheduled_program import Schedule, naive_schedule
from workbench.target import Target

MOST_STATEMENTS = 80
"""A longer program runs in the order in which it is written: its dependences are the square of so many."""


Way = Callable[[Schedule, str, Target], Schedule]
WAYS: dict[str, Way] = {"instructions": instructed, "windows": windowed, "packing": packed, "blocks": block}
LOOPS = "loops"
"""The way of what has no use for any of these."""

MORE_WAYS: dict[str, Way] = {"panels": partial(packed, any_function=True)}
"""Ways that a tuner may take besides: panels for two operands of which something else than a product is summed up."""


def default_schedule(program: Program, target: Target | None = None) -> Schedule:
    """The schedule `op(...)` runs when nobody chose one."""
    machine = target or Target()
    if len(program.statements) > MOST_STATEMENTS:
        return naive_schedule(program)
    start = _prepared(_inlined(naive_schedule(program)), machine)
    chosen = _chosen(start, machine, WAYS)
    return chosen if chosen.verdict else _chosen(start, machine, {name: _judged(way) for name, way in WAYS.items()})


def _prepared(schedule: Schedule, machine: Target) -> Schedule:
    """Nests together or apart as blocks and lanes need them; what few programs need is loaded with the first one."""
    if any(a.role == "temporary" for a in schedule.program.arrays.values()):
        from workbench.schedules.recipes.memory.privatization import with_own_values

        schedule = with_own_values(schedule)
    own = schedule.program.statements
    if any(map(in_place, own)):
        from workbench.schedules.recipes.recurrences.index_set_splitting import turned

        schedule = turned(schedule)
        if asked():
            from workbench.schedules.recipes.recurrences.first_values import with_first_values

            schedule = with_first_values(schedule)
    schedule = fused(without_copies(schedule), machine)
    sums = sum(added(schedule.program, s) is not None for s in own)
    if sums > 1:
        from workbench.schedules.recipes.loops.fission import separated

        schedule = separated(schedule, machine)
    if sums and len(own) > 2:
        from workbench.schedules.recipes.loops.column_partials import with_columns

        schedule = with_columns(schedule, machine)
    if any(a.role == "temporary" for a in schedule.program.arrays.values()):
        from workbench.schedules.recipes.memory.own_rows import with_own_rows

        schedule = with_own_rows(schedule, machine)
    if any(swept(structure(schedule.program, s.id)) for s in schedule.program.statements):
        from workbench.schedules.recipes.loops.time_tiling import time_tiled

        schedule = time_tiled(schedule, machine)
    if any(added(schedule.program, s) is not None and s.dims for s in schedule.program.statements):
        from workbench.schedules.recipes.recurrences.triangles import in_triangles

        schedule = in_triangles(schedule, machine)
    return schedule


def _inlined(schedule: Schedule) -> Schedule:
    """Temporaries that a tuner does not want to be stored, written out where they are read."""
    if asked():
        from workbench.schedules.recipes.loops.loop_choices import inlined

        return inlined(schedule)
    return schedule


def _one_way(schedule: Schedule, identifier: str, machine: Target, ways: dict[str, Way]) -> Schedule:
    """A reduction in the first way that changes it, or in another that was chosen."""
    if not asked():
        tried = (way(schedule, identifier, machine) for way in ways.values())
        return next((s for s in tried if s is not schedule), schedule)
    plain = ways is WAYS
    fitting = _fitting(schedule.program, schedule.tree, identifier, machine, plain)
    if not fitting:
        return schedule
    name = schedule.program.statement(identifier).name
    chosen = decide(f"{name}_way", fitting[0], (*fitting, LOOPS), opens=True)
    return schedule if chosen == LOOPS else _ways(plain)[chosen](schedule, identifier, machine)


@lru_cache(maxsize=256)
def _fitting(program: Program, tree: Tree, identifier: str, machine: Target, plain: bool) -> tuple[str, ...]:
    """The ways that change a reduction, as the recipe itself would take them; remembered, as a tuner asks again."""
    schedule = Schedule(program, tree)
    with undecided():
        found = [name for name, way in _ways(plain).items() if way(schedule, identifier, machine) is not schedule]
    usual = [name for name in found if name in WAYS]
    more = [name for name in found if name not in WAYS and not {"instructions", "packing"} & {*usual}]
    return tuple([*(usual or [LOOPS] * bool(more)), *more])


def _ways(plain: bool) -> dict[str, Way]:
    """All ways by name, each kept only where it is legal unless they are judged together at the end."""
    known = {**WAYS, **MORE_WAYS}
    return known if plain else {name: _judged(way) for name, way in known.items()}


def _chosen(schedule: Schedule, machine: Target, ways: dict[str, Way]) -> Schedule:
    """Each reduction in the first way that changes it, the rest in lanes and among threads."""
    blocked: set[str] = set()
    sums = [s.id for s in schedule.program.statements if s.kind == "update" or added(schedule.program, s)]
    for identifier in sums:
        after = _one_way(schedule, identifier, machine, ways)
        if after is not schedule:
            schedule, blocked = after, blocked | {identifier}
    for identifier in (s for s in sums if s not in blocked):
        schedule = striped(schedule, identifier, machine)
    if any(a.role == "temporary" for a in schedule.program.arrays.values()):
        from workbench.schedules.recipes.loops.tile_fusion import computed_inside

        schedule = computed_inside(schedule, machine)
    if asked():
        from workbench.schedules.recipes.loops.loop_choices import reordered

        schedule = reordered(schedule, blocked, machine)
    schedule = vectorized(schedule, blocked, machine)
    if any(in_place(s) or added(schedule.program, s) is not None for s in schedule.program.statements):
        from workbench.schedules.recipes.recurrences.interleaved_recurrences import overlapped

        schedule = overlapped(schedule, machine)
    if asked():
        from workbench.schedules.recipes.loops.loop_choices import unrolled

        schedule = unrolled(schedule, machine)
    schedule = asked_ahead(written_past_caches(parallelized(schedule, machine), machine), machine)
    if any(_gathers(s) for s in schedule.program.statements):
        from workbench.schedules.recipes.memory.gather_prefetch import gathers_ahead

        schedule = gathers_ahead(schedule, machine)
    return schedule


def _gathers(statement: ProgramStatement) -> bool:
    """Whether a statement reads cells whose places are data."""
    return any(any(reads(*r.subscripts)) for r in reads(*statement.values))


def _judged(way: Way) -> Way:
    """A way that is not taken where it would be illegal; one verdict at the end is cheaper where all is well."""

    def judged(schedule: Schedule, identifier: str, machine: Target) -> Schedule:
        after = way(schedule, identifier, machine)
        return after if after is schedule or after.verdict else schedule

    return judged
