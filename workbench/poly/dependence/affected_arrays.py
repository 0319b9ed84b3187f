"""Which arrays a step affects: only their values have to be looked at."""

from __future__ import annotations

from itertools import zip_longest

from workbench.poly.dependence.flow_cache import shortened, times_of
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Tree, normal, restrict
from workbench.poly.sets import isl
from workbench.poly.time.timemap import naive_tree


def affected(before: Program, after: Program) -> frozenset[str]:
    """The arrays whose values may come from elsewhere in the later program.

    A statement with the same instances in both concerns the arrays that it now touches otherwise, any other statement
    all that it touches.  Where the statements that stayed and touch an array are in another order, it is affected.
    """
    old, new = ({s.id: s for s in p.statements} for p in (before, after))
    stayed = {i for i in old.keys() & new.keys() if _same_instances(old[i], new[i])}
    moved = set() if _order(before, stayed) == _order(after, stayed) else _reordered(before, after, stayed)
    moved |= {a.array for found in (old, new) for i, s in found.items() if i not in stayed for a in s.accesses}
    stood_for = (isl.parse_map(s.origin).get_tuple_name(isl.dim.out) for s in after.statements if s.origin)
    moved |= {a.array for i in stood_for for a in old[i].accesses}
    return frozenset(moved.union(*(_otherwise(old[i], new[i]) for i in stayed)))


def _order(program: Program, among: set[str]) -> Tree | None:
    """The order of some statements among themselves."""
    tree = restrict(naive_tree(program), among)
    return tree and normal(tree)


def _reordered(before: Program, after: Program, among: set[str]) -> set[str]:
    """The arrays that some statements touch in another order."""
    return {
        name for name in {*before.arrays, *after.arrays} if _times(before, name, among) != _times(after, name, among)
    }


def _times(program: Program, array: str, among: set[str]) -> dict[str, list[str]]:
    own = [s for s in program.statements if s.id in among and any(a.array == array for a in s.accesses)]
    return shortened(times_of(program, own))


def _same_instances(old: ProgramStatement, new: ProgramStatement) -> bool:
    if old is new:
        return True
    alike = (old.kind, old.dims, old.reduction) == (new.kind, new.dims, new.reduction) and not new.origin
    return alike and (old.domain == new.domain or bool(isl.parse_set(old.domain).is_equal(isl.parse_set(new.domain))))


def _otherwise(old: ProgramStatement, new: ProgramStatement) -> set[str]:
    """The arrays that a statement touches in another way than before."""
    if old is new:
        return set()
    arrays = {a.array for s in (old, new) for a in s.accesses}
    return {name for name in arrays if not _alike(_to(old, name), _to(new, name))}


def _to(own: ProgramStatement, array: str) -> list[Access]:
    return [a for a in own.accesses if a.array == array]


def _alike(old: list[Access], new: list[Access]) -> bool:
    return all(a is not None and b is not None and _equal(a, b) for a, b in zip_longest(old, new))


def _equal(a: Access, b: Access) -> bool:
    if (a.kind, a.exact, a.guarded, a.accumulates) != (b.kind, b.exact, b.guarded, b.accumulates):
        return False
    return a.relation == b.relation or bool(isl.parse_map(a.relation).is_equal(isl.parse_map(b.relation)))
