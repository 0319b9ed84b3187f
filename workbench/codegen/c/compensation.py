"""What an instruction adds too much, as its first operand is in another code (`encoded_operands`), is taken away again.

    sum_k (a + 128) b  -  128 sum_k b      the second sum is the same for all rows: it is computed before their loop

Every panel of the second operand has one number for each of its columns, in an array beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.codegen.c.expressions.encoded_operands import shifted
from workbench.codegen.c.expressions.group_writes import called, group_write
from workbench.codegen.c.expressions.lanes import Lanes
from workbench.codegen.c.expressions.registers import looped
from workbench.codegen.c.lines import braced, indented, owned
from workbench.codegen.nest.nest import Accumulate, For, Local, Nest, Write, children, walk, writes
from workbench.codegen.passes.register_tiles.accumulators import Lane
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, substitute
from workbench.records import record
from workbench.schedules.kernels.lane_instructions import LaneInstruction, operands

if TYPE_CHECKING:
    from workbench.codegen.c.printer import Printer

COLUMN = "column"
ONES = "(int32_t)0x80808080u"
"""128 in every byte of the first operand."""


@record
class Panel:
    """The second operand: its read, the dimension of its columns and their number, the loops of the reduction."""

    kernel: LaneInstruction
    read: Read
    dimension: int
    columns: int
    lane: Lane
    loops: tuple[For, ...]

    @property
    def others(self) -> tuple[Expr, ...]:
        """What the places of a column depend on."""
        subscripts = (s for d, s in enumerate(self.read.subscripts) if d != self.dimension)
        return (*subscripts, *(e for x in self.loops for e in (x.lower, x.upper)))


def compensated(printer: Printer, loop: For, lane: Lane) -> list[str]:
    """The lines of a loop around such instructions, with what has to be added; empty for any other loop."""
    own, held = printer.encoding, printer.values.held
    if not own.arrays or own.summing or loop.kind == "parallel" or loop.lanes > 1:
        return []
    panel = _panel(printer, loop, lane)
    if panel is None:
        return []
    begins = panel.read.tensor not in own.sums and _is_fixed(loop, panel)
    first = _sums(printer, panel) if begins else []
    if begins:
        own.sums[panel.read.tensor] = _name(printer, panel)
    local = _reduced(printer, loop, panel) if held else None
    own.summing = local is not None
    lines = printer.loop(loop, lane) if begins or own.summing else []
    own.summing = False
    if local is not None:
        lines += _taken(printer, local, panel)
    if begins:
        del own.sums[panel.read.tensor]
    return braced("{", owned([*first, *lines])) if lines else []


def _panel(printer: Printer, loop: For, lane: Lane) -> Panel | None:
    """The one panel that the instructions in a loop read; None if there is none, or no register tile around."""
    dims = {x.variable for local in printer.values.held for x in local.dims}
    inside = bool(printer.values.held)
    found = [_described(printer, *each) for each in _instructions(loop, lane, (), dims if inside else None)]
    if not found or None in found:
        return None
    panels = [x for x in found if x is not None]
    same = {(x.read.tensor, x.dimension, x.loops[0].variable) for x in panels}
    return max(panels, key=lambda x: x.lane.count) if len(same) == 1 else None


def _instructions(
    nest: Nest, lane: Lane, loops: tuple[For, ...], dims: set[str] | None
) -> Iterator[tuple[Write, Lane, tuple[For, ...]]]:
    """Such writes in register tiles, the lanes around each and the loops of its reduction."""
    match nest:
        case Accumulate():
            loops, dims = (), (dims or set()) | {x.variable for local in nest.locals for x in local.dims}
        case For() if nest.lanes > 1:
            lane = Lane(nest.variable, nest.lanes, nest.limit)
        case For() if nest.variable not in (dims or ()):
            loops = (*loops, nest)
        case Write() if shifted(nest) and dims is not None:
            yield nest, lane, loops
    for child in children(nest):
        yield from _instructions(child, lane, loops, dims)


def _described(printer: Printer, write: Write, lane: Lane, loops: tuple[For, ...]) -> Panel | None:
    kernel = shifted(write)
    found = None if kernel is None or not lane.variable or not loops else operands(kernel, write.values[0])
    if kernel is None or found is None:
        return None
    read = next((r for r in found if r.tensor not in printer.encoding.arrays), None)
    moving = [] if read is None else [d for d, s in enumerate(read.subscripts) if depends(s, lane.variable)]
    if read is None or len(moving) != 1 or read.tensor not in printer.values.arrays:
        return None
    columns = constant(printer.values.arrays[read.tensor].extent[moving[0]])
    if not columns or columns % lane.count or not kernel.function(lane.count):
        return None
    return Panel(kernel, read, moving[0], columns, lane, loops)


def _is_fixed(loop: For, panel: Panel) -> bool:
    """Whether one sum of every column serves all iterations of a loop."""
    inside = {x.variable for x in walk(loop) if isinstance(x, For)} - {x.variable for x in panel.loops}
    inside |= {w.group.variable for w in writes(loop) if w.group is not None} - {_group(loop, panel)}
    written = any(c.array == panel.read.tensor for w in writes(loop) for c in w.cells)
    shared = any(isinstance(x, For) and x.kind == "parallel" for x in walk(loop))
    return not written and not shared and not any(depends(e, v) for e in panel.others for v in inside)


def _group(loop: For, panel: Panel) -> str:
    """The variable over a group of contributions."""
    own = (w.group for w in writes(loop) if w.group is not None and w.group.instruction == panel.kernel.name)
    return next((g.variable for g in own), "")


def _reduced(printer: Printer, loop: For, panel: Panel) -> Local | None:
    """The registers in which a loop adds up by the instruction; None if it is not the outermost that does."""
    if loop.variable != panel.loops[0].variable or panel.read.tensor not in printer.encoding.sums:
        return None
    (write, *others) = [w for w in writes(loop) if shifted(w)]
    printer.encoding.summing = True
    ready = not others and group_write(Lanes(printer.values, panel.lane), write, printer.encoding)
    printer.encoding.summing = False
    return next((x for x in printer.values.held if x.cell == write.cells[0]), None) if ready else None


def _name(printer: Printer, panel: Panel) -> str:
    return printer.values.names("array", f"{panel.read.tensor}.sums")


def _sums(printer: Printer, panel: Panel) -> list[str]:
    """The array of a panel's sums, computed by the instruction itself."""
    values, count, group = printer.values, panel.lane.count, _group(panel.loops[0], panel)
    vector, name = values.helpers.type(INT32, count), _name(printer, panel)
    column = values.names("index", COLUMN)
    lower = values.arrays[panel.read.tensor].lower[panel.dimension]
    at = list(panel.read.subscripts)
    at[panel.dimension] = Binary("+", lower, Index(COLUMN, INT64), INT64)
    first: dict[str, Expr] = {group: Const(0, INT64)}
    place = values.element(panel.read.tensor, tuple(simplify(substitute(s, first)) for s in at))
    words = f"*(const {vector}_u *)&{place}"
    ones = f"{values.helpers.splat(INT32, count)}({ONES})"
    added = called(Lanes(values, panel.lane), panel.kernel, f"wb_sums[{column} / {count}]", (ones, words))
    lines = [f"WB_UNROLL for (int64_t {column} = 0; {column} < {panel.columns}; {column} += {count}) {added}"]
    for loop in reversed(panel.loops):
        lines = braced(f"{printer.head(loop)} {{", lines, loop.loop)
    start = f"{vector} wb_sums[{panel.columns // count}] = {{{{0}}}};"
    kept = f"__builtin_memcpy({name}, wb_sums, sizeof(wb_sums));"
    return [f"int32_t {name}[{panel.columns}];", "{", *indented([start, *lines, kept]), "}"]


def _taken(printer: Printer, local: Local, panel: Panel) -> list[str]:
    """The sums of the columns taken away from every register."""
    values, lower = printer.values, printer.values.arrays[panel.read.tensor].lower[panel.dimension]
    column = values.text(simplify(Binary("-", panel.read.subscripts[panel.dimension], lower, INT64)))
    sums = f"*(const {values.helpers.type(INT32, local.lanes)}_u *)&{_name(printer, panel)}[{column}]"
    return looped(values, local.dims, [f"{values.register(local)} -= {sums};"])
