"""Scatters: updates of cells that data name (histograms, sums by segment, gradients of gathers), by many threads.

    for i: h(bin(i)) += 1   →   each i on a thread of its own, whose updates are atomic

Iterations that meet in a cell take turns there; in which order is open, so that sums of floats may differ in their
last bits from one call to the next.  Where the loops without dependences alone fill the GPU, nothing is made atomic.
"""

from __future__ import annotations

from math import prod

from workbench.lang.expr import Binary, Expr, Read, index_names, walk
from workbench.lang.operator import Monoid
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import Loop, path
from workbench.schedules.recipes.gpu.grids import THREADS, gridded
from workbench.schedules.recipes.gpu.shared import (
    legal_after,
    most_iterations,
    outer_loops_of,
    parallel,
    walked_dim,
)
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import atomic
from workbench.target import Target


def scattered(schedule: Schedule, ids: tuple[str, ...], host: set[str], target: Target) -> Schedule | None:
    """A grid of iterations that meet in cells by atomic updates; None where nothing scatters, or where what does not
    depend on anything is enough for every multiprocessor.
    """
    own = [schedule.program.statement(s) for s in ids]
    meeting = [s for s in own if scatters(s)]
    if not meeting or any(_bits(schedule, s) < target.language.atomic_bits for s in meeting):
        return None
    free = _free(schedule, ids, host)
    if _enough(schedule, free, target):
        return None
    after = legal_after(schedule, *(atomic(s.name) for s in meeting))
    if after is None:
        return None
    freed = {x.name for x in _free(after, ids, host)} - {x.name for x in free}
    named = {x.name for s in meeting for x in path(after.tree, s.id) if walked_dim(x, s.id) in _named(s)}
    if not freed & named:
        return None
    summed = {x.name for x in outer_loops_of(after, ids)} & freed - named
    return gridded(after, ids, host | summed, target)


def scatters(statement: ProgramStatement) -> bool:
    """Whether a statement updates cells, one each time, that data name, or a quotient or remainder of its loops."""
    if statement.kind != "update" or statement.reduction is None or isinstance(statement.reduction, Monoid):
        return False
    (_, subscripts), *others = statement.targets
    return not others and any(index_names(e) and any(map(_many_to_one, walk(e))) for e in subscripts)


def _many_to_one(node: Expr) -> bool:
    return isinstance(node, Read) or (isinstance(node, Binary) and node.op in "/%")


def _bits(schedule: Schedule, statement: ProgramStatement) -> int:
    """Bits of the cells that a statement updates."""
    return schedule.program.arrays[statement.targets[0][0]].dtype.bits


def _named(statement: ProgramStatement) -> frozenset[str]:
    """The dims that say which cell an instance updates."""
    return frozenset().union(*(index_names(e) for _, subscripts in statement.targets for e in subscripts))


def _free(schedule: Schedule, ids: tuple[str, ...], host: set[str]) -> list[Loop]:
    """The loops around the statements whose iterations may run at once."""
    loops = [x for x in outer_loops_of(schedule, ids) if x.name not in host and x.kind == "serial"]
    return [x for x in loops if parallel(schedule, ids[0], x.name)]


def _enough(schedule: Schedule, free: list[Loop], target: Target) -> bool:
    """Whether loops are known to have a block of threads for every multiprocessor."""
    counts = [most_iterations(schedule, x) for x in free]
    return None not in counts and prod(c or 1 for c in counts) >= THREADS * target.device.multiprocessors
