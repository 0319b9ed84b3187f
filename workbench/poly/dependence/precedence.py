"""Which of two touches of one cell comes first, and what a read finds where nothing that was written is lost.

isl's flow analysis looks for the last write among all; where each cell is certainly written once, every write that
comes before a read is its source, and most loops around the two need not be looked at: what names the cell names
their iterations too.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce

from workbench.lang.algebra.normal_form import simplify
from workbench.lang.expr import Expr, Index, index_names, substitute
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree
from workbench.poly.sets import isl
from workbench.poly.sets.injectivity import determines
from workbench.poly.time.timemap import before, compare, row, shared
from workbench.records import record


@record(eq=False)
class Touched:
    """An access of a statement, by the instances (and under the context) that count."""

    statement: ProgramStatement
    access: Access
    relation: isl.Map

    @classmethod
    def of(cls, program: Program, own: ProgramStatement, access: Access) -> Touched:
        """The access by every instance of a statement."""
        relation = isl.parse_map(access.relation).intersect_params(isl.parse_set(program.context))
        return cls(own, access, relation)

    @property
    def injective(self) -> bool:
        """Whether no two instances touch one cell."""
        subscripts = self.access.subscripts if self.access.exact else ()
        return determines(subscripts, self.statement.dims) or bool(self.relation.is_injective())


def earlier(program: Program, tree: Tree, first: Touched, second: Touched) -> isl.Map | None:
    """Pairs of instances that touch one cell, the first of them at an earlier time; None if there are none."""
    pairs = first.relation.apply_range(second.relation.reverse())
    if pairs.is_empty():
        return None
    ends = first.statement.id, second.statement.id
    found = list(before(program, tree, *ends, pairs, lambda loop: _same(program, loop, first, second)))
    return reduce(isl.Map.union, found) if found else None


def _same(program: Program, loop: Loop, first: Touched, second: Touched) -> bool:
    """Whether touching one cell means standing in one iteration of the loop, by the look of the subscripts."""
    return same_iteration(program, loop, (first.statement, first.access), (second.statement, second.access))


def same_iteration(
    program: Program, loop: Loop, first: tuple[ProgramStatement, Access], second: tuple[ProgramStatement, Access]
) -> bool:
    """Whether two accesses to one cell surely stand in one iteration of a loop around both."""
    ends = [_of_cell(row(loop, s, program), a.subscripts) for s, a in (first, second)]
    return ends[0] is not None and ends[0] == ends[1]


@lru_cache(maxsize=1 << 13)
def _of_cell(component: Expr, subscripts: tuple[Expr, ...]) -> Expr | None:
    """A time component in terms of the cell's coordinates; None where they do not tell it."""
    known: dict[str, Expr] = {}
    for place, e in enumerate(subscripts):
        if isinstance(e, Index):
            known.setdefault(e.name, Index(f"cell {place}", e.dtype))
    if index_names(component) <= known.keys():
        return simplify(substitute(component, known))
    place = next((i for i, e in enumerate(subscripts) if e == component or simplify(e) == component), None)
    return None if place is None else Index(f"cell {place}")


@record
class Writes:
    """What writes an array: certainly, and perhaps (or in addition to what is there)."""

    certain: tuple[Touched, ...]
    possible: tuple[Touched, ...]

    @property
    def every(self) -> tuple[Touched, ...]:
        return (*self.certain, *self.possible)


def nothing_is_lost(program: Program, tree: Tree, writes: Writes) -> bool:
    """Whether no write is certainly overwritten: then each reaches every later read of its cell."""
    if not all(w.injective for w in writes.certain):
        return False
    cells = [w.relation.range() for w in writes.certain]
    if any(not a.is_disjoint(b) for i, a in enumerate(cells) for b in cells[:i]):
        return False
    return not any(earlier(program, tree, p, c) is not None for p in writes.possible for c in writes.certain)


def nearest(program: Program, tree: Tree, read: Touched, writes: Writes) -> isl.Map | None:
    """From an exact read to the one write that it finds in its own iteration of all loops around both; None where a
    closer look is needed.

    Where no other write shares as many loops with the read, whatever comes before the read comes before that write.
    """
    nearness = [_nearness(tree, w, read) for w in writes.every]
    most = max(nearness, default=0)
    if nearness.count(most) != 1 or nearness.index(most) >= len(writes.certain):
        return None
    write = writes.every[nearness.index(most)]
    common = shared(tree, write.statement.id, read.statement.id)
    if common.position >= 0:
        return None
    pairs = read.relation.apply_range(write.relation.reverse())
    for loop in common.loops:
        if not _same(program, loop, read, write):
            pairs = pairs.intersect(compare(program, loop, read.statement, write.statement, "="))
    alone = pairs.is_single_valued() and read.relation.domain().is_subset(pairs.domain())
    return pairs if alone else None


def _nearness(tree: Tree, write: Touched, read: Touched) -> int:
    """How many loops stand around both."""
    return len(shared(tree, write.statement.id, read.statement.id).loops)


def found_by(program: Program, tree: Tree, read: Touched, writes: Writes) -> tuple[list[isl.Map], isl.Map]:
    """Where nothing is lost and the read is exact: from its instances to the writes it finds, statement by statement,
    and the part of the read that may find nothing.
    """
    found = [earlier(program, tree, w, read) for w in writes.every]
    nothing = read.relation
    for sources in found[: len(writes.certain)]:
        if sources is not None:
            nothing = nothing.subtract_domain(sources.range())
    return [sources.reverse() for sources in found if sources is not None], nothing


def surely_written(program: Program, tree: Tree, read: Touched, certain: Iterable[Touched]) -> bool:
    """Whether some write certainly comes before each instance of an exact read."""
    left = read.relation
    for write in sorted(certain, key=lambda w: -_nearness(tree, w, read)):
        sources = earlier(program, tree, write, read)
        left = left if sources is None else left.subtract_domain(sources.range())
        if left.is_empty():
            return True
    return bool(left.is_empty())
