"""Where the cells of an array are kept: other coordinates for them, another number of places between rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from workbench.errors import ScheduleError, unknown_name
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, integer, substitute, transform
from workbench.poly.dependence.bounds import box
from workbench.poly.derive.deriving import Body, body_of, changed
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.binding import row_major
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.regions.boxes import written
from workbench.poly.sets import isl
from workbench.poly.time.timemap import prefix
from workbench.records import record

Cell = tuple[Expr, ...]


@record
class Layout:
    """New coordinates of a cell: expressions over the names of the old ones."""

    names: tuple[str, ...]
    coordinates: tuple[Expr, ...]

    def of(self, cell: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The coordinates of one cell."""
        old = dict(zip(self.names, cell, strict=True))
        return tuple(simplify(substitute(e, old), INT32) for e in self.coordinates)


def own_array(program: Program, step: str, name: str) -> Array:
    """An array whose storage is the schedule's to choose; ScheduleError for those that belong to the caller."""
    if name not in program.arrays:
        raise ScheduleError(f"{step}: {unknown_name('array', name, list(program.arrays))}")
    array = program.arrays[name]
    if array.role != "temporary":
        raise ScheduleError(
            f"{step}: {name} is an {array.role}: the caller says how it is stored; stage({name!r}, ...) first and "
            "change the buffer"
        )
    return array


def cell_names(array: Array) -> tuple[str, ...]:
    """Names for the dimensions of an array that name its cell, not the iteration it belongs to."""
    return tuple(f"d{i}" for i in range(array.rank - array.times))


@isl.guarded
def with_other_layout(program: Program, array: Array, layout: Layout) -> tuple[Array, tuple[ProgramStatement, ...]]:
    """The array with its cells under other coordinates, and every statement that touches it changed."""
    lower, extent = _ends(program, array, layout)
    times = array.times
    lower, extent = (*array.lower[:times], *lower), (*array.extent[:times], *extent)
    strides = row_major(extent) if array.scope == "global" else tuple(Const(0, INT32) for _ in extent)
    made = replace(array, lower=lower, extent=extent, strides=strides, padding=())

    def place(cell: Cell) -> Cell:
        return (*cell[:times], *layout.of(cell[times:]))

    return made, tuple(redirected(program, made, s, place) for s in program.statements)


def redirected(
    program: Program, made: Array, own: ProgramStatement, place: Callable[[Cell], Cell]
) -> ProgramStatement:
    """A statement with the cells of one array elsewhere."""
    if not any(a.array == made.name for a in own.accesses):
        return own

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor == made.name:
            return Read(node.tensor, place(node.subscripts), node.dtype)
        return node

    body: Body = body_of(own)
    moved = [(t, tuple(transform(e, change) for e in cell)) for t, cell in body.targets]
    targets = tuple((t, place(cell) if t == made.name else cell) for t, cell in moved)
    body = replace(body, targets=targets, values=tuple(transform(v, change) for v in body.values))
    return changed(program, {**program.arrays, made.name: made}, own, body)


def _ends(program: Program, array: Array, layout: Layout) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Lowest coordinates and extents of the cells' new places."""
    whole = box(program, array)
    cells = whole.project_out(isl.dim.set, 0, array.times).reset_tuple_id()
    if not cells.is_bounded():
        raise ScheduleError(f"the extents of {array.name} are not known well enough to give its cells other places")
    context = isl.parse_set(program.context)
    lower, extent = [], []
    for coordinate in layout.coordinates:
        values = cells.apply(_relation(program, layout.names, (coordinate,))).intersect_params(context)
        low, high = values.dim_min(0).coalesce(), values.dim_max(0).coalesce()
        number = high.sub(low).add_constant_val(isl.value(1)).coalesce()
        empty = values.is_empty()
        lower.append(Const(0, INT64) if empty else written(low, context, {}))
        extent.append(Const(0, INT64) if empty else written(number, context, {}))
    return tuple(lower), tuple(extent)


def _relation(program: Program, names: tuple[str, ...], coordinates: tuple[Expr, ...]) -> isl.Map:
    """Old coordinates to new ones."""
    spelt = {name: f"x{i}'" for i, name in enumerate(names)}  # a size may have the name of a coordinate
    renamed: dict[str, Expr] = {name: Index(own) for name, own in spelt.items()}
    try:
        places = ", ".join(affine_text(substitute(e, renamed)) for e in coordinates)
    except NotAffine as error:
        raise ScheduleError("a coordinate is not affine: products and divisors must be numbers") from error
    return isl.parse_map(f"{prefix(program)}{{ [{', '.join(spelt.values())}] -> [{places}] }}")


@isl.guarded
def is_injective(program: Program, array: Array, layout: Layout) -> bool:
    """Whether no two cells that are used in one iteration get the same place."""
    touches = [a for s in program.statements for a in s.accesses if a.array == array.name]
    touched = [isl.parse_map(a.relation).range() for a in touches]
    if not touched:
        return True
    cells = reduce(isl.Set.union, touched).reset_tuple_id().intersect_params(isl.parse_set(program.context))
    times = tuple(f"t{i}'" for i in range(array.times))
    coordinates = tuple(Index(t) for t in times) + layout.coordinates
    return bool(_relation(program, (*times, *layout.names), coordinates).intersect_domain(cells).is_injective())


def with_folded_storage(array: Array, dimension: int, size: int) -> Layout:
    """The layout that keeps one dimension modulo a size."""
    names = cell_names(array)
    cell: list[Expr] = [Index(n) for n in names]
    cell[dimension] = Binary("%", cell[dimension], integer(size), INT32)
    return Layout(names, tuple(cell))
