"""Fusion: neighbouring nests over the same ranges share their loops, as deep as it is legal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from workbench import poly
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Sequence, Tree, statements
from workbench.schedules import steps
from workbench.schedules.analysis.blocking import blocking
from workbench.schedules.analysis.structure import structure
from workbench.schedules.edit import children
from workbench.schedules.recipes.decisions import decide
from workbench.schedules.recipes.memory.row_fusion import row_sums
from workbench.schedules.recipes.try_steps import attempt, dim_of
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

FEW = 8
"""Nests that would share fewer iterations than this stay apart: the shared loops could not feed several threads."""

MOST_TOGETHER = 24
"""Statements of one nest: more of them need more registers than there are, and judging them takes long."""


def heavy(program: Program, tree: Tree, target: Target) -> bool:
    """Whether a nest holds a reduction that will get blocks of its own."""
    own = [program.statement(s) for s in statements(tree)]
    updates = [s.id for s in own if s.kind == "update" or added(program, s)]
    blocked = [s for s in updates if blocking(structure(program, s), target) is not None]
    return bool(blocked) and not row_sums(program, target).issuperset(blocked)


def fused(schedule: Schedule, target: Target) -> Schedule:
    """Merge neighbours, outermost level first, each pair as deep as it is legal; reductions with blocks stay alone."""
    return fused_but(heavy, schedule, target)


def fused_but(alone: Callable[[Program, Tree, Target], bool], schedule: Schedule, target: Target) -> Schedule:
    """The same where other nests had better stay `alone`."""
    refused: set[tuple[str, str]] = set()
    while True:
        pair = next(mergeable(schedule, schedule.tree, target, refused, alone), None)
        if pair is None:
            return schedule
        a, b, depth = pair
        first, second = statements(a)[-1], statements(b)[0]
        names = [schedule.program.statement(s).name for s in (first, second)]
        parts = tuple(frozenset(statements(nest)) for nest in (a, b))
        for d in range(decide(f"{names[0]}_{names[1]}_fused", depth, range(depth, -1, -1), opens=True), 0, -1):
            after = attempt(schedule, steps.merge(names[0], names[1], depth=d), parts=parts)
            if after is not schedule:
                schedule = after
                break
        else:
            refused.add((first, second))


def mergeable(
    schedule: Schedule, tree: Tree, target: Target, refused: set[tuple[str, str]],
    alone: Callable[[Program, Tree, Target], bool],
) -> Iterator[tuple[Band, Band, int]]:  # fmt: skip
    """(one nest, the next, common depth) for neighbours over the same ranges."""
    if isinstance(tree, Sequence):
        for a, b in neighbours(tree):
            pair = statements(a)[-1], statements(b)[0]
            depth = common_outer_loops(schedule.program, a, b) if pair not in refused else 0
            apart = any(alone(schedule.program, nest, target) for nest in (a, b))
            small = len(statements(a)) + len(statements(b)) <= MOST_TOGETHER
            if depth and small and not apart and enough(schedule, a, depth):
                yield a, b, depth
    for child in children(tree):
        yield from mergeable(schedule, child, target, refused, alone)


def enough(schedule: Schedule, nest: Tree, depth: int) -> bool:
    """Whether the loops that two nests would share have iterations for several threads (symbolic ones may)."""
    assert isinstance(nest, Band)
    first, total = statements(nest)[0], 1
    for position in range(depth):
        dim = dim_of(nest, position, first)
        trip = structure(schedule.program, first).trip(dim) if dim else None
        if trip is None:
            return True
        total *= trip
    return total >= FEW


def neighbours(tree: Sequence) -> Iterator[tuple[Band, Band]]:
    """Pairs of nests with nothing but single statements between them."""
    nests = [c for c in tree.children if isinstance(c, Band)]
    return pairwise(nests)


def common_outer_loops(program: Program, a: Tree, b: Tree) -> int:
    """How many outer loops of two nests run over the same values."""
    if not (isinstance(a, Band) and isinstance(b, Band)):
        return 0
    first, second = statements(a)[0], statements(b)[0]
    for depth in range(min(len(a.loops), len(b.loops))):
        dims = dim_of(a, depth, first), dim_of(b, depth, second)
        if dims[0] is None or dims[1] is None:
            return depth
        if not poly.same_range(program, (first, dims[0]), (second, dims[1])):
            return depth
    return min(len(a.loops), len(b.loops))
