"""Accesses of 8 and 16 bytes as CUDA: one line for a copy; else loads, the values of each lane, and a store."""

from __future__ import annotations

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.lines import braced
from workbench.codegen.cuda.grid.wide_accesses import certain_reads, is_move, is_wide
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.nest.nest import Cell, For, Write, writes
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, substitute, transform

ASYNC_BYTES = (4, 8, 16)
LANES = "xyzw"


def moves_one_element(write: Write) -> bool:
    """Whether it moves one element as it is: asynchronous copies do, those of small ones with their neighbours."""
    return len(write.values) == 1 and write.reduction is None and is_move(write)


def wide_write(values: Values, loop: For, late: frozenset[str], spelling: Spelling) -> list[str] | None:
    """The lines of a vector loop around one write; `late` are the statements that copy asynchronously."""
    found = list(writes(loop.body))
    if len(found) != 1:
        return None
    write, length = found[0], constant(loop.upper) or loop.lanes
    once = length == loop.lanes
    lines = _lines(values, write, loop, {loop.variable: Const(0, INT64)} if once else {}, late, spelling)
    if once:
        return lines
    name = values.names("index", loop.variable)
    head = f"WB_UNROLL for (int64_t {name} = 0; {name} < {length}; {name} += {loop.lanes}) {{"
    return braced(head, lines, loop.loop)


def _lines(
    values: Values, write: Write, loop: For, names: dict[str, Expr], late: frozenset[str],
    spelling: Spelling,
) -> list[str]:
    cell, loaded = write.cells[0], _loaded(values, write, loop)
    stored = is_wide(cell, loop.variable, loop.lanes, values.arrays)
    source = write.values[0]
    size = write.cells[0].dtype.bytes * (loop.lanes if stored and loaded else 1)
    begun = write.statement in late and size in ASYNC_BYTES
    if is_move(write) and isinstance(source, Read) and (begun or (stored and loaded)):
        return _moved(values, write, source, loop, names, begun, spelling)
    lines = []
    for read, name in loaded.items():
        own, text = spelling.vector(read.dtype, loop.lanes), _element(values, _cell(read), names)
        lines.append(f"const {own} {name} = {spelling.loaded(read.dtype, loop.lanes, text)};")
    kind, result = spelling.vector(cell.dtype, loop.lanes), values.names("register", f"{cell.array}.w")
    lines += [f"{kind} {result};"] if stored else []
    for lane in range(loop.lanes):
        at = {loop.variable: _at(loop, names, lane)}
        target = f"{result}.{LANES[lane]}" if stored else _element(values, cell, at)
        lines.append(f"{target} = {_lane_value(values, source, loaded, lane, at)};")
    place = _element(values, cell, names)
    lines += [spelling.stored(cell.dtype, loop.lanes, place, result)] if stored else []
    return ["{", *(f"    {line}" for line in lines), "}"]


def _moved(
    values: Values, write: Write, source: Read, loop: For, names: dict[str, Expr], late: bool, spelling: Spelling
) -> list[str]:
    """A copy in one line; an asynchronous one whose elements do not lie side by side there in several."""
    cell = write.cells[0]
    whole = all(is_wide(c, loop.variable, loop.lanes, values.arrays) for c in (cell, _cell(source)))
    step, size = (loop.lanes if whole else 1), cell.dtype.bytes
    if not late:
        place = _element(values, cell, names)
        text = spelling.loaded(cell.dtype, loop.lanes, _element(values, _cell(source), names))
        return [spelling.stored(cell.dtype, loop.lanes, place, text)]
    places = [{loop.variable: _at(loop, names, lane)} for lane in range(0, loop.lanes, step)]
    return [
        f"wb_copy_async(&{_element(values, cell, at)}, &{_element(values, _cell(source), at)}, {step * size});"
        for at in places
    ]


def _cell(read: Read) -> Cell:
    return Cell(read.tensor, read.subscripts, read.dtype)


def _at(loop: For, names: dict[str, Expr], lane: int) -> Expr:
    base = names.get(loop.variable, Index(loop.variable, INT64))
    return simplify(Binary("+", base, Const(lane, INT64), INT64))


def _element(values: Values, cell: Cell, names: dict[str, Expr]) -> str:
    return values.element(cell.array, tuple(simplify(substitute(s, names)) for s in cell.subscripts))


def _loaded(values: Values, write: Write, loop: For) -> dict[Read, str]:
    """Reads of neighbouring elements that are loaded at once, with the names of what was loaded."""
    found: dict[Read, str] = {}
    for read in certain_reads(write.values[0]):
        if read not in found and is_wide(_cell(read), loop.variable, loop.lanes, values.arrays):
            count = sum(r.tensor == read.tensor for r in found)
            found[read] = values.names("register", f"{read.tensor}.w{count + 1 if count else ''}")
    return found


def _lane_value(values: Values, value: Expr, loaded: dict[Read, str], lane: int, names: dict[str, Expr]) -> str:
    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node in loaded:
            place = f"{loaded[node]}.{LANES[lane]}"
            values.names.given["array", place] = place
            values.by_value.add(place)
            return Read(place, (), node.dtype)
        return node

    return values.text(substitute(transform(value, change), names))
