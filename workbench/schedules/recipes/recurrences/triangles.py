"""Triangles: what is computed in place from cells before it, in blocks (LU, Cholesky, forward substitution).

    for i: for j: { for k < j: A(i,j) -= A(i,k) * A(k,j);  A(i,j) /= A(j,j) }
    → for i_o, j_o: { for k before the block: for i_i, j_i: A(i,j) -= …;  for i_i: for j_i: { for k: A(i,j) -= …;  … } }

The terms that earlier blocks have finished are a product, whose cells stay in registers; those of the block itself come
after them, in the order of the text.  Blocks that do not wait for one another go to different threads (Dongarra et al.
1990).
"""

from __future__ import annotations

from workbench.errors import BudgetExceeded, ScheduleError
from workbench.lang.printing.index_text import condition
from workbench.poly.derive.partitioning import never
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, path, statements
from workbench.records import record
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.recurrences.triangle_blocks import Sizes, blocked_tree, column_dim
from workbench.schedules.recipes.try_steps import attempt, dim_of, simple, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import affine, partition
from workbench.target import Target

MOST_STATEMENTS = 8
LEAST = 64
"""Rows that are worth blocks."""

CHAINS = 2
"""Times the cycles of a multiply-add are the rows of a block without columns: two begin a cycle, none waits."""

SCALARS = {16: (4, 3), 32: (6, 4)}
"""Rows and columns of a tile whose columns do not follow one another in memory, by the number of registers."""


@record
class Triangle:
    """The top-level nest `number` over `row`, with updates (ids) of cells in place, and the sizes of its blocks."""

    number: int
    row: str
    updates: tuple[str, ...]
    sizes: Sizes


def in_triangles(schedule: Schedule, target: Target) -> Schedule:
    """Every nest with such updates in blocks, where that is legal."""
    for number in range(len(top(schedule.tree))):
        plan = triangle(schedule, number, target)
        if plan is not None:
            schedule = _blocked(schedule, plan)
    return schedule


def triangle(schedule: Schedule, number: int, target: Target) -> Triangle | None:
    """The blocks of a nest, or None if it is none of these."""
    nest, program = top(schedule.tree)[number], schedule.program
    own = [program.statement(s) for s in statements(nest)]
    if not isinstance(nest, Band) or len(own) > MOST_STATEMENTS:
        return None
    if any(x.kind != "serial" for s in own for x in path(nest, s.id)):
        return None
    row = dim_of(nest, 0, own[0].id)
    if row is None or any(dim_of(nest, 0, s.id) != row or s.dims[:1] != (row,) for s in own):
        return None
    trip = structure(program, own[0].id).trip(row)
    sums = [s for s in own if _waits(program, s, own) and simple(program, schedule.tree, s.id)]
    if not sums or (trip is not None and trip < LEAST):
        return None
    full = [s for s in sums if len(s.dims) == 3 and structure(program, s.id).free == s.dims[:2]]
    if full:
        return Triangle(number, row, tuple(s.id for s in full), _sizes(program, full, target))
    flat = [s for s in sums if len(s.dims) == 2 and structure(program, s.id).free == (row,)]
    height = CHAINS * target.costs.latency_cycles
    return Triangle(number, row, tuple(s.id for s in flat), Sizes(height)) if flat else None


def _sizes(program: Program, updates: list[ProgramStatement], target: Target) -> Sizes:
    """Register tiles of the updates: with columns in lanes where they follow one another in memory."""
    shapes = [structure(program, s.id) for s in updates]
    columns = [column_dim(program, s.id) or "" for s in updates]
    reads = [t.along(c) for shape, c in zip(shapes, columns, strict=True) for t in (*shape.reads, *shape.writes)]
    if not all(stride in (0, 1) for stride in reads):
        return Sizes(*SCALARS[16 if target.vector_registers <= 16 else 32])
    most, vectors = target.tile
    width = vectors * target.lanes(max(8 * v.dtype.bytes for s in updates for v in s.values))
    return Sizes(max(n for n in range(1, most + 1) if width % n == 0), width, lanes=True)


def _blocked(schedule: Schedule, plan: Triangle) -> Schedule:
    """The nest in blocks, in wavefronts where that is legal; unchanged if no order of blocks is."""
    names = [schedule.program.statement(s).name for s in plan.updates]
    cut = schedule
    try:
        for own in map(schedule.program.statement, plan.updates):
            cut = partition(own.name, _finished(schedule.program, own, plan.sizes), at=own.dims[-1]).on(cut)
    except (ScheduleError, BudgetExceeded):
        return schedule
    known = {s.name: s.id for s in cut.program.statements}
    if cut.differences != schedule.differences or not all(f"{name}.then" in known for name in names):
        return schedule
    early_ids = tuple(known[f"{name}.then"] for name in names)
    for wavefront in (True, False) if plan.sizes.width else (False,):
        for first in (False, True):
            tree = blocked_tree(cut, plan.number, early_ids, plan.sizes, wavefront=wavefront, heads_first=first)
            after = cut if tree is None else attempt(cut, affine(tree, origin="blocks"))
            if after is not cut:
                return after
    return schedule


def _waits(program: Program, own: ProgramStatement, others: list[ProgramStatement]) -> bool:
    """Whether a statement adds up terms that it or others in its nest compute."""
    if added(program, own) is None or len(own.dims) < 2:
        return False
    made = {array for s in others for array, _ in s.targets}
    return any(t.array in made and t.along(own.dims[-1]) != 0 for t in structure(program, own.id).reads)


def _finished(program: Program, own: ProgramStatement, sizes: Sizes) -> str:
    """The condition of the terms that blocks before have finished: all but a block of each sum.

    ScheduleError where the terms end neither with the row nor with the column.
    """
    term = own.dims[-1]
    begins = [f"{size} * ({d} / {size})" for d, size in zip(own.dims[:-1], sizes.both, strict=False)]
    bounds = [f"min({', '.join(begins)})", *begins] if len(begins) > 1 else begins
    for bound in bounds:
        late = condition(f"{term} >= {bound} + {max(sizes.both)}", own.dims, (*program.symbols, *program.sizes))
        if never(program, own, late):
            return f"{term} < {bound}"
    raise ScheduleError(f"the terms of {own.name} are not those before its cell")
