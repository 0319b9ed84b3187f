"""How far a dim runs, how much of it reads an array, and which guarded reads would be inside without the guard."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import Any

from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Expr, Read, reads
from workbench.poly.programs.affine import NotAffine, guard
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.programs.tree import Loop
from workbench.poly.regions.boxes import written
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import to_isl
from workbench.poly.time.timemap import domain_of, instance, prefix, row_text


@lru_cache(maxsize=4096)
@isl.guarded
def extent(program: Program, statement: str, dim: str) -> int | None:
    """Number of values of a dim over all instances of a statement; None while a size it needs is symbolic."""
    own = program.statement(statement)
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    if domain.is_empty():
        return 0
    position = own.dims.index(dim)
    low, high = domain.dim_min_val(position), domain.dim_max_val(position)
    if not (low.is_int() and high.is_int()):
        return None
    return unpack.python_int(high) - unpack.python_int(low) + 1


@lru_cache(maxsize=4096)
@isl.guarded
def same_range(program: Program, first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Whether two (statement, dim) pairs take the same values, for all sizes for which both have any."""
    a, b = (_values(program, *pair) for pair in (first, second))
    both = a.params().intersect(b.params())
    return bool(a.intersect_params(both).is_equal(b.intersect_params(both)))


def _values(program: Program, statement: str, dim: str) -> isl.Set:
    own = program.statement(statement)
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    position = own.dims.index(dim)
    n = len(own.dims)
    domain = domain.project_out(isl.dim.set, position + 1, n - position - 1)
    return domain.project_out(isl.dim.set, 0, position).reset_tuple_id()


@lru_cache(maxsize=1024)
@isl.guarded
def unguarded_reads(program: Program, statement: str) -> frozenset[Read]:
    """Reads of a statement whose subscripts lie inside the array at every instance, whatever guards them."""
    own = program.statement(statement)
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    found = reads(*own.values)
    return frozenset(r for r in found if r.tensor not in program.arrays or _inside(program, own, domain, r))


def _inside(program: Program, statement: ProgramStatement, domain: isl.Set, read: Read) -> bool:
    array = program.arrays[read.tensor]
    for position, subscript in enumerate(read.subscripts):
        for condition in _outside(array, position, subscript):
            try:
                text, exact = guard(condition)
            except NotAffine:
                return False
            if not exact or not domain.intersect(_where(program, statement, text)).is_empty():
                return False
    return True


def _outside(array: Array, position: int, subscript: Expr) -> tuple[Expr, Expr]:
    """Conditions under which the subscript misses the array."""
    lower = array.lower[position]
    upper = Binary("+", lower, array.extent[position], INT64)
    return Binary("<", subscript, lower, BOOL), Binary(">=", subscript, upper, BOOL)


def _where(program: Program, statement: ProgramStatement, text: str) -> isl.Set:
    such = f" : {text}" if text else ""
    return isl.parse_set(f"{prefix(program)}{{ {instance(statement)}{such} }}")


@isl.guarded
def projected(program: Program, statement: str, dims: tuple[str, ...]) -> str:
    """isl text of the values that some dims of a statement take together."""
    own = program.statement(statement)
    domain = isl.parse_set(own.domain)
    for position in reversed(range(len(own.dims))):
        if own.dims[position] not in dims:
            domain = domain.project_out(isl.dim.set, position, 1)
    return isl.text_of(domain.set_tuple_name(own.id))


@lru_cache(maxsize=4096)
@isl.guarded
def independent(program: Program, statement: str, dims: tuple[str, ...]) -> bool:
    """Whether each of some dims takes its values whatever the others do, so that together they make a box."""
    domain = isl.parse_set(projected(program, statement, dims))
    return bool(domain.intersect_params(isl.parse_set(program.context)).is_box())


@lru_cache(maxsize=4096)
@isl.guarded
def row_range(program: Program, loop: Loop) -> tuple[int, int] | None:
    """The least and the greatest value of a loop over all its instances; None where sizes decide, or it has none."""
    found = []
    for identifier, _ in loop.rows:
        own = program.statement(identifier)
        text = f"{prefix(program)}{{ {instance(own)} -> [{row_text(loop, own, program)}] }}"
        domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
        values = domain.apply(isl.parse_map(text))
        if not values.is_empty():
            found.append((values.dim_min_val(0), values.dim_max_val(0)))
    if not found or not all(low.is_int() and high.is_int() for low, high in found):
        return None
    return min(unpack.python_int(low) for low, _ in found), max(unpack.python_int(high) for _, high in found)


@lru_cache(maxsize=1024)
@isl.guarded
def runs_once(program: Program, outside: tuple[Loop, ...], loop: Loop) -> bool:
    """Whether a loop has one iteration at most wherever the loops outside of it stand: `m / 32` inside `m / 32`."""
    return bool(_values_of(program, outside, loop).is_single_valued())


@lru_cache(maxsize=1024)
@isl.guarded
def first_values(program: Program, outside: tuple[Loop, ...], loop: Loop) -> tuple[int, int] | None:
    """The least and the greatest number at which a loop begins, as the loops outside of it have it; None where sizes
    decide, or it has no iteration.
    """
    firsts = _values_of(program, outside, loop).lexmin().range()
    low, high = firsts.dim_min_val(0), firsts.dim_max_val(0)
    return (unpack.python_int(low), unpack.python_int(high)) if low.is_int() and high.is_int() else None


def _values_of(program: Program, outside: tuple[Loop, ...], loop: Loop) -> isl.Map:
    """From the values of the loops outside to those of a loop."""
    found = []
    for identifier, _ in loop.rows:
        own = program.statement(identifier)
        around, inside = (", ".join(row_text(x, own, program) for x in some) for some in (outside, (loop,)))
        maps = (isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> [{t}] }}") for t in (around, inside))
        before, value = (m.intersect_domain(domain_of(program, own)) for m in maps)
        found.append(before.reverse().apply_range(value))
    return reduce(isl.Map.union, found)


@lru_cache(maxsize=1024)
@isl.guarded
def longest_run(program: Program, statement: str, array: str, dim: str) -> int | None:
    """How many iterations of a dim read an array at most while the other dims stay, where these follow one another.

    `j >= i - 8 && j <= i + 8 ? A(i, j) : 0` reads 17 cells of each row and of each column.  None where data decide,
    where sizes do, or where an iteration is told by anything else than where the dim begins and ends in whole steps.
    """
    own = program.statement(statement)
    found = [a for a in own.reads if a.array == array]
    if not found or any(a.guarded for a in found):
        return None
    context = isl.parse_set(program.context)
    domains = [isl.parse_map(a.relation).domain().intersect_params(context) for a in found]
    pieces = unpack.basic_sets(reduce(isl.Set.union, domains).coalesce())
    position = own.dims.index(dim)
    limits = [c for piece in pieces for basic in piece.get_basic_sets() for c in basic.get_constraints()]
    if len(pieces) != 1 or not all(_by_ones(c, position) for c in limits):
        return None
    other = instance(own, primed=True)
    same = " and ".join(f"{d} = {d}'" for d in map(to_isl, own.dims) if d != to_isl(dim))
    along = isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> {other} : {same or '1 = 1'} }}")
    apart = along.intersect_domain(pieces[0]).intersect_range(pieces[0]).deltas().dim_max_val(position)
    return unpack.python_int(apart) + 1 if apart.is_int() else None


def _by_ones(constraint: Any, position: int) -> bool:
    """Whether a constraint says where a dim begins or ends, in whole steps of it, and asks for no remainder."""
    hidden = any(constraint.involves_dims(isl.dim.div, n, 1) for n in range(constraint.dim(isl.dim.div)))
    step = unpack.python_int(constraint.get_coefficient_val(isl.dim.set, position))
    return not hidden and (step == 0 or (step in (-1, 1) and not constraint.is_equality()))


# -- Where a statement's dims end, for domains that are boxes from 0 on --

@lru_cache(maxsize=256)
@isl.guarded
def upper_bounds(program: Program, statement: str) -> dict[str, Expr] | None:
    """`{"m": M, "n": N}`: each dim counts from 0 to there whatever the others are; None if it is not so."""
    own, context = program.statement(statement), isl.parse_set(program.context)
    domain = isl.parse_set(own.domain).intersect_params(context)
    if domain.is_empty():
        return None
    box, found = isl.Set.universe(domain.get_space()), {}
    for position, dim in enumerate(own.dims):
        others = domain
        for other in reversed(range(len(own.dims))):
            others = others if other == position else others.project_out(isl.dim.set, other, 1)
        low = others.dim_min_val(0)
        if not (low.is_int() and low.is_zero()):
            return None
        alone = others.insert_dims(isl.dim.set, 0, position)
        alone = alone.insert_dims(isl.dim.set, position + 1, len(own.dims) - position - 1)
        box = box.intersect(alone.set_tuple_name(own.id))
        found[dim] = written(others.dim_max(0).add_constant_val(isl.value(1)), context, {})
    return found if box.intersect_params(domain.params()).is_equal(domain) else None
