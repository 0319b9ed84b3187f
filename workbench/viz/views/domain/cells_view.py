"""`cells`: the memory cells that an instance, or a tile of instances, reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.codegen.trace.tracing import Touch
from workbench.errors import WorkbenchError, shown, unknown_name
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Loop, path
from workbench.records import record
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.quantities import bytes_text
from workbench.viz.draw.scene import Box, Mark, Marker, Scene, Text, above, beside, paragraph
from workbench.viz.draw.table_scene import table_scene
from workbench.viz.draw.tables import Table, table_text
from workbench.viz.frames.coordinates import Point, Sizes, component
from workbench.viz.frames.frame import Asked
from workbench.viz.views.domain.array_grids import grids, grids_scene
from workbench.viz.views.domain.cache_lines import Cache
from workbench.viz.views.domain.domain_data import Cell
from workbench.viz.views.domain.execution import Execution, executed
from workbench.viz.views.domain.region_data import tile_depth
from workbench.viz.views.domain.replay_data import Board, Reel, reel
from workbench.viz.views.domain.replay_drawing import READ, WRITE, named, points
from workbench.viz.views.domain.small_problem import Value
from workbench.wording import number_of

BOTH = "a1"
Who = tuple[str, Point]


@record
class Selection:
    """The instances with these values of dims and loops, and array → (cells read, cells written)."""

    at: dict[str, int]
    instances: tuple[Who, ...]
    touched: dict[str, tuple[frozenset[int], frozenset[int]]]


def cells(
    value: Value,
    at: Mapping[str, int] | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    sizes: Sizes | None = None,
) -> Picture:
    """The cells that some instances read and write: those whose dims and loops have the values `at`.

    `at={"m": 2, "n": 3, "k": 1}` is one instance, `at={"m_o": 1, "n_o": 0}` a tile.  Without it a tile in the middle is
    taken, or an instance where nothing is tiled.  Axes and sizes as for `domain`; values count at the drawn sizes.

    Raises WorkbenchError for unknown names, and for values at which there is no instance.
    """
    execution = executed(value, Asked(x, y, sizes))
    found = _selected(execution, _values(execution), at)
    return Picture(cells_text(execution, found), cells_scene(execution, found), data=found)


def _values(execution: Execution) -> dict[Who, dict[str, int]]:
    """Dims and loops of every instance, by name."""
    program, tree = execution.program, execution.frames[0].of.tree
    found: dict[Who, dict[str, int]] = {}
    loops: dict[str, list[tuple[Loop, object]]] = {}
    for s in program.statements:
        loops[s.id] = [(loop, component(program, loop, s, {})) for loop in path(tree, s.id)]
    for who in dict.fromkeys((t.statement, t.instance) for t in _touches(execution)):
        dims = program.statement(who[0]).dims
        times = {loop.name: time(who[1]) for loop, time in loops[who[0]]}  # type: ignore[operator]
        found[who] = times | dict(zip(dims, who[1], strict=True))
    return found


def _touches(execution: Execution) -> Iterable[Touch]:
    return (t for moment in execution.moments for event in moment for t in event.touches)


def _selected(execution: Execution, values: dict[Who, dict[str, int]], at: Mapping[str, int] | None) -> Selection:
    chosen = dict(at) if at is not None else _middle(execution, values)
    known = dict.fromkeys(name for own in values.values() for name in own)
    for name, number in chosen.items():
        if name not in known:
            raise WorkbenchError(f"cells: {unknown_name('dim or loop', name, known)}")
        if not isinstance(number, int) or isinstance(number, bool):
            raise WorkbenchError(f"cells: {name}={shown(number)} does not fit; expected a whole number")
    own = tuple(who for who, names in values.items() if all(names.get(n) == v for n, v in chosen.items()))
    if not own:
        sizes = ", ".join(f"{k}={v}" for k, v in execution.program.sizes.items())
        ranges = ", ".join(f"{n} from {_range(values, n)}" for n in chosen)
        raise WorkbenchError(f"cells: no instance has {_words(chosen)} for {sizes}; there are {ranges}")
    inside, touched = set(own), {}
    for t in _touches(execution):
        if (t.statement, t.instance) in inside:
            reads, writes = touched.setdefault(t.array, (set(), set()))
            if t.kind != "write":
                reads.add(t.element)
            if t.kind != "read":
                writes.add(t.element)
    return Selection(chosen, own, {a: (frozenset(r), frozenset(w)) for a, (r, w) in touched.items()})


def _middle(execution: Execution, values: dict[Who, dict[str, int]]) -> dict[str, int]:
    """The tile around the middle instance of the statement with the most dims, or that instance."""
    program, tree = execution.program, execution.frames[0].of.tree
    deepest = max(program.statements, key=lambda s: (len(s.dims), s.kind == "update"))
    own = [who for who in values if who[0] == deepest.id] or list(values)
    who = own[len(own) // 2]
    around = path(tree, who[0])
    names = [loop.name for loop in around[: tile_depth(around)]] or list(program.statement(who[0]).dims)
    return {name: values[who][name] for name in names}


def _range(values: dict[Who, dict[str, int]], name: str) -> str:
    own = [names[name] for names in values.values() if name in names]
    return f"{min(own)} to {max(own)}"


def _words(at: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in at.items())


def cells_scene(execution: Execution, found: Selection) -> Scene:
    """The instances on their axes, the arrays beside them, the counts below."""
    drawn = reel(execution, Cache())
    boards = beside([_board(drawn, n, found) for n in range(len(drawn.boards))], limit=470.0)
    shown_grids = grids(execution.arrays)
    over = [grid.cell(e, _role(found, grid.array, e)) for grid in shown_grids for e in _elements(found, grid.array)]
    body = beside([boards, grids_scene(shown_grids, over)], gap=36.0, limit=900.0)
    head = Text(0, 13, _title(execution.program, found), 12.5, bold=True)
    notes = [f"{note[0].upper()}{note[1:]}." for note in execution.notes]
    top = Scene(head.width, 22, (head,), head.text)
    return above(top, body, _key(), table_scene(cell_table(execution, found)), paragraph(notes, 520), gap=10)


def _title(program: Program, found: Selection) -> str:
    many = number_of(len(found.instances), "instance")
    return f"cells of {program.name} at {_words(found.at)}: {many}"


def _elements(found: Selection, array: str) -> list[int]:
    reads, writes = found.touched.get(array, (frozenset(), frozenset()))
    return sorted(reads | writes)


def _role(found: Selection, array: str, element: int) -> str:
    reads, writes = found.touched[array]
    return BOTH if element in reads and element in writes else WRITE if element in writes else READ


def _board(drawn: Reel, which: int, found: Selection) -> Scene:
    """One coordinate system, the selected instances in the colour of their statement."""
    board, frame = drawn.boards[which], drawn.execution.frames[which]
    program = drawn.execution.program
    own = [program.statement(s) for s in board.statements]
    numbers = statement_numbers(program)
    number = {s.id: numbers[s.name] for s in program.statements}
    places = dict.fromkeys((frame.cell(s, i), number[s]) for s, i in found.instances if s in board.statements)
    marks = [_selected_mark(board, cell, statement_role(n)) for cell, n in places]
    head = named([f"{s.name}({', '.join(s.dims)})" for s in own], board.axes.width)
    return above(head, Scene(board.axes.width, board.axes.height, (*board.axes.marks(), *points(board), *marks)), gap=0)


def _selected_mark(board: Board, cell: Cell, role: str) -> Mark:
    return Marker(*board.axes.at(*cell), role, "square", min(9.0, board.axes.unit * 0.34))


def _key() -> Scene:
    marks: list[Mark] = []
    x = 0.0
    for role, words in ((READ, "read"), (WRITE, "written"), (BOTH, "read and written")):
        marks += [Box(x, 3, 11, 11, role, None, 1.5), text := Text(x + 17, 13, words, 12, "soft")]
        x += 17 + text.width + 18
    return Scene(x, 20, tuple(marks))


def cell_table(execution: Execution, found: Selection) -> Table:
    """How many cells and bytes of each array."""
    rows = []
    for array in found.touched:
        reads, writes = found.touched[array]
        size = len(reads | writes) * execution.arrays[array].dtype.bytes
        rows.append((array, str(len(reads)), str(len(writes)), bytes_text(size)))
    return Table(tuple(rows), "", ("array", "cells read", "cells written", "together"), mono=(0,), right=(1, 2, 3))


def cells_text(execution: Execution, found: Selection) -> str:
    """The title and the counts."""
    notes = [f"{note[0].upper()}{note[1:]}." for note in execution.notes]
    return "\n".join([_title(execution.program, found), *table_text(cell_table(execution, found), "  "), *notes])
