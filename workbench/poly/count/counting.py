"""Exact counts for bound programs: instances, operations, cells, bytes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, reduce
from math import prod

from workbench.errors import LoweringError, unknown_name
from workbench.lang import operation_counts
from workbench.poly.programs.program import AccessKind, Program, ProgramStatement
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.witness import fix_sizes


@lru_cache(maxsize=1024)
@isl.guarded
def points(program: Program, statement: str) -> int:
    """Number of instances of a statement (by id or name); LoweringError while sizes are symbolic."""
    return cardinality(isl.parse_set(_bound(program).statement(statement).domain))


@lru_cache(maxsize=1024)
@isl.guarded
def points_at(program: Program, statement: str, sizes: tuple[tuple[str, int], ...]) -> int:
    """Number of instances of a statement (by id) at sizes that bind the symbols of its program."""
    return cardinality(fix_sizes(isl.parse_set(program.statement(statement).domain), dict(sizes)))


def flops(program: Program) -> int:
    """Arithmetic operations on data, whatever their type: the definition is that of `ops.flops`.

    Initialisations count nothing.  LoweringError while sizes are symbolic.
    """
    return sum(points(program, s.id) * operations(s) for s in program.statements if s.kind != "initialise")


def operations(statement: ProgramStatement) -> int:
    """Operations of one instance, as `flops` counts them."""
    return operation_counts.instance_operations(statement.values, statement.reduction)


def bytes(program: Program) -> int:
    """The least traffic with memory: every input cell read and every output cell written, once.

    An in/out tensor counts both; temporaries count nothing.  A gather counts at most one cell for each
    instance.
    """
    total = 0
    for array in program.arrays.values():
        reads = array.role in ("input", "inout") and footprint(program, array.name, kind="read")
        writes = array.role in ("output", "inout") and footprint(program, array.name, kind="write")
        total += (reads + writes) * array.dtype.bytes
    return total


@lru_cache(maxsize=1024)
@isl.guarded
def footprint(program: Program, array: str, instances: str | None = None, kind: AccessKind | None = None) -> int:
    """Number of distinct cells of an array that are touched.

    `instances` (isl text of a union of sets over statement ids, everything by default) says by whom, `kind`
    how. May-accesses count at most one cell for each instance and access.
    """
    if array not in program.arrays:
        raise LoweringError(unknown_name("array", array, program.arrays))
    chosen = None if instances is None else isl.parse_union_set(instances)
    cells: list[isl.Set] = []
    touches = 0
    for statement in _bound(program).statements:
        for access in statement.accesses:
            if access.array == array and kind in (None, access.kind):
                relation = _restricted(isl.parse_map(access.relation), chosen)
                cells.append(relation.range())
                # an instance touches one cell, whatever isl must assume
                touches += cardinality(relation.domain())
    return min(cardinality(reduce(isl.Set.union, cells)), touches) if cells else 0


def _restricted(relation: isl.Map, chosen: isl.UnionSet | None) -> isl.Map:
    if chosen is None:
        return relation
    mine = [s for s in unpack.sets(chosen) if s.get_tuple_name() == relation.get_tuple_name(isl.dim.in_)]
    if not mine:
        return relation.intersect_domain(isl.Set.empty(relation.domain().get_space()))
    return relation.intersect_domain(mine[0])


def _bound(program: Program) -> Program:
    if program.symbols:
        names = ", ".join(program.symbols)
        raise LoweringError(f"{program.name}: counting needs every size; give {names}")
    return program


def cardinality(points: isl.Set) -> int:
    """Number of points of a bounded set without parameters: products by factors, the rest by isl."""
    if points.is_empty():
        return 0
    pieces = unpack.basic_sets(points.coalesce().make_disjoint())
    return sum(_count_piece(piece) for piece in pieces)


def _count_piece(piece: isl.Set) -> int:
    volume = _box_volume(piece)
    if volume is not None:
        return volume
    return prod(unpack.count(part) for part in independent_parts(piece))


def _box_volume(piece: isl.Set) -> int | None:
    """Product of the extents if the set fills its bounding box."""
    box = isl.Set.universe(piece.get_space())
    lengths = []
    for d in range(piece.dim(isl.dim.set)):
        low, high = piece.dim_min_val(d), piece.dim_max_val(d)
        if not (low.is_int() and high.is_int()):
            return None
        box = box.lower_bound_val(isl.dim.set, d, low).upper_bound_val(isl.dim.set, d, high)
        lengths.append(unpack.python_int(high) - unpack.python_int(low) + 1)
    return prod(lengths) if box.is_subset(piece) else None


# -- A set as a product of sets over fewer dimensions, which can be counted apart --

def independent_parts(piece: isl.Set) -> list[isl.Set]:
    """Sets over groups of dimensions that say nothing about each other; a convex piece that is not empty is their
    product, up to the order of dimensions.
    """
    groups = _groups(piece)
    return [_over(piece, group) for group in groups] if len(groups) > 1 else [piece]


def _groups(piece: isl.Set) -> list[list[int]]:
    """Dimensions that share a constraint, directly or through others."""
    count = piece.dim(isl.dim.set)
    groups: list[set[int]] = [{d} for d in range(count)]
    for tied in _ties(piece):
        joined = set(tied).union(*(g for g in groups if g & tied))
        groups = [*(g for g in groups if not g & tied), joined]
    return sorted(found for g in groups if (found := sorted(d for d in g if d < count)))


def _ties(piece: isl.Set) -> Iterable[set[int]]:
    """For each constraint, what it speaks about: dimensions, and after them the existentially quantified ones.

    A variable that is defined as a quotient is bound by constraints too, because isl needs them to find points.
    """
    count = piece.dim(isl.dim.set)
    for basic in piece.get_basic_sets():
        for constraint in basic.get_constraints():
            hidden = range(constraint.dim(isl.dim.div))
            own = {d for d in range(count) if constraint.involves_dims(isl.dim.set, d, 1)}
            yield own | {count + d for d in hidden if constraint.involves_dims(isl.dim.div, d, 1)}


def _over(piece: isl.Set, group: list[int]) -> isl.Set:
    """The piece on some of its dimensions."""
    for dimension in reversed(range(piece.dim(isl.dim.set))):
        if dimension not in group:
            piece = piece.project_out(isl.dim.set, dimension, 1)
    return piece


def every_touch(program: Program, statement: str) -> int:
    """Bytes that the instances of a statement (an id) move if nothing is kept between two of them."""
    own = program.statement(statement)
    return points(program, statement) * sum(program.arrays[a.array].dtype.bytes for a in own.accesses)
