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
from workbench.viz.draw.palette import statement_numbers, statement_role
from workbench.viz.draw.pictures import Picture
from workbench.viz.draw.regions import Regions, labelled_body, region_borders, region_key, regions_behind
from workbench.viz.draw.scene import Mark, Marker, Scene, Text, above, beside, paragraph
from workbench.viz.frames.coordinates import Point, Subject, component, subject
from workbench.viz.frames.frame import Asked, Frame, frames
from workbench.viz.views.domain.domain_data import Cell, chosen_groups
from workbench.viz.views.domain.region_data import Origins, bound_origins, regions
from workbench.viz.views.domain.small_problem import drawn_of
from workbench.wording import number_of

Number = tuple[int, ...]
NOTE = "A place is an instance, or all that lie behind it; its number is that of the thread in the block."


@record
class Placed:
    """A statement's cells: which block and which thread (x, y, z) executes them; `folded` instances share a cell.

    `number` fixes the statement's colour.
    """

    statement: str
    number: int
    axes: tuple[str, str]
    blocks: dict[Cell, Number]
    threads: dict[Cell, Number]
    regions: Regions
    folded: bool


def lanes(
    schedule: Schedule, /, x: str | None = None, y: str | None = None, sizes: Mapping[str, int] | None = None,
    statement: str | None = None,
) -> Picture:  # fmt: skip
    """The iteration domain of each statement whose loops are bound: thick outlines are blocks, numbers are threads.

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
    placed = []
    for f in found:
        origins = bound_origins(f)
        placed += [p for s in f.shown if (p := _placed(f, f.of.program.statement(s), origins)) is not None]
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


def _placed(frame: Frame, own: ProgramStatement, origins: Origins) -> Placed | None:
    around = path(frame.of.tree, own.id)
    if not any(_bound(loop.kind) for loop in around):
        return None
    times = [component(frame.of.program, loop, own, frame.drawn.sizes) for loop in around]
    first: dict[Cell, Point] = {}
    points = frame.points[own.id]
    for point in points:
        first.setdefault(frame.cell(own.id, point), point)
    whens = {cell: tuple(time(point) for time in times) for cell, point in first.items()}
    found = regions(whens, around, origins)
    blocks, threads = ({c: one.index for one in part for c in one.cells} for part in (found.blocks, found.threads))
    blocks, threads = ({cell: part.get(cell, ()) for cell in first} for part in (blocks, threads))
    number = statement_numbers(frame.of.program)[own.name]
    return Placed(own.name, number, (frame.x, frame.y), blocks, threads, found, len(first) < len(points))


def _bound(kind: str) -> bool:
    return is_block(kind) or is_thread(kind)  # type: ignore[arg-type]


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
    outlines = region_borders(axes, placed.regions, statement_role(placed.number))
    marks = [*regions_behind(axes, placed.regions), *axes.marks(), *outlines]
    marks += [_number(axes, cell, thread) for cell, thread in placed.threads.items()]
    title = Text(0, 13, f"{placed.statement}: block and thread of each instance", 12.5, bold=True)
    head = Scene(title.width, 20, (title,), title.text)
    body = labelled_body(axes, placed.regions, marks)
    return above(head, body, region_key(placed.regions, body.marks, max(340.0, axes.width)), gap=2)


def _number(axes: Axes, cell: Cell, thread: Number) -> Mark:
    """A thread's number in the middle of a place; a dot where a block has one thread."""
    if not thread:
        return Marker(*axes.at(*cell), "soft", "disc", 2.4)
    (x, y), size = axes.at(*cell), min(11.0, axes.unit * (0.42 if len(thread) == 1 else 0.3))
    return Text(x, y + size * 0.36, ",".join(map(str, thread)), size, "ink", "middle")
