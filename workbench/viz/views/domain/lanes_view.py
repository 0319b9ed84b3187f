"""`lanes`: the iteration domain with the block and the thread that executes each instance."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import WorkbenchError
from workbench.lang.expr import index_names
from workbench.poly.programs.program import ProgramStatement
from workbench.poly.programs.tree import loops, path
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.records import record
from workbench.schedules import Schedule
from workbench.viz.draw.axes import Axes, axes_for
from workbench.viz.draw.palette import statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.scene import Box, Mark, Scene, Text, above, beside, paragraph
from workbench.viz.frames.coordinates import Point, Subject, component, subject
from workbench.viz.frames.frame import Asked, Frame, frames
from workbench.viz.views.domain.domain_data import Cell, chosen_groups
from workbench.viz.views.domain.small_problem import drawn_of
from workbench.wording import number_of

Number = tuple[int, ...]
NOTE = (
    "A square is an instance, or all that lie behind it; its colour tells the block, the number the thread in the "
    "block. Frames are blocks."
)


@record
class Placed:
    """A statement's cells: which block and which thread (x, y, z) executes them; `folded` instances share a cell."""

    statement: str
    axes: tuple[str, str]
    blocks: dict[Cell, Number]
    threads: dict[Cell, Number]
    folded: bool


def lanes(
    schedule: Schedule, /, x: str | None = None, y: str | None = None, sizes: Mapping[str, int] | None = None,
    statement: str | None = None,
) -> Picture:  # fmt: skip
    """The iteration domain of each statement whose loops are bound: colours are blocks, numbers are threads.

    Axes, sizes and `statement` as for `domain`.  WorkbenchError where no loop is bound.
    """
    if not any(_bound(loop.kind) for loop in loops(subject(schedule).tree)):
        raise WorkbenchError("no statement has a bound loop: bind('m', 'block.x') | bind('n', 'thread.x') binds two")
    (placed, told), said = drawn_of(schedule, Asked(x, y, sizes, statement), _placed_all)
    notes = [NOTE, *dict.fromkeys(f"{n[0].upper()}{n[1:]}." for n in (*said, *told))]
    scene = beside([_scene(p) for p in placed])
    return Picture(
        _text(placed, notes), above(scene, paragraph(notes, max(420.0, scene.width)), gap=10), data=tuple(placed)
    )


def _placed_all(of: Subject, asked: Asked) -> tuple[list[Placed], list[str]]:
    """All statements with bound loops, and the notes of their frames."""
    first = _bound_dims(of, asked.statement)
    found = frames(of, chosen_groups(of, asked.statement), asked, first=first, whole=True)
    placed = [p for f in found for s in f.shown if (p := _placed(f, f.of.program.statement(s))) is not None]
    return placed, [note for f in found for note in f.notes]


def _bound_dims(of: Subject, statement: str | None) -> tuple[str, ...]:
    """Dims behind bound loops, along x before those along y: good axes."""
    found: dict[str, str] = {}
    for own in of.program.statements:
        if statement in (None, own.name):
            for loop in (x for x in path(of.tree, own.id) if _bound(x.kind)):
                for dim in own.dims:
                    if dim in index_names(loop.row(own.id)):
                        found.setdefault(dim, loop.kind[-1])
    return tuple(sorted(found, key=lambda dim: found[dim]))


def _placed(frame: Frame, own: ProgramStatement) -> Placed | None:
    around = path(frame.of.tree, own.id)
    bound = {x.kind: component(frame.of.program, x, own, frame.drawn.sizes) for x in around if _bound(x.kind)}
    if not bound:
        return None
    first: dict[Cell, Point] = {}
    points = frame.points[own.id]
    for point in points:
        first.setdefault(frame.cell(own.id, point), point)
    blocks = {cell: _numbers(bound, "block", point) for cell, point in first.items()}
    threads = {cell: _numbers(bound, "thread", point) for cell, point in first.items()}
    return Placed(own.name, (frame.x, frame.y), blocks, _from_zero(blocks, threads), len(first) < len(points))


def _bound(kind: str) -> bool:
    return is_block(kind) or is_thread(kind)  # type: ignore[arg-type]


def _numbers(bound: Mapping[str, object], what: str, point: Point) -> Number:
    return tuple(time(point) for axis in "xyz" if (time := bound.get(f"{what}.{axis}")) is not None)  # type: ignore[operator]


def _from_zero(blocks: dict[Cell, Number], threads: dict[Cell, Number]) -> dict[Cell, Number]:
    """Threads counted from the first of their block."""
    lowest: dict[Number, Number] = {}
    for cell, block in blocks.items():
        own = threads[cell]
        lowest[block] = tuple(map(min, lowest.get(block, own), own))
    return {
        cell: tuple(t - low for t, low in zip(own, lowest[blocks[cell]], strict=True)) for cell, own in threads.items()
    }


def _colour(block: Number) -> str:
    """Neighbouring blocks differ."""
    x, y, z = (*block, 0, 0, 0)[:3]
    return statement_role((x + 2 * y + 3 * z) % 5)


def _text(placed: list[Placed], notes: list[str]) -> str:
    lines = []
    for p in placed:
        most = [max(own) + 1 for own in zip(*p.threads.values(), strict=True)]
        size = " x ".join(map(str, most)) or "1"
        count = len({*p.blocks.values()})
        lines.append(
            f"{p.statement}: {number_of(count, 'block')} of {size} thread{'s' * (size != '1')}, as drawn"
        )
    return "\n".join([*lines, *notes])


def _scene(placed: Placed) -> Scene:
    axes = axes_for(*placed.axes, placed.blocks)
    half = axes.unit / 2
    marks: list[Mark] = []
    for cell, block in placed.blocks.items():
        px, py = axes.at(*cell)
        marks.append(
            Box(px - half + 0.6, py - half + 0.6, axes.unit - 1.2, axes.unit - 1.2, _colour(block), None, 2.0, 0.28)
        )
        thread = placed.threads[cell]
        if thread:
            words, size = ",".join(map(str, thread)), min(11.0, axes.unit * (0.42 if len(thread) == 1 else 0.3))
            marks.append(Text(px, py + size * 0.36, words, size, "ink", "middle"))
    marks += _borders(axes, placed.blocks)
    title = Text(0, 13, f"{placed.statement}: block and thread of each instance", 12.5, bold=True)
    head = Scene(title.width, 20, (title,), title.text)
    return above(head, Scene(axes.width, axes.height, (*axes.marks(), *marks)), gap=2)


def _borders(axes: Axes, blocks: dict[Cell, Number]) -> list[Mark]:
    """A frame around the cells of each block."""
    found: list[Mark] = []
    for block in dict.fromkeys(blocks.values()):
        own = [cell for cell, b in blocks.items() if b == block]
        (left, right), (top, bottom) = ((min(v), max(v)) for v in zip(*own, strict=True))
        if len(own) != (right - left + 1) * (bottom - top + 1):
            continue  # a block that goes on in the next row has no frame
        x, y = axes.at(left - 0.5, top - 0.5)
        width, height = (right - left + 1) * axes.unit, (bottom - top + 1) * axes.unit
        found.append(Box(x, y, width, height, None, "ink", 3.0))
    return found
