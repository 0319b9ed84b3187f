"""Partial sums: a long reduction to a single value in parts that threads can share.

before → after:  for i: s += x(i)   →   for i_o: { p(i_o) = 0; for i_i: p(i_o) += x(i) };  for i_o: s += p(i_o)

The number of parts does not depend on the number of threads, so the result does not either.
"""

from __future__ import annotations

from math import prod

from workbench.errors import ScheduleError
from workbench.poly.programs.accumulating import written_in_c
from workbench.poly.programs.loop_names import loop_of
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Tree, loops, statements
from workbench.schedules.analysis.structure import structure
from workbench.schedules.recipes.loops.parallelization import SMALL
from workbench.schedules.recipes.try_steps import dim_of, top
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import split_reduction, vectorize
from workbench.target import Target

PARTS = 64
"""Enough for the threads of most processors, and few to add up."""
WHOLE = 256
"""A part is a multiple of so many iterations: all registers that accumulate are full."""


def in_parts(schedule: Schedule, target: Target) -> Schedule:
    """Every nest that only sums up single values, in parts; unchanged without threads, or with too little work."""
    if target.cores < 2 or written_in_c(schedule.program):
        return schedule
    for nest in top(schedule.tree):
        size = part(schedule.program, nest, target)
        if size and isinstance(nest, Band):
            schedule = _in_parts(schedule, nest, size)
    return schedule


def part(program: Program, nest: Tree, target: Target) -> int:
    """Iterations of the outermost loop that make one part; 0 for a nest that is better left whole."""
    shapes = [structure(program, s) for s in statements(nest)]
    if not isinstance(nest, Band) or any(x.kind != "serial" for x in loops(nest)):
        return 0
    if any(shape.free or shape.statement.kind != "update" or None in dict(shape.trips).values() for shape in shapes):
        return 0
    work = sum(prod(trip or 0 for _, trip in shape.trips) for shape in shapes)
    dim = dim_of(nest, 0, statements(nest)[0])
    count = shapes[0].trip(dim) or 0 if dim else 0
    if work < SMALL * target.costs.turns_a_region or count < PARTS:
        return 0
    size = -(-count // PARTS)
    return size if len(shapes[0].statement.dims) > 1 else -(-size // WHOLE) * WHOLE


def _in_parts(schedule: Schedule, nest: Band, size: int) -> Schedule:
    """The outermost loop cut; a single loop is put into lanes here, where what is left of it is known."""
    cut = split_reduction(loop_of(schedule.program.statement(statements(nest)[0]).name, nest.loops[0].name), size)
    try:
        parts = schedule | cut
        return parts if len(list(loops(nest))) > 1 else parts | vectorize(cut.inner)
    except ScheduleError:
        return schedule
