"""Arrays of a block of which each thread only ever touches its own cells: they live in the threads' registers.

    __shared__ float C_local[16*16*4];                            float C_local[4];
    C_local[(threadIdx.y*16 + threadIdx.x)*4 + j] += …            C_local[j] += …

A cell belongs to one thread if in every access the same subscripts are the numbers of the thread.  What is left are
subscripts that unrolled loops run along: an array with other subscripts cannot be in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.codegen.cuda.grid.launch_extents import Extents, axis_number, head
from workbench.codegen.nest.nest import Accumulate, Cell, For, If, Nest, Write, children, rebuild, transform
from workbench.codegen.passes.register_tiles.tiles import bound
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Read, index_names
from workbench.lang.expr import transform as transform_expr
from workbench.lang.expr import walk as walk_expr
from workbench.poly.programs.program import Array
from workbench.poly.programs.tree import at_once
from workbench.poly.regions.storage import elements
from workbench.poly.threads.grid import is_thread
from workbench.records import record

MOST_COPIES = 32  # longer loops are not written out
MOST_BYTES = 512  # half of the registers that a thread has


@record
class Touch:
    """One access: the array, its subscripts, the loops around, outermost first."""

    array: str
    subscripts: tuple[Expr, ...]
    around: tuple[For, ...]
    shared_with_others: bool = False


def _touches(nest: Nest, around: tuple[For, ...] = ()) -> Iterator[Touch]:
    """Every access of a nest."""
    if isinstance(nest, For):
        around = (*around, nest)
    if isinstance(nest, Write):
        yield from (Touch(c.array, c.subscripts, around, nest.atomic) for c in nest.cells)
        for expr in (*nest.values, *(s for c in nest.cells for s in c.subscripts)):
            yield from (Touch(e.tensor, e.subscripts, around) for e in walk_expr(expr) if isinstance(e, Read))
    for child in children(nest):
        yield from _touches(child, around)


def thread_owned(nest: Nest, arrays: Mapping[str, Array], extents: Extents) -> dict[str, tuple[int, ...]]:
    """Those of some arrays of which each thread has its own cells, with the subscripts that only say which thread."""
    found: dict[str, list[Touch]] = {name: [] for name in arrays}
    for touch in _touches(nest):
        if touch.array in found:
            found[touch.array].append(touch)
    known = {name: _positions(own, extents) for name, own in found.items()}
    return {
        name: positions
        for name, positions in known.items()
        if positions and all(_written_out(t, positions) for t in found[name]) and _small(arrays[name], positions)
    }


def _positions(found: list[Touch], extents: Extents) -> tuple[int, ...]:
    """The subscripts that are the thread's numbers in every access; empty if cells are shared."""
    if not found or any(t.shared_with_others for t in found):
        return ()
    each = [_numbers(t, extents) for t in found]
    common = set(each[0].items()).intersection(*(e.items() for e in each))
    axes = {axis for _, axis in common}
    used = {axis_number(x.kind) for t in found for x in t.around if is_thread(x.kind)}
    alike = all({axis_number(x.kind) for x in t.around if is_thread(x.kind)} == used for t in found)
    if not axes or axes != {a for a in used if extents.block[a] > 1} or not alike:
        return ()
    return tuple(sorted(position for position, _ in common))


def _numbers(touch: Touch, extents: Extents) -> dict[int, int]:
    """Position of a subscript → the axis along which it is the thread's number."""
    threads = {x.variable: x for x in touch.around if is_thread(x.kind)}
    found: dict[int, int] = {}
    for position, subscript in enumerate(touch.subscripts):
        loop = threads.get(subscript.name) if isinstance(subscript, Index) else None
        if loop is not None and loop.step == 1 and constant(loop.lower) == 0 and head(loop) in extents.fitting:
            found[position] = axis_number(loop.kind)
    return found


def _written_out(touch: Touch, positions: tuple[int, ...]) -> bool:
    """Whether what is left of the subscripts moves with loops that can be written out."""
    loops = {x.variable: x for x in touch.around}
    rest = [s for p, s in enumerate(touch.subscripts) if p not in positions]
    names = {name for s in rest for name in index_names(s)}
    plain = not any(isinstance(e, Read) for s in rest for e in walk_expr(s))
    return plain and all(name in loops and _copies(loops[name]) is not None for name in names)


def _copies(loop: For) -> int | None:
    """How often the body of a loop is written out, None if not at all."""
    limits = bound(loop)
    serial = not at_once(loop.kind) and loop.step == 1
    return limits[0] if limits is not None and serial and limits[0] <= MOST_COPIES else None


def _small(array: Array, positions: tuple[int, ...]) -> bool:
    number = constant(elements(without(array, positions)))
    return number is not None and number * array.dtype.bytes <= MOST_BYTES


def without(array: Array, positions: tuple[int, ...]) -> Array:
    """A stored array without some of its dimensions."""
    kept = [p for p in range(array.rank) if p not in positions]
    extent = tuple(array.extent[p] for p in kept)
    strides, step = [], 1
    for size in reversed(extent):
        strides.insert(0, Const(step, INT64))
        step *= constant(size) or 1
    return replace(array, lower=tuple(array.lower[p] for p in kept), extent=extent, strides=tuple(strides), padding=())


def dropped(nest: Nest, positions: Mapping[str, tuple[int, ...]]) -> Nest:
    """The nest without the subscripts that only say which thread it is."""

    def left(array: str, subscripts: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(s for p, s in enumerate(subscripts) if p not in positions.get(array, ()))

    def value(expr: Expr) -> Expr:
        def change(node: Expr) -> Expr:
            if isinstance(node, Read) and node.tensor in positions:
                return Read(node.tensor, left(node.tensor, node.subscripts), node.dtype)
            return node

        return transform_expr(expr, change)

    def change(node: Nest) -> Nest:
        if not isinstance(node, Write):
            return node
        cells = tuple(Cell(c.array, tuple(map(value, left(c.array, c.subscripts))), c.dtype) for c in node.cells)
        return replace(node, cells=cells, values=tuple(map(value, node.values)))

    return transform(nest, change) if positions else nest


def plain(nest: Nest, arrays: frozenset[str]) -> Nest:
    """The nest with plain updates of arrays of a thread: no other one comes there, and local memory has no atomics."""

    def change(node: Nest) -> Nest:
        own = isinstance(node, Write) and node.atomic and all(c.array in arrays for c in node.cells)
        return replace(node, atomic=False) if isinstance(node, Write) and own else node

    return transform(nest, change) if arrays else nest


def with_registers_unrolled(nest: Nest, arrays: frozenset[str]) -> Nest:
    """The nest with the loops along arrays of a thread written out, so that a compiler knows each element's number."""
    moving = {name for t in _touches(nest) if t.array in arrays for s in t.subscripts for name in index_names(s)}
    return _written(nest, arrays, moving, {}) if arrays else nest


def _written(nest: Nest, arrays: frozenset[str], moving: set[str], most: dict[Expr, int]) -> Nest:
    """`most` are amounts that are known to be smaller than a number here."""
    match nest:
        case Accumulate(held, _, body, _, _) if all(x.cell.array in arrays and not x.partial for x in held):
            return _written(body, arrays, moving, most)
        case If(Binary(">=", amount, Const(int(number), _), _) as condition, then, otherwise) if otherwise is not None:
            first = _written(then, arrays, moving, most)
            return If(condition, first, _written(otherwise, arrays, moving, {**most, amount: number}))
        case For() if nest.variable in moving:
            nest = _guarded(nest, most)
    return rebuild(nest, tuple(_written(child, arrays, moving, most) for child in children(nest)))


def _guarded(loop: For, most: dict[Expr, int]) -> For:
    """The loop with a constant number of iterations, some of them under a guard; as it was if it is long."""
    if loop.upper in most and constant(loop.lower) == 0:
        loop = replace(loop, upper=Call("min", (Const(most[loop.upper], INT64), loop.upper), INT64))
    number, limits = _copies(loop), bound(loop)
    if number is None or limits is None:
        return loop
    body = loop.body
    if limits[1] is not None:
        body = If(Binary("<", Index(loop.variable, INT64), limits[1], BOOL), body)
    return replace(loop, upper=Const(number, INT64), kind="unroll", body=body)
