"""What an epilogue reads and writes across its lanes goes through registers of its own.

    for x_i, f_i in lanes: O(f, x) = max(C(f, x) + R(f, x), 0)        O and R have neighbours along x

Lane by lane each element would be moved alone.  With the cells of R in registers before the epilogue, and those of O
until after it, everything between is computed in lanes, and memory is touched in squares of neighbours where these are
large enough.  Temporaries that the epilogue writes are in registers anyway: perhaps nobody else wants them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from workbench.codegen.nest.nest import Accumulate, Block, Cell, For, Local, Nest, Write, transform, walk, writes
from workbench.codegen.passes.register_tiles.accumulators import fresh
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Binary, Expr, Read, Select, children, reads
from workbench.poly.programs.addresses import address_step
from workbench.poly.programs.program import Array

SHORTEST_BYTES = 16
"""Of the registers in which squares are turned: four elements of 32 bits, or two of 64."""


def side(dtype: DType) -> int:
    """Rows and columns of the squares in which elements are turned; 1 where they are not."""
    return SHORTEST_BYTES // dtype.bytes if dtype.bits in (32, 64) else 1


def along_memory(arrays: Mapping[str, Array], local: Local) -> For | None:
    """The unrolled loop whose registers are neighbours in memory while their lanes are not."""
    array, cell, square = arrays[local.cell.array], local.cell.subscripts, side(local.cell.dtype)
    if square == 1 or local.lanes % square or lane_step(arrays, local) is None:
        return None
    for loop in local.dims:
        rows, step = constant(loop.upper), address_step(array, cell, loop.variable)
        many = rows is not None and rows >= square and loop.step == 1
        if many and step is not None and step.constant == 1:
            return loop
    return None


def lane_step(arrays: Mapping[str, Array], local: Local) -> int | None:
    """Elements from one lane to the next, if constant."""
    step = address_step(arrays[local.cell.array], local.cell.subscripts, local.lane_variable)
    return None if step is None else step.constant


def turned(nest: Nest, arrays: Mapping[str, Array]) -> Nest:
    """The nest with such cells of every epilogue in registers; `arrays` are the storage objects."""
    used = {x.name for node in walk(nest) if isinstance(node, Accumulate) for x in node.locals}

    def change(node: Nest) -> Nest:
        if not isinstance(node, Accumulate) or not isinstance(node.body, Block):
            return node
        *first, last = node.body.body
        found = _held(node, last, arrays, used)
        return node if found is last else replace(node, body=Block((*first, found)))

    return transform(nest, change)


def moves_in_squares(arrays: Mapping[str, Array], local: Local) -> bool:
    """Whether registers are moved in squares."""
    if local.lanes == 1 or local.partial or local.limit is not None or lane_step(arrays, local) in (0, 1):
        return False
    return along_memory(arrays, local) is not None


def _held(node: Accumulate, epilogue: Nest, arrays: Mapping[str, Array], used: set[str]) -> Nest:
    """The epilogue of a tile inside of registers for what lies across its lanes; itself where there is nothing."""
    tile = node.locals[0]
    if tile.partial or not _is_over(epilogue, tile.dims):
        return epilogue
    own = [*writes(epilogue)]
    if any(w.reduction is not None or w.atomic or w.nontemporal for w in own):
        return epilogue
    written = {c.array: c for w in own for c in w.cells}
    values = [v for w in own for v in w.values]
    read = dict.fromkeys(r for v in values for r in _always(v) if r.subscripts and r.tensor not in written)
    held = {x.cell.array for x in node.locals}

    def register(cell: Cell) -> Local | None:
        local = replace(tile, cell=cell)
        apart = local.limit is None and lane_step(arrays, local) not in (None, 0, 1)
        kept = cell.array in written and (apart or arrays[cell.array].role == "temporary")
        if cell.array in held or not computable(cell) or not (kept or moves_in_squares(arrays, local)):
            return None
        return replace(local, name=fresh(f"{cell.array}.r", used))

    stores = [x for c in written.values() if (x := register(c)) is not None]
    loads = [x for r in read if (x := register(Cell(r.tensor, r.subscripts, r.dtype))) is not None]
    found = epilogue
    for local in stores:
        found = Accumulate((local,), node.reduction, found, loads=_begins_with_a_read(own, local.cell.array))
    for local in loads:
        found = Accumulate((local,), node.reduction, found, stores=False)
    return found


def _begins_with_a_read(own: list[Write], array: str) -> bool:
    """Whether writes one after the other want what an array holds before the first of them that gives it a value."""
    first = next(at for at, w in enumerate(own) if any(c.array == array for c in w.cells))
    return any(r.tensor == array for w in own[: first + 1] for v in w.values for r in reads(v))


def computable(cell: Cell) -> bool:
    """Whether the cell is stored in the type that it is computed in."""
    return not cell.dtype.is_half and cell.dtype != BOOL


def _is_over(nest: Nest, dims: tuple[For, ...]) -> bool:
    """Whether it is writes in the unrolled loops over a tile's cells."""
    for loop in dims:
        if not isinstance(nest, For) or nest.variable != loop.variable or nest.upper != loop.upper:
            return False
        nest = nest.body
    return isinstance(nest, Write) or (isinstance(nest, Block) and all(isinstance(x, Write) for x in nest.body))


def _always(expr: Expr) -> Iterator[Read]:
    """What is read whatever conditions say: not behind a choice, nor to the right of && and ||."""
    match expr:
        case Read():
            yield expr
        case Select(condition, _, _, _):
            yield from _always(condition)
        case Binary("&&" | "||", left, _, _):
            yield from _always(left)
        case _:
            for part in children(expr):
                yield from _always(part)
