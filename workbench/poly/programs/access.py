"""Access relations: which cells the instances of a statement read and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.lang.expr import Binary, Expr, Read, Select, children
from workbench.poly.programs.affine import ALWAYS, NotAffine, affine_text, guard, isl_conjunction, pieces
from workbench.poly.programs.program import Access, AccessKind, Array
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.records import record

Guards = tuple[tuple[Expr, bool], ...]


@record(slots=True)
class Space:
    """Where a statement's instances live: isl prefix (`[M, N] -> `), tuple (`S0[m, n]`) and domain.

    The domain is that of the constraints, or `given` as isl text.
    """

    prefix: str
    tuple: str
    constraints: str
    given: str = ""

    @property
    def domain(self) -> str:
        """isl text of the instance set."""
        if self.given:
            return self.given
        return f"{self.prefix}{{ {self.tuple}{_such_that(self.constraints)} }}"

    def relation(self, target: str, conditions: str) -> str:
        """isl text of a relation from the instances; parsing it later costs nothing."""
        if self.given:
            bare = isl.parse_map(f"{self.prefix}{{ {self.tuple} -> {target}{_such_that(conditions)} }}")
            return isl.text_of(bare.intersect_domain(isl.parse_set(self.given)))
        text = f"{self.prefix}{{ {self.tuple} -> {target}{_such_that(isl_conjunction(self.constraints, conditions))} }}"
        bare = isl.parse_map(f"{self.prefix}{{ {self.tuple} -> {target}{_such_that(conditions)} }}")
        return isl.remember(text, bare.intersect_domain(isl.parse_set(self.domain)))


def _such_that(conditions: str) -> str:
    return f" : {conditions}" if conditions != ALWAYS else ""


def guarded_reads(expr: Expr, guards: Guards = ()) -> Iterator[tuple[Read, Guards]]:
    """Every read with the conditions under which it is evaluated."""
    match expr:
        case Select(condition, then, otherwise, _):
            yield from guarded_reads(condition, guards)
            yield from guarded_reads(then, (*guards, (condition, True)))
            yield from guarded_reads(otherwise, (*guards, (condition, False)))
        case Binary("&&" | "||" as op, left, right, _):
            yield from guarded_reads(left, guards)
            yield from guarded_reads(right, (*guards, (left, op == "&&")))
        case _:
            if isinstance(expr, Read):
                yield expr, guards
            for child in children(expr):
                yield from guarded_reads(child, guards)


def distinct_reads(roots: Iterable[Expr]) -> list[tuple[str, tuple[Expr, ...], Guards]]:
    """Every cell that is read, as (tensor, subscripts, conditions), once; a guarded read of a cell that is surely read
    says nothing more.
    """
    found = dict.fromkeys((r.tensor, r.subscripts, guards) for root in roots for r, guards in guarded_reads(root))
    return [(t, cell, guards) for t, cell, guards in found if not guards or (t, cell, ()) not in found]


def read_places(roots: Iterable[Expr]) -> tuple[int, ...]:
    """For every read as it stands in the text, one after another, its place among the distinct ones."""
    roots = tuple(roots)
    places = {read: place for place, read in enumerate(distinct_reads(roots))}
    written = [(r.tensor, r.subscripts, guards) for root in roots for r, guards in guarded_reads(root)]
    return tuple(places[t, cell, guards if (t, cell, guards) in places else ()] for t, cell, guards in written)


def access(
    space: Space,
    array: Array,
    kind: AccessKind,
    subscripts: tuple[Expr, ...],
    guards: Guards = (),
    *,
    accumulates: bool = False,
) -> Access:
    """The access relation; a subscript isl cannot say ranges over the whole extent of its dimension."""
    cells: list[str] = []
    conditions: list[str] = []
    exact = True
    for position, subscript in enumerate(subscripts):
        cell, condition, affine_here = _subscript(position, subscript, array)
        cells.append(cell)
        conditions.append(condition)
        exact = exact and affine_here
    certain = True
    for condition, holds in guards:
        text, known = guard(condition, holds=holds)
        conditions.append(text)
        certain = certain and known
    relation = space.relation(f"{to_isl(array.name)}[{', '.join(cells)}]", isl_conjunction(*conditions))
    return Access(array.name, kind, relation, subscripts, exact and certain, not certain, accumulates)


def _subscript(position: int, subscript: Expr, array: Array) -> tuple[str, str, bool]:
    """(cell coordinate, condition on it, exact)."""
    try:
        cases = pieces(subscript)
    except NotAffine:
        free = f"cell{position}'"  # a prime: no index is spelt like this
        return free, whole_extent(array, position, free), False
    if len(cases) == 1 and cases[0][0] == ALWAYS:
        return cases[0][1], ALWAYS, True
    free = f"cell{position}'"
    return free, "(" + " or ".join(f"({isl_conjunction(c, f'{free} = {a}')})" for c, a in cases) + ")", True


def whole_extent(array: Array, dimension: int, coordinate: str) -> str:
    """`lower <= coordinate < lower + extent`, or no condition where the extent is not affine."""
    try:
        lower = affine_text(array.lower[dimension])
        return f"{lower} <= {coordinate} < {lower} + {affine_text(array.extent[dimension])}"
    except NotAffine:
        return ALWAYS
