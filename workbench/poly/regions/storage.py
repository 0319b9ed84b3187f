"""Where the cells of local arrays live: found from the order of the instances that touch them.

The loops around everything that touches a local array share its storage, because what one of their iterations
writes is read in the same iteration.  Inside one iteration only a box of cells is touched: that box has a place.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache

from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const, Expr, index_names
from workbench.poly.programs.program import Access, Array, Padding, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path, restrict
from workbench.poly.regions.boxes import kept_dimensions
from workbench.poly.regions.boxes import written as written
from workbench.poly.regions.regions import Around, depth_of_one_visit
from workbench.poly.sets import isl
from workbench.poly.time.timemap import row, shared
from workbench.records import record


@record
class Storage:
    """Storage of one local array, inside the loops `home` (names, outermost first).

    Cell x of the array has the coordinates `x[d] - lower` for the dimensions `d` of `kept`, each below its extent;
    `lower` is over the home's loops (Index), coordinates before it (`coordinate(d)`) and the sizes.
    """

    array: Array
    home: tuple[str, ...]
    kept: tuple[tuple[int, Expr, Expr], ...]

    @property
    def elements(self) -> int | None:
        """Number of places, None if sizes left symbolic decide."""
        return constant(elements(contracted(self)))

    @property
    def bytes(self) -> int | None:
        """Bytes of storage in one iteration of the home's loops."""
        return array_bytes(contracted(self))


@lru_cache(maxsize=256)
@isl.guarded
def storage_of(program: Program, tree: Tree) -> tuple[Storage, ...]:
    """The storage of every local array in this order."""
    found = (place_of(program, tree, name) for name in program.arrays)
    return tuple(storage for storage in found if storage is not None)


@isl.guarded
def place_of(program: Program, tree: Tree, name: str) -> Storage | None:
    """The storage of one local array; None if nothing touches it."""
    array = program.arrays[name]
    if array.scope != "local":
        return None
    touching = tuple(s for s in program.statements if any(a.array == name for a in s.accesses))
    around = restrict(tree, {s.id for s in touching})
    return None if around is None else _placed(_Part(program, array, touching, _frame(program)), around)


@record
class _Part:
    """All that the storage of an array depends on, besides the order: what other statements do is no matter."""

    program: Program = field(compare=False)
    array: Array
    touching: tuple[ProgramStatement, ...]
    frame: tuple[object, ...]


def _frame(program: Program) -> tuple[object, ...]:
    return program.context, program.symbols, tuple(program.sizes.items())


@lru_cache(maxsize=512)
def _placed(part: _Part, tree: Tree) -> Storage:
    return _storage(part.program, tree, part.array)


def _storage(program: Program, tree: Tree, array: Array) -> Storage:
    touches = [(s, a) for s in program.statements for a in s.accesses if a.array == array.name]
    home = home_of(tree, tuple(dict.fromkeys(s.id for s, _ in touches)))
    home = home[: depth_of_one_visit(program, tree, len(home), touches)]
    cells = Around(program, tree, len(home)).cells(touches)
    assert cells is not None
    if cells.is_empty():
        return Storage(array, tuple(x.name for x in home), ())
    lanes = _lanes(program, tree, len(home), touches)
    return Storage(array, tuple(x.name for x in home), kept_dimensions(program, cells, home, array, lanes))


def _lanes(program: Program, tree: Tree, depth: int, touches: list[tuple[ProgramStatement, Access]]) -> int | None:
    """The dimension along which the lanes of the next loop inside lie, if that runs in lanes."""
    for s, access in touches:
        around = path(tree, s.id)
        if access.kind == "write" and len(around) > depth and around[depth].kind == "vector":
            moving = index_names(row(around[depth], s, program))
            return next((p for p, e in enumerate(access.subscripts) if index_names(e) & moving), None)
    return None


def home_of(tree: Tree, ids: tuple[str, ...]) -> tuple[Loop, ...]:
    """The loops around all these statements, up to the first one whose iterations run in lanes."""
    loops = path(tree, ids[0])
    for other in ids[1:]:
        common = shared(tree, ids[0], other).loops
        loops = loops[: len(common)]
    vector = next((i for i, x in enumerate(loops) if x.kind == "vector"), len(loops))
    return loops[:vector]


def contracted(storage: Storage) -> Array:
    """The array as it is stored: dense, from 0, only the dimensions that are kept."""
    extents = tuple(extent for _, _, extent in storage.kept)
    zeros = tuple(Const(0, INT64) for _ in extents)
    own, kept = storage.array, tuple(position for position, _, _ in storage.kept)
    padding = tuple(replace(p, dimension=kept.index(p.dimension)) for p in own.padding if p.dimension in kept)
    strides = padded_strides(extents, padding)
    return Array(own.name, own.dtype, zeros, extents, strides, own.role, False, "local", 0, padding, kept)


def padded_strides(extent: tuple[Expr, ...], padding: tuple[Padding, ...]) -> tuple[Expr, ...]:
    """Strides in elements, the last dimension contiguous; dense but for what the padding adds."""
    wanted = {p.dimension: p for p in padding}
    found: list[Expr] = []
    step: Expr = Const(1, INT64)
    for dimension in reversed(range(len(extent))):
        if dimension in wanted:
            step = _padded(step, wanted[dimension])
        found.append(step)
        step = simplify(Binary("*", step, extent[dimension], INT64))
    return tuple(reversed(found))


def _padded(step: Expr, padding: Padding) -> Expr:
    """The next stride, from `step` on, with the remainder that is wanted."""
    missing = Binary("-", Const(padding.offset, INT64), step, INT64)
    return simplify(Binary("+", step, Binary("%", missing, Const(padding.factor, INT64), INT64), INT64))


def elements(array: Array) -> Expr:
    """Number of places that an array takes, those between its rows included."""
    if array.padding:
        whole = Binary("*", array.strides[0], Call("max", (array.extent[0], Const(0, INT64)), INT64), INT64)
        return Call("max", (whole, Const(0, INT64)), INT64)  # a stride is negative where an inner extent is
    total: Expr = Const(1, INT64)
    for extent in array.extent:
        total = Binary("*", total, Call("max", (extent, Const(0, INT64)), INT64), INT64)
    return total


def array_bytes(array: Array) -> int | None:
    """Bytes that an array takes, None if sizes left symbolic decide."""
    cells = constant(elements(array))
    return None if cells is None else cells * array.dtype.bytes
