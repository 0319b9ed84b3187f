"""Updates that read their own array: how far out the cells they read are others than those they write."""

from __future__ import annotations

from itertools import takewhile

from workbench.errors import BudgetExceeded
from workbench.lang.expr import index_names
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path, statements
from workbench.poly.regions.regions import Around
from workbench.poly.sets import isl
from workbench.poly.time.timemap import row

TILE = ("unroll", "vector")


def apart(program: Program, tree: Tree) -> dict[str, frozenset[str]]:
    """For updates (ids) that read other cells of the array they write: the innermost loops around each, by name, all
    of whose iterations together read no cell that one of them writes.

    Such loops may keep the cells in registers.  Only loops that a register tile may have are looked at: those over
    cells, unrolled or in lanes, if there are any, and the reduction around them or in lanes itself.
    """
    found = {}
    for s in map(program.statement, statements(tree)):
        others = _others(program, s)
        inner = _tile(program, s, path(tree, s.id)) if others else ()
        if inner and _never_meet(program, tree, s, others, len(inner)):
            found[s.id] = frozenset(x.name for x in inner)
    return found


def _others(program: Program, own: ProgramStatement) -> list[Access]:
    """The reads of arrays that the statement writes, other than of the cell it adds to."""
    if added(program, own) is None:
        return []
    written = dict(own.targets)
    return [a for a in own.reads if a.array in written and not a.accumulates and a.subscripts != written[a.array]]


def _tile(program: Program, own: ProgramStatement, around: tuple[Loop, ...]) -> tuple[Loop, ...]:
    """The loops over a tile's cells, innermost, and the loops outside them that stay in a cell."""
    moving = {name for _, subscripts in own.targets for e in subscripts for name in index_names(e)}

    def stays(loop: Loop) -> bool:
        return not index_names(row(loop, own, program)) & moving

    cells = list(takewhile(lambda x: x.kind in TILE, reversed(around)))
    outside = around[: len(around) - len(cells)]
    reductions = list(takewhile(lambda x: x.kind == "serial" and stays(x), reversed(outside)))
    inner = around[len(outside) - len(reductions) :]
    return inner if any(map(stays, inner)) else ()


@isl.guarded
def _never_meet(program: Program, tree: Tree, own: ProgramStatement, others: list[Access], inner: int) -> bool:
    """Whether, in one iteration of the loops outside, no cell that is read is one that is written."""
    outside = Around(program, tree, len(path(tree, own.id)) - inner)
    try:
        for array, _ in own.targets:
            read = outside.cells([(own, a) for a in others if a.array == array])
            written = outside.cells([(own, a) for a in own.accesses if a.kind == "write" and a.array == array])
            if read is not None and written is not None and not read.is_disjoint(written):
                return False
    except BudgetExceeded:
        return False
    return True
