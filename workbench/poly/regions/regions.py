"""Which cells the statements below some loops touch, in terms of those loops.

Among them: how far out updates that read their own array read other cells than they write.
"""

from __future__ import annotations

from functools import reduce
from itertools import takewhile

from workbench.errors import BudgetExceeded
from workbench.lang.expr import Expr, index_names
from workbench.poly.dependence.bounds import box
from workbench.poly.programs.accumulating import added
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path, statements
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, prefix, row, row_text
from workbench.records import record


@record
class Around:
    """The loops around a part of the tree, outermost first: time components that the part's statements share."""

    program: Program
    tree: Tree
    depth: int

    def loops(self, statement: str) -> tuple[Loop, ...]:
        """The loops around one statement of the part."""
        return path(self.tree, statement)[: self.depth]

    def rows(self, statement: ProgramStatement) -> tuple[Expr, ...]:
        """A statement's time components, over its dims."""
        return tuple(row(loop, statement, self.program) for loop in self.loops(statement.id))

    def times(self, statement: ProgramStatement) -> isl.Map:
        """Instances to those components."""
        rows = [row_text(loop, statement, self.program) for loop in self.loops(statement.id)]
        pairs = isl.parse_map(f"{prefix(self.program)}{{ {instance(statement)} -> [{', '.join(rows)}] }}")
        domain = isl.parse_set(statement.domain).intersect_params(isl.parse_set(self.program.context))
        return pairs.intersect_domain(domain)

    def cells(self, touches: list[tuple[ProgramStatement, Access]]) -> isl.Set | None:
        """`[times, cell]` of every touch; None if there is none."""
        found = [
            self.times(s).flat_range_product(isl.parse_map(a.relation).reset_tuple_id(isl.dim.out)).range()
            for s, a in touches
        ]
        return reduce(isl.Set.union, found).coalesce() if found else None

    def boxed(self, cells: isl.Set, array: str) -> isl.Set:
        """A convex set of cells around these, inside the array: one loop nest copies it."""
        if cells.n_basic_set() < 2:
            return cells
        inside = box(self.program, self.program.arrays[array]).reset_tuple_id()
        inside = inside.insert_dims(isl.dim.set, 0, self.depth)
        hull = isl.Set.from_basic_set(cells.simple_hull()).intersect(inside)
        ends = [(0, self.depth), *((d, d + 1) for d in range(self.depth, cells.dim(isl.dim.set)))]
        for first, end in ends:  # a simple hull may forget where iterations and subscripts end
            if not hull.is_bounded():
                hull = hull.intersect(_only(cells, first, end).coalesce())
        return hull


def _only(cells: isl.Set, first: int, end: int) -> isl.Set:
    """What some dimensions may be, the others being anything."""
    rank = cells.dim(isl.dim.set)
    kept = cells.project_out(isl.dim.set, end, rank - end).project_out(isl.dim.set, 0, first)
    return kept.insert_dims(isl.dim.set, 0, first).insert_dims(isl.dim.set, end, rank - end)


def depth_of_one_visit(program: Program, tree: Tree, depth: int, touches: list[tuple[ProgramStatement, Access]]) -> int:
    """How many of the loops around all touches share a place for the cells: one iteration of them does all with a cell.

    Where loops were merged or skewed, an inner one of them may write what another of its iterations reads.
    """
    while depth > 0:
        cells = Around(program, tree, depth).cells(touches)
        if cells is None:
            return depth
        rank = cells.dim(isl.dim.set) - depth
        if isl.Map.from_range(cells).move_dims(isl.dim.in_, 0, isl.dim.out, depth, rank).is_single_valued():
            return depth
        depth -= 1
    return depth


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
