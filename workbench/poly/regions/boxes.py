"""The box that holds the cells of one visit: which dimensions it needs, where each begins, how long it is."""

from __future__ import annotations

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr
from workbench.poly.programs.program import Array, Program
from workbench.poly.programs.tree import Loop
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.ast_expressions import language_expression

Kept = tuple[int, Expr, Expr]


def coordinate(dimension: int) -> str:
    """The name by which a bound speaks of a cell's coordinate."""
    return f"coordinate {dimension}"


def kept_dimensions(
    program: Program, cells: isl.Set, home: tuple[Loop, ...], array: Array, lanes: int | None
) -> tuple[Kept, ...]:
    """(dimension, lowest coordinate, extent) of each dimension that tells cells apart.

    `cells` are `[home's iteration, cell]`.  A dimension of the array's iterations that the others determine is left
    out, and one in which lanes lie comes last: so neighbours are neighbours in memory.
    """
    found = [(d, *_range(program, cells, home, (), d)) for d in range(array.rank)]
    kept = [x for x in found if not _single(x[2])]
    for candidate in [x for x in kept if x[0] < array.times]:
        others = [d for d, *_ in kept if d != candidate[0]]
        if _determined(cells, len(home), others, candidate[0]):
            kept.remove(candidate)
    outer = tuple(d for d, *_ in kept if d < array.times)
    kept = [x if x[0] < array.times or not outer else _closer(program, cells, home, outer, x) for x in kept]
    kept = [x for x in kept if not _single(x[2])]
    moving = [x for x in kept if x[0] == lanes and x[0] < array.times]
    return tuple([x for x in kept if x not in moving] + moving)


def _single(extent: Expr) -> bool:
    return isinstance(extent, Const) and extent.value <= 1


def _determined(cells: isl.Set, depth: int, others: list[int], dimension: int) -> bool:
    """Whether home and some coordinates leave a single value for another."""
    known = [*range(depth), *(depth + d for d in others)]
    relation = isl.Map.from_range(cells)
    for position in reversed(known):
        relation = relation.move_dims(isl.dim.in_, 0, isl.dim.out, position, 1)
    left = [x for x in range(cells.dim(isl.dim.set)) if x not in known]
    place = left.index(depth + dimension)
    relation = relation.project_out(isl.dim.out, place + 1, len(left) - place - 1).project_out(isl.dim.out, 0, place)
    return bool(relation.is_single_valued())


def _closer(program: Program, cells: isl.Set, home: tuple[Loop, ...], outer: tuple[int, ...], found: Kept) -> Kept:
    """The range of a dimension relative to others, if that makes it a shorter constant."""
    low, extent = _range(program, cells, home, outer, found[0])
    if isinstance(extent, Const) and not (isinstance(found[2], Const) and found[2].value <= extent.value):
        return found[0], low, extent
    return found


def _range(
    program: Program, cells: isl.Set, home: tuple[Loop, ...], outer: tuple[int, ...], dimension: int
) -> tuple[Expr, Expr]:
    """(lowest coordinate in terms of the home's loops and some coordinates, number of coordinates at most)."""
    depth, rank = len(home), cells.dim(isl.dim.set)
    known = [*range(depth), *(depth + d for d in outer)]
    names = {f"t{i}'": x.name for i, x in enumerate(home)}
    names |= {f"x{d}'": coordinate(d) for d in outer}
    own = cells
    for position in reversed([x for x in range(rank) if x not in known and x != depth + dimension]):
        own = own.project_out(isl.dim.set, position, 1)
    place = sorted([*known, depth + dimension]).index(depth + dimension)
    for name, position in zip(reversed(names), reversed([x for x in range(len(names) + 1) if x != place]), strict=True):
        first = own.dim(isl.dim.param)
        own = own.move_dims(isl.dim.param, first, isl.dim.set, position, 1)
        own = own.set_dim_name(isl.dim.param, first, name)
    low, high = own.dim_min(0), own.dim_max(0)
    count = high.sub(low).add_constant_val(isl.value(1))
    return written(low, own.params(), names), _most(program, isl.Set.from_pw_aff(count), list(names))


def _most(program: Program, values: isl.Set, times: list[str]) -> Expr:
    """The largest of some numbers: a constant if there is one for all sizes, else an expression over the sizes."""
    top = values.project_out(isl.dim.param, 0, values.dim(isl.dim.param)).dim_max_val(0)
    if top.is_int():
        return Const(unpack.python_int(top), INT64)
    for name in times:
        values = values.project_out(isl.dim.param, values.find_dim_by_name(isl.dim.param, name), 1)
    return written(values.dim_max(0), isl.parse_set(program.context), {})


def written(function: isl.PwAff, context: isl.Set, variables: dict[str, str]) -> Expr:
    """A function of the parameters as an expression; `variables` are parameters that stand for loops."""
    function = function.gist(context).coalesce()
    build = isl.AstBuild.from_context(context)
    return language_expression(build.expr_from_pw_aff(function), variables)
