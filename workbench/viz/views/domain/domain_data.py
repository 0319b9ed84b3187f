"""The iteration domain as plain data: points and arrows on two axes, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable

from workbench import poly
from workbench.errors import WorkbenchError, unknown_name
from workbench.poly.programs.program import DependenceKind, Program, ProgramStatement
from workbench.records import record
from workbench.schedules.legality import instance
from workbench.viz.draw.palette import statement_numbers
from workbench.viz.frames.coordinates import Point, Subject, groups, known_axis
from workbench.viz.frames.frame import Asked, Frame, frames

Cell = tuple[int, int]
Visit = tuple[str, Point]
Group = tuple[str, ...]


@record
class Layer:
    """The instances of one statement: `cells` maps a place to the name of the instance there (`C(0, *, 2)`: of all).

    `number` fixes the statement's colour and shape.  `lane` holds the letters of the
    axes the statement does not have: there it stands beside the others.  `folded` are the dims a point stands for.
    """

    statement: str
    number: int
    dims: tuple[str, ...]
    cells: dict[Cell, str]
    lane: str = ""
    folded: tuple[str, ...] = ()


@record
class Arrow:
    """A dependence from a layer's cell to another's (layers by index); `bad` when the order violates it."""

    kind: DependenceKind
    array: str
    source: int
    start: Cell
    target: int
    end: Cell
    bad: bool = False


@record
class Panel:
    """One coordinate system: statements that share a loop.

    `hidden` names statements with neither axis; `within` counts the points that hold dependences of their own, or is
    None when there are too many dependences to draw.  `violated` says in words what is red.
    """

    x: str
    y: str
    layers: tuple[Layer, ...]
    arrows: tuple[Arrow, ...]
    hidden: tuple[str, ...]
    within: int | None
    violated: tuple[str, ...] = ()


@record
class Domain:
    """Panels and what must be said about them."""

    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def domain_data(of: Subject, asked: Asked) -> Domain:
    """Points and dependences of a program on two axes; statements without a common loop get panels of their own.

    WorkbenchError for an axis or statement that does not exist.
    """
    for axis in filter(None, (asked.x, asked.y)):
        known_axis(of, axis)
    kept = [f for f in frames(of, chosen_groups(of, asked.statement), asked) if f.shown]
    notes = dict.fromkeys(note for f in kept for note in f.notes)
    return Domain(of.program.name, tuple(panel(f) for f in kept), tuple(notes))


def chosen_groups(of: Subject, statement: str | None) -> list[Group]:
    """All groups, or the one with a statement (by name or id)."""
    found = _with_neighbours(of.program, list(groups(of.tree)))
    if statement is None:
        return found
    try:
        identifier = of.program.statement(statement).id
    except KeyError:
        raise WorkbenchError(unknown_name("statement", statement, [s.name for s in of.program.statements])) from None
    return [g for g in found if identifier in g]


def _with_neighbours(program: Program, found: list[Group]) -> list[Group]:
    """A statement without dims joins the group after it, or the one before it when it is the last."""
    result: list[Group] = []
    waiting: Group = ()
    for group in found:
        if any(program.statement(s).dims for s in group):
            result.append((*waiting, *group))
            waiting = ()
        else:
            waiting += group
    if waiting and result:
        result[-1] += waiting
    return result or [waiting]


def panel(f: Frame) -> Panel:
    """Layers and arrows of one frame."""
    program = f.of.program
    numbers = statement_numbers(program)
    layers = []
    for s in f.shown:
        own = program.statement(s)
        cells: dict[Cell, str] = {}
        for point in f.points[s]:
            cells.setdefault(f.cell(s, point), _name(own, f.dims(s), point))
        lane = "".join(letter for letter, g in zip("xy", f.coordinates[s], strict=True) if g is None)
        layers.append(Layer(own.name, numbers[own.name], own.dims, cells, lane, _folded(f, s, len(cells))))
    bad = dict(_violated(f))
    try:
        arrows, within = _arrows(f)
    except WorkbenchError:
        arrows, within = (), None
    hidden = tuple(program.statement(s).name for s in f.group if s not in f.shown)
    return Panel(f.x, f.y, tuple(layers), (*arrows, *bad), hidden, within, tuple(dict.fromkeys(bad.values())))


def _folded(f: Frame, statement: str, cells: int) -> tuple[str, ...]:
    """Dims that run through instances at one and the same point."""
    own = f.of.program.statement(statement).dims
    if f.keep is None and cells == len(f.points[statement]):
        return ()
    return tuple(d for d in own if d not in (f.x, f.y))


def _name(statement: ProgramStatement, dims: tuple[str, ...], point: Point) -> str:
    """`C(0, *, 2)`: a statement's instances at a point over some of its dims."""
    values = dict(zip(dims, point, strict=True))
    return f"{statement.name}({', '.join(str(values.get(d, '*')) for d in statement.dims)})"


def _arrows(f: Frame) -> tuple[tuple[Arrow, ...], int]:
    """Different arrows between cells, and the number of cells that have some inside."""
    found: dict[Arrow, None] = {}
    within = set()
    known = poly.dependence_pairs(f.of.program, f.drawn.sizes, among=f.shown, keep=f.keep, window=f.drawn.window)
    for pairs in known:
        d = pairs.dependence
        for source, target in pairs.pairs:
            arrow = _arrow(f, d.kind, d.array, (d.source, source), (d.target, target))
            if (arrow.source, arrow.start) == (arrow.target, arrow.end):
                within.add((arrow.source, arrow.start))
            else:
                found[arrow] = None
    return tuple(found), len(within)


def _arrow(f: Frame, kind: DependenceKind, array: str, source: Visit, target: Visit, *, bad: bool = False) -> Arrow:
    a, b = f.shown.index(source[0]), f.shown.index(target[0])
    return Arrow(kind, array, a, f.cell(*source), b, f.cell(*target), bad)


def _violated(f: Frame) -> Iterable[tuple[Arrow, str]]:
    """A witness of each dependence that the drawn order breaks, at the drawn sizes, with words for it."""
    if not f.of.scheduled:
        return
    program = f.of.program
    for v in poly.violations(program, f.of.tree):
        source = v.dependence.source if v.dependence else v.statement
        target = v.dependence.target if v.dependence else v.statement
        if source in f.shown and target in f.shown:
            a = tuple(v.source[d] for d in f.dims(source))
            b = tuple(v.target[d] for d in f.dims(target))
            if a in f.points[source] and b in f.points[target]:
                kind = v.dependence.kind if v.dependence else "output"
                array = v.dependence.array if v.dependence else ""
                ends = f"{instance(program, source, v.source)} → {instance(program, target, v.target)}"
                yield _arrow(f, kind, array, (source, a), (target, b), bad=True), f"{ends} ({kind}, {v.reason})"
