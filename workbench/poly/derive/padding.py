"""Partial tiles made full: instances beyond the domain work on cells of buffers that hold neutral elements."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Read, index_names
from workbench.poly.derive.deriving import Body, body_of, fresh_ids, fresh_name, statement
from workbench.poly.derive.filling import Number, fits, neutral_filling
from workbench.poly.derive.partitioning import Tiles
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.program import Access, Array, Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import to_isl
from workbench.poly.time.timemap import domain_of, instance, prefix, row
from workbench.records import record

Grown = dict[str, isl.Set]


@record
class Padded:
    """What padding changes: statements (by id) that execute more instances, statements that fill cells with neutral
    elements beside others (by id), and the arrays that have more cells.
    """

    grown: dict[str, ProgramStatement]
    fills: dict[str, ProgramStatement]
    arrays: dict[str, Array]


@isl.guarded
def with_tiles_filled(program: Program, tree: Tree, ids: tuple[str, ...], depth: int) -> Padded:
    """Every tile below `depth` loops full, for the statements (ids) that compute there.

    What an added instance reads holds an element that makes its contribution neutral; ScheduleError where that cannot
    be, or where an array of the caller would be left.
    """
    grown: Grown = {}
    for own in (program.statement(s) for s in ids):
        more = _beyond(program, tree, own, depth)
        if more is not None and not _copies(program, own):
            _stay_inside(program, own, more)
            grown[own.id] = more
    if not grown:
        raise ScheduleError("every tile is full already")
    missing = _missing(program, grown)
    filling = _filling(program, grown, missing)
    ids_left = iter(fresh_ids(program, len(grown) + len(missing)))
    arrays = {a: _with_cells(program, a, grown) for a in _local(program, grown)}
    known = {**program.arrays, **arrays}
    bigger = {s: _grown(program, known, s, more, next(ids_left)) for s, more in grown.items()}
    fills = [_fill(program, known, array, cells, filling, next(ids_left)) for array, cells in missing.items()]
    return Padded(bigger, dict(fills), arrays)


def _beyond(program: Program, tree: Tree, own: ProgramStatement, depth: int) -> isl.Set | None:
    """The instances that are missing in partial tiles, None if no tile is partial."""
    if isl.parse_set(own.domain).is_empty():
        return None
    tiles = Tiles(program, tree, own, depth, filled=True)
    every = tiles.whole.intersect_range(tiles.box).domain().intersect_params(isl.parse_set(program.context))
    every = every.intersect(_elsewhere(own, tiles))
    more = every.subtract(isl.parse_set(own.domain)).coalesce()
    if not more.is_bounded():
        raise ScheduleError(f"tiles of {own.name} have no bounds of their own: pad loops that tile all it runs over")
    return None if more.is_empty() else more


def _elsewhere(own: ProgramStatement, tiles: Tiles) -> isl.Set:
    """Instances that differ from those there are along dims of loops inside only: the others may be fused outside."""
    inside = set().union(*(index_names(row(x, own, tiles.program)) for x in tiles.loops[tiles.depth :]))
    found = domain_of(tiles.program, own)
    name = found.get_tuple_name()
    for place in (n for n, d in enumerate(own.dims) if d in inside):
        found = found.project_out(isl.dim.set, place, 1).insert_dims(isl.dim.set, place, 1)
    return found.set_tuple_name(name)


def _copies(program: Program, own: ProgramStatement) -> bool:
    """Whether it only moves values to or from an array that is not local: it stays as it is."""
    moves = len(own.values) == 1 and isinstance(own.values[0], Read)
    return moves and any(program.arrays[a.array].scope == "global" for a in own.accesses)


def _stay_inside(program: Program, own: ProgramStatement, more: isl.Set) -> None:
    for access in own.accesses:
        if not access.exact:
            raise ScheduleError(f"{own.name} touches {access.array} at cells that data decide: isolate the full tiles")
        if program.arrays[access.array].scope == "local":
            continue
        cells = _relation(program, own, access).intersect_domain(more).range()
        if not cells.is_subset(isl.parse_map(access.relation).range()):
            verb = "read" if access.kind == "read" else "write"
            raise ScheduleError(
                f"full tiles of {own.name} would {verb} {access.array} outside; stage({access.array!r}, ...) first"
            )


def _relation(program: Program, own: ProgramStatement, access: Access) -> isl.Map:
    """The access of every instance there could be."""
    try:
        cell = ", ".join(affine_text(e) for e in access.subscripts)
    except NotAffine as error:
        where = f"{own.name} touches {access.array} at a cell that a condition chooses"
        raise ScheduleError(f"{where}: partition it first") from error
    return isl.parse_map(f"{prefix(program)}{{ {instance(own)} -> {to_isl(access.array)}[{cell}] }}")


def _touched(program: Program, grown: Grown, array: str, *, reading: bool = False) -> isl.Set | None:
    """The cells of an array that added instances touch (or read)."""
    found = [
        _relation(program, own, a).intersect_domain(more).range()
        for own, more in ((program.statement(s), more) for s, more in grown.items())
        for a in own.accesses
        if a.array == array and (a.kind == "read" or not reading)
    ]
    return reduce(isl.Set.union, found) if found else None


def _local(program: Program, grown: Grown) -> list[str]:
    names = dict.fromkeys(a.array for s in grown for a in program.statement(s).accesses)
    return [n for n in names if program.arrays[n].scope == "local"]


def _missing(program: Program, grown: Grown) -> dict[str, isl.Set]:
    """For each local array the cells that added instances read and nobody writes before."""
    found = {}
    for array in _local(program, grown):
        cells = _touched(program, grown, array, reading=True)
        if cells is None:
            continue
        for own in program.statements:
            for access in own.writes:
                if access.array == array and own.kind != "update":
                    cells = cells.subtract(isl.parse_map(access.relation).range())
                    if own.id in grown:
                        cells = cells.subtract(_relation(program, own, access).intersect_domain(grown[own.id]).range())
        cells = cells.intersect_params(isl.parse_set(program.context)).coalesce()
        if not cells.is_empty():
            found[array] = cells
    return found


def _filling(program: Program, grown: Grown, missing: dict[str, isl.Set]) -> Number:
    """The element that makes every contribution to a cell of the original neutral."""
    needed = []
    for own, more in ((program.statement(s), more) for s, more in grown.items()):
        write = own.writes[0]
        real = more.intersect(_relation(program, own, write).intersect_range(_in_use(program, write)).domain())
        if real.is_empty():
            continue
        if own.kind != "update" or len(own.writes) > 1:
            raise ScheduleError(f"full tiles of {own.name} would write cells of {write.array} twice")
        for access in own.reads:
            outside = missing.get(access.array)
            reads = _relation(program, own, access).intersect_domain(real).range()
            if not access.accumulates and (outside is None or not reads.is_subset(outside)):
                raise ScheduleError(
                    f"full tiles of {own.name} would add values of {access.array}; stage({access.array!r}, ...) inside "
                    "the loops whose tiles are filled, so that there is room for neutral elements"
                )
        needed.append(own)
    return neutral_filling(needed)


def _in_use(program: Program, write: Access) -> isl.Set:
    """The cells of the array that a statement writes, and those that any reads without adding to them."""
    read = [a for s in program.statements for a in s.reads if a.array == write.array and not a.accumulates]
    return reduce(isl.Set.union, [isl.parse_map(a.relation).range() for a in (write, *read)])


def _grown(
    program: Program, arrays: dict[str, Array], identifier: str, more: isl.Set, new: str
) -> ProgramStatement:
    """The statement with more instances; those that it had stand for themselves, the others for none."""
    own = program.statement(identifier)
    domain = isl.parse_set(own.domain)
    origin = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    whole = domain.union(more).coalesce()
    hull = isl.Set.from_basic_set(whole.simple_hull())  # one piece, where pieces that fit were not joined
    space = (own.dims, hull if hull.is_subset(whole) else whole)
    return statement(program, arrays, (new, own.name), space, body_of(own), "computes", origin)


def _fill(
    program: Program, arrays: dict[str, Array], array: str, cells: isl.Set, filling: Number, new: str
) -> tuple[str, ProgramStatement]:
    """(id of the statement that writes the array first, a statement that fills cells beside it)."""
    writers = [s for s in program.statements if s.kind != "update" and any(a.array == array for a in s.writes)]
    if len(writers) != 1:
        raise ScheduleError(f"{array} is written by {len(writers)} statements; room beside one of them is needed")
    first, access = writers[0], writers[0].writes[0]
    relation = _relation(program, first, access).intersect_range(cells)
    if not relation.is_injective() or not cells.is_subset(relation.range()):
        raise ScheduleError(f"{first.name} does not write each cell of {array} once: nothing can be filled beside it")
    own = arrays[array]
    if not fits(filling, own.dtype):
        raise ScheduleError(f"{array} cannot hold the neutral element {filling}")
    kind = float if own.dtype.is_float else int
    value = Const(kind(filling), own.dtype)
    name = fresh_name(f"{array}.pad", {s.name for s in program.statements})
    body = Body("assign", first.targets, (value,), None, f"{array}(...) = {filling}")
    space = (first.dims, relation.domain())
    return first.id, statement(program, arrays, (new, name), space, body, "neutral")


def _with_cells(program: Program, array: str, grown: Grown) -> Array:
    """The array with room for what the added instances touch."""
    own, context = program.arrays[array], isl.parse_set(program.context)
    more = _touched(program, grown, array)
    assert more is not None
    lower, extent = list(own.lower), list(own.extent)
    for position in range(own.times, own.rank):
        below, above = _beyond_ends(program, own, position, _along(more.intersect_params(context), position))
        lower[position] = _sum(own.lower[position], -below)
        extent[position] = _sum(own.extent[position], below + above)
    return replace(own, lower=tuple(lower), extent=tuple(extent))


def _beyond_ends(program: Program, array: Array, position: int, cells: isl.Set) -> tuple[int, int]:
    """How many coordinates cells lie below and above those that an array has in one dimension, at most."""
    first, count = array.lower[position], array.extent[position]
    found = []
    try:
        ends = affine_text(first), affine_text(Binary("+", _sum(first, -1), count, INT64))
    except NotAffine as error:
        raise ScheduleError(f"{array.name} has extents that are not affine: give the sizes values") from error
    for end in ends:
        apart = cells.apply(isl.parse_map(f"{prefix(program)}{{ [x'] -> [x' - ({end})] }}"))
        found.append(apart.project_out(isl.dim.param, 0, apart.dim(isl.dim.param)))
    low, high = found[0].dim_min_val(0), found[1].dim_max_val(0)
    if not (low.is_int() and high.is_int()):
        raise ScheduleError(f"full tiles reach beyond {array.name} by a number that has no bound")
    return max(0, -unpack.python_int(low)), max(0, unpack.python_int(high))


def _sum(value: Expr, number: int) -> Expr:
    return simplify(Binary("+", value, Const(number, INT64), INT64)) if number else value


def _along(cells: isl.Set, position: int) -> isl.Set:
    """The coordinates in one dimension, without a name."""
    rank = cells.dim(isl.dim.set)
    cells = cells.reset_tuple_id() if cells.has_tuple_id() else cells
    return cells.project_out(isl.dim.set, position + 1, rank - position - 1).project_out(isl.dim.set, 0, position)
