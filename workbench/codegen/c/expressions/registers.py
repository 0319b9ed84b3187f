"""Registers as C: declared and filled before a loop, written back or combined after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from workbench.codegen.c.expressions.lanes import Lanes, address_stride
from workbench.codegen.c.expressions.partial_vectors import put_first
from workbench.codegen.c.expressions.transposed_stores import at_row, put_square, register_at, square_steps, take_square
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.expressions.writes import joined_tuple
from workbench.codegen.c.lines import Line, executed_statements, rewritten_line
from workbench.codegen.nest.nest import Accumulate, For, Local, Nest, walk
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.codegen.passes.register_tiles.turned_cells import along_memory, moves_in_squares, side
from workbench.lang.algebra.normal_form import constant, depends
from workbench.lang.dtypes import UINT16, DType
from workbench.lang.expr import Read
from workbench.lang.operator import Monoid


def _extent(loop: For) -> int:
    """Registers along one unrolled loop."""
    upper = constant(loop.upper)
    assert upper is not None
    return upper // loop.step


def declaration(values: Values, local: Local) -> str:
    """`wb_v8f32 C_r[6][2];`."""
    dtype = bits_type(local.cell.dtype)
    name = values.helpers.type(dtype, local.lanes) if local.lanes > 1 else dtype.c_name
    return f"{name} {values.names('register', local.name)}{''.join(f'[{_extent(x)}]' for x in local.dims)};"


def bits_type(dtype: DType) -> DType:
    """The type whose bits are kept."""
    return UINT16 if dtype.is_half else dtype


def register_prologue(values: Values, node: Accumulate) -> list[str]:
    """Declarations, then the cells' contents or the identity."""
    lines = [declaration(values, x) for x in node.locals]
    if not node.loads:
        return lines
    first = node.locals[0]
    if (rows := loop_in_squares(values, node)) is not None:
        return lines + taken_in_squares(values, first, rows)
    body = []
    for position, local in enumerate(node.locals):
        register = values.register(local)
        body.append(f"{register} = {start(values, node, position, local)};")
    return lines + looped(values, node.locals[0].dims, body)


def start(values: Values, node: Accumulate, position: int, local: Local) -> str:
    """What a register holds before the loop: the cell, or the identity of a partial result."""
    dtype = local.cell.dtype
    if local.partial:
        identity = values.identity(node.reduction, position, dtype)
        return f"{values.helpers.splat(bits_type(dtype), local.lanes)}({identity})"
    element = values.element(local.cell.array, local.cell.subscripts)
    if local.lanes == 1:
        return element
    lanes = Lanes(values, Lane(local.lane_variable, local.lanes, local.limit))
    if not contiguous(values, local):
        return lanes.by_lane(_read(local))
    if local.limit is None:
        return f"*(const {values.helpers.type(bits_type(dtype), local.lanes)}_u *)&{element}"
    return lanes.first(dtype, element)


def _read(local: Local) -> Read:
    return Read(local.cell.array, local.cell.subscripts, local.cell.dtype)


def contiguous(values: Values, local: Local) -> bool:
    """Whether the lanes are neighbouring elements."""
    return address_stride(values, local.cell.array, local.cell.subscripts, local.lane_variable) == 1


def after(values: Values, node: Accumulate) -> list[str]:
    """Registers go back to the cells; partial results are combined first."""
    if not node.stores:
        return []
    if node.locals[0].partial:
        return flush(values, node)
    if (rows := loop_in_squares(values, node)) is not None:
        return put_in_squares(values, node.locals[0], rows)
    body = []
    for local in node.locals:
        element = values.element(local.cell.array, local.cell.subscripts)
        if local.lanes == 1:
            body.append(f"{element} = {values.register(local)};")
        elif contiguous(values, local):
            body.append(_stored(values, local, element))
        else:
            body += scattered(values, local, values.register(local))
    return looped(values, node.locals[0].dims, body)


def _stored(values: Values, local: Local, element: str) -> str:
    """Neighbouring cells take a register, or as many of its lanes as there are."""
    dtype, register = bits_type(local.cell.dtype), values.register(local)
    if local.limit is None:
        return f"*({values.helpers.type(dtype, local.lanes)}_u *)&{element} = {register};"
    present = Lane(local.lane_variable, local.lanes, local.limit).present
    return f"{put_first(values.helpers, dtype, local.lanes)}(&{element}, {register}, {values.text(present)});"


def loop_in_squares(values: Values, node: Accumulate) -> For | None:
    """The loop whose registers are moved in squares, as they are neighbours and their lanes are not."""
    first = node.locals[0]
    alone = len(node.locals) == 1 and moves_in_squares(values.arrays, first)
    return along_memory(values.arrays, first) if alone else None


def taken_in_squares(values: Values, local: Local, rows: For) -> list[str]:
    """Squares of registers are loaded; rows that are left come in a last one, with some that are there already."""
    most, left = square_steps(rows, local.cell.dtype)
    lines = _in_squares(values, local, rows, most, take_square)
    others = tuple(x for x in local.dims if x is not rows)
    if left:
        row = left.stop - side(local.cell.dtype)
        lines += looped(values, others, [take_square(values, at_row(local, rows, row), rows, str(row))])
    return lines


def put_in_squares(values: Values, local: Local, rows: For) -> list[str]:
    """Squares of registers are stored, then what is left lane by lane: stores that overlap wait for one another."""
    most, left = square_steps(rows, local.cell.dtype)
    lines = _in_squares(values, local, rows, most, put_square)
    others = tuple(x for x in local.dims if x is not rows)
    for row in left:
        register = register_at(values, local, rows, str(row))
        lines += looped(values, others, scattered(values, at_row(local, rows, row), register))
    return lines


def _in_squares(
    values: Values, local: Local, rows: For, most: For, moved: Callable[[Values, Local, For, str], str]
) -> list[str]:
    call = moved(values, local, rows, values.names("index", rows.variable))
    return looped(values, tuple(most if x is rows else x for x in local.dims), [call])


def scattered(values: Values, local: Local, register: str) -> list[str]:
    """One store a lane."""
    lanes = Lanes(values, Lane(local.lane_variable, local.lanes, local.limit))
    element = values.element(local.cell.array, tuple(map(lanes.at_lane, local.cell.subscripts)))
    return [f"{lanes.lane_loop()} {element} = {register}[wb_l];"]


def flush(values: Values, node: Accumulate) -> list[str]:
    """Partial results of one cell: vectors with vectors, then lane with lane, then into the cell."""
    dims = node.locals[0].dims
    cells = node.locals[0].cell.subscripts
    extra = tuple(x for x in dims if not any(depends(s, x.variable) for s in cells))
    kept = tuple(x for x in dims if x not in extra)
    local, dtype = node.locals[0], node.locals[0].cell.dtype
    reduction = node.reduction
    if isinstance(reduction, Monoid):
        head = f"for (int wb_l = 0; wb_l < {local.lanes}; wb_l++)"
        first, *rest = tuple_lane(values, node, reduction)
        return looped(values, dims, [f"{head} {first}", *rest])
    register = values.names("register", local.name)
    vectors = [register + "".join(index(values, x, extra, i) for x in dims) for i in range(register_count(extra))]
    total = pairwise(vectors, lambda a, b: joined_vectors(values, reduction, a, b, dtype, local.lanes))
    name = horizontal(values, reduction, dtype, local.lanes)
    element = values.element(local.cell.array, local.cell.subscripts)
    return looped(values, kept, [values.combine(reduction, element, f"{name}({total})", dtype)])


def tuple_lane(values: Values, node: Accumulate, monoid: Monoid) -> list[str]:
    """Combine lane `wb_l` of every field into the cells."""
    cells = [values.element(x.cell.array, x.cell.subscripts) for x in node.locals]
    texts = [f"{values.register(x)}[wb_l]" for x in node.locals]
    return joined_tuple(values, monoid, cells, texts, [x.cell.dtype for x in node.locals])


def register_count(loops: tuple[For, ...]) -> int:
    """Registers along several loops."""
    total = 1
    for loop in loops:
        total *= _extent(loop)
    return total


def index(values: Values, loop: For, extra: tuple[For, ...], number: int) -> str:
    """`[i]` for a loop over cells, a fixed number for one over partial results."""
    if loop not in extra:
        return f"[{values.position(loop.variable, loop.step)}]"
    place = number
    for other in reversed(extra):
        if other is loop:
            return f"[{place % _extent(other)}]"
        place //= _extent(other)
    return ""


def pairwise(items: list[str], join: Callable[[str, str], str]) -> str:
    """Pairs first, then pairs of pairs."""
    while len(items) > 1:
        pairs = [join(items[i], items[i + 1]) for i in range(0, len(items) - 1, 2)]
        items = pairs + items[len(pairs) * 2 :]
    return items[0]


def looped(values: Values, dims: tuple[For, ...], body: list[str]) -> list[str]:
    """`body` inside the unrolled loops `dims`."""
    lines: list[str] = []
    for depth, loop in enumerate(dims):
        name = values.names("index", loop.variable)
        step = f"{name}++" if loop.step == 1 else f"{name} += {loop.step}"
        head = f"WB_UNROLL for (int64_t {name} = 0; {name} < {constant(loop.upper)}; {step})"
        opened = " {" if depth == len(dims) - 1 else ""
        lines.append(Line(f"{'    ' * depth}{head}{opened}", executed_statements(body), loop.loop))
    indent = "    " * len(dims)
    closing = [f"{'    ' * (len(dims) - 1)}}}"] if dims else []
    return lines + [rewritten_line(line, indent + line) for line in body] + closing


# -- The lanes of a vector combined into one value --

SMALLEST = 16
"""Bytes of the shortest register: lanes change places inside of it cheaply."""


def joined_vectors(values: Values, reduction: str, a: str, b: str, dtype: DType, lanes: int) -> str:
    """Two vectors of partial results as one."""
    if reduction in ("+", "*"):
        return f"({a} {reduction} {b})"
    return f"{values.helpers.vector(reduction, dtype, lanes)}({a}, {b})"


def horizontal(values: Values, reduction: str, dtype: DType, lanes: int) -> str:
    """Name of the function: half with half down to the shortest register, then its lanes with one another."""
    word = {"+": "sum", "*": "product", "min": "min", "max": "max"}[reduction]
    vector, held = values.helpers.type(dtype, lanes), "v"
    name, body = f"{vector}_{word}", []
    left = lanes
    while left * dtype.bytes > SMALLEST:
        left //= 2
        low, high = (_shuffled(held, range(first, first + left)) for first in (0, left))
        held = f"v{left}"
        short = values.helpers.type(dtype, left)
        body.append(f"{short} {held} = {joined_vectors(values, reduction, low, high, dtype, left)};")
    distance = left // 2
    while distance:
        moved = _shuffled(held, [lane ^ distance for lane in range(left)])
        body.append(f"{held} = {joined_vectors(values, reduction, held, moved, dtype, left)};")
        distance //= 2
    lines = "".join(f"    {line}\n" for line in [*body, f"return {held}[0];"])
    return values.helpers.text(name, f"WB_INLINE {dtype.c_name} {name}({vector} v) {{\n{lines}}}\n")


def _shuffled(vector: str, places: Iterable[int]) -> str:
    return f"__builtin_shufflevector({vector}, {vector}, {', '.join(map(str, places))})"


TAPS = 4
"""Iterations of such a loop at most."""

STRAIGHT = 96
"""Sums in a row at most.  More than this was measured to be slower with GCC 12 (256 sums and more: 1.4 to 1.9 times);
convolutions of the suite have at most 84.
"""

LONG = 99
"""Iterations of a loop whose number is not known."""


def few_taps(loop: For, total: Nest) -> bool:
    """A few steps of the sum `total` in registers, whose operands overlap: the taps of a convolution along a row.

    Or those of all rows: 3 x 3 taps written out took 0.90 to 0.96 of their time on a Zen 3.  But not where they are the
    whole sum: GCC would hold the operands of all in registers, which are too few (1.35 times the time).
    """
    loops = [loop, *(x for x in walk(loop.body) if isinstance(x, For))]
    serial = [x for x in loops if x.kind == "serial"]
    is_whole = next((x for x in walk(total) if isinstance(x, For) and x.kind == "serial"), loop) is loop
    if loop.kind != "serial" or any(x.kind not in ("serial", "unroll") for x in loops) or (is_whole and serial[1:]):
        return False
    turns = {x.variable: -(-(constant(x.upper) or LONG) // x.step) for x in loops}
    written = all(constant(x.lower) == 0 and turns[x.variable] <= TAPS for x in serial)
    return written and prod(turns.values()) <= STRAIGHT
