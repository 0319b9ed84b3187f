"""How long values live: which cells are written while others are still of use."""

from __future__ import annotations

from functools import lru_cache, reduce

from workbench.poly.dependence.flow import dependences
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.poly.sets import isl, unpack
from workbench.poly.time.timemap import time_map

LARGEST = 1 << 20
TRIED = 64


@isl.guarded
def smallest_fold(program: Program, tree: Tree, array: str, dimension: int) -> int | None:
    """The smallest number of values of a cell dimension to keep, modulo itself, so that none is overwritten before its
    last read in the order of the tree; None if there is none for all sizes, or if it saves nothing.
    """
    position = dimension + program.arrays[array].times
    apart = _distances(program, tree, array, position)
    if apart is None:
        return None
    extent = _extent(program, array, position)
    found = _not_dividing(apart)
    return None if found is None or (extent is not None and found >= extent) else found


def _distances(program: Program, tree: Tree, array: str, position: int) -> isl.Set | None:
    """`c' - c` for a value at coordinate c that lives while coordinate c' of the same row is written."""
    apart = _overlaps(program, tree, array)
    if apart is None:
        return None
    for other in range(apart.dim(isl.dim.set)):
        if other != position:
            apart = apart.fix_val(isl.dim.set, other, isl.value(0))
    rank = apart.dim(isl.dim.set)
    apart = apart.project_out(isl.dim.set, position + 1, rank - position - 1).project_out(isl.dim.set, 0, position)
    return apart.project_out(isl.dim.param, 0, apart.dim(isl.dim.param)).coalesce()


@lru_cache(maxsize=64)
def _overlaps(program: Program, tree: Tree, array: str) -> isl.Set | None:
    """How far apart two cells are of which one is written while the other's value is still of use."""
    flows = [d for d in dependences(program) if d.array == array and d.kind in ("flow", "reduction")]
    touching = tuple(s.id for s in program.statements if any(a.array == array for a in s.accesses))
    writes = [isl.parse_map(a.relation) for s in program.statements for a in s.writes if a.array == array]
    if not flows or not writes:
        return None
    times = time_map(program, tree, touching)
    lives = _union([isl.parse_map(d.relation) for d in flows]).apply_domain(times).apply_range(times)
    cells = _union(writes).apply_domain(times)
    context = isl.parse_set(program.context)
    live, cell = (_single(r) for r in (lives, cells))
    if live is None or cell is None:
        return None
    later = isl.Map.lex_lt(live.get_space().domain())
    during = later.intersect(live.apply_range(later.reverse()))
    pairs = during.apply_domain(cell).apply_range(cell).intersect_params(context)
    return pairs.deltas()


def _not_dividing(apart: isl.Set) -> int | None:
    """The smallest positive number of which no multiple but 0 is in the set."""
    apart = apart.reset_tuple_id() if apart.has_tuple_id() else apart
    apart = apart.subtract(isl.parse_set("{ [0] }"))
    if apart.is_empty():
        return 1
    low, high = apart.dim_min_val(0), apart.dim_max_val(0)
    if not (low.is_int() and high.is_int()):
        return None
    most = max(-unpack.python_int(low), unpack.python_int(high)) + 1
    if most > LARGEST:
        return None
    tried = range(2, min(most, TRIED))
    return next((n for n in tried if apart.intersect(isl.parse_set(f"{{ [x] : x mod {n} = 0 }}")).is_empty()), most)


def _extent(program: Program, array: str, position: int) -> int | None:
    touched = [isl.parse_map(a.relation).range() for s in program.statements for a in s.accesses if a.array == array]
    cells = reduce(isl.Set.union, touched).intersect_params(isl.parse_set(program.context))
    low, high = cells.dim_min_val(position), cells.dim_max_val(position)
    return unpack.python_int(high) - unpack.python_int(low) + 1 if low.is_int() and high.is_int() else None


def _union(relations: list[isl.Map]) -> isl.UnionMap:
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, relations))


def _single(relation: isl.UnionMap) -> isl.Map | None:
    """The one relation that a union consists of."""
    found = unpack.maps(relation)
    return reduce(isl.Map.union, found) if found else None
