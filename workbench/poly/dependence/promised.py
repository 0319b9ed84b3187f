"""What promises about data say of two accesses: `injective(idx)` and `in_range(idx, lo, hi)`."""

from __future__ import annotations

from functools import reduce

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Index, Read, substitute
from workbench.lang.operator import Promise
from workbench.poly.programs.affine import NotAffine, affine_text, pieces
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, prefix

Touching = tuple[ProgramStatement, Access]


def promises(program: Program, kind: str) -> dict[str, Promise]:
    """The promises of one kind, by the array they are about."""
    definition = program.original.definition
    return {} if definition is None else {p.tensor: p for p in definition.promises if p.kind == kind}


def promised_cells(program: Program, access: Access) -> isl.Map:
    """The cells an access may touch, given what its index arrays are promised to hold."""
    cells = isl.parse_map(access.relation)
    ranges = promises(program, "in_range")
    for position, subscript in enumerate(access.subscripts):
        if isinstance(subscript, Read) and subscript.tensor in ranges:
            cells = _within(program, cells, position, ranges[subscript.tensor])
    return cells


def _within(program: Program, cells: isl.Map, position: int, promise: Promise) -> isl.Map:
    values: dict[str, Expr] = {n: Const(v, INT64) for n, v in program.sizes.items()}
    try:
        lower, upper = (affine_text(substitute(e, values)) for e in promise.arguments)
    except NotAffine:
        return cells
    rank = cells.dim(isl.dim.out)
    coordinates = [f"x{d}'" for d in range(rank)]
    name = cells.get_tuple_name(isl.dim.out)
    condition = f"{lower} <= {coordinates[position]} < {upper}"
    return cells.intersect_range(
        isl.parse_set(f"{prefix(program)}{{ {name}[{', '.join(coordinates)}] : {condition} }}")
    )


def meetings(program: Program, first: list[Touching], second: list[Touching]) -> tuple[isl.Map | None, bool]:
    """Pairs of instances that may touch one cell, one access of each list, and whether they surely do."""
    if not first or not second:
        return None, True
    injective = promises(program, "injective")
    found = [_meeting(program, a, b, injective) for a in first for b in second]
    return reduce(isl.Map.union, (pairs for pairs, _ in found)), all(sure for _, sure in found)


def _meeting(
    program: Program, first: Touching, second: Touching, injective: dict[str, Promise]
) -> tuple[isl.Map, bool]:
    (s, a), (t, b) = first, second
    pairs = promised_cells(program, a).apply_range(promised_cells(program, b).reverse())
    sure = not a.guarded and not b.guarded
    for left, right in zip(a.subscripts, b.subscripts, strict=True):
        if not _is_affine(left) or not _is_affine(right):
            same = _same_entry(program, s, left, t, right, injective)
            sure = sure and same is not None
            pairs = pairs if same is None else pairs.intersect(same)
    return pairs, sure


def _same_entry(
    program: Program, s: ProgramStatement, left: Expr, t: ProgramStatement, right: Expr, injective: dict[str, Promise]
) -> isl.Map | None:
    """Pairs that look up the same entry of one injective array; None if the promise says nothing here."""
    if not (isinstance(left, Read) and isinstance(right, Read) and left.tensor == right.tensor in injective):
        return None
    primes = {d: Index(f"{d}'") for d in t.dims}
    values: dict[str, Expr] = {n: Const(v, INT64) for n, v in program.sizes.items()}
    try:
        here = [affine_text(substitute(e, values)) for e in left.subscripts]
        there = [affine_text(substitute(e, {**values, **primes})) for e in right.subscripts]
    except NotAffine:
        return None
    equal = " and ".join(f"{x} = {y}" for x, y in zip(here, there, strict=True))
    return isl.parse_map(f"{prefix(program)}{{ {instance(s)} -> {instance(t, primed=True)} : {equal} }}")


def _is_affine(subscript: Expr) -> bool:
    try:
        pieces(subscript)
    except NotAffine:
        return False
    return True
