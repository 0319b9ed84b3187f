"""The iteration domain as plain data: points and arrows on two axes, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench import poly
from workbench.errors import WorkbenchError, unknown_name
from workbench.poly.program import DependenceKind
from workbench.schedules.legality import instance
from workbench.viz.coordinates import Point, Subject, groups, known_axis
from workbench.viz.frame import Asked, Frame, frames

Cell = tuple[int, int]
Visit = tuple[str, Point]


@dataclass(frozen=True)
class Layer:
    """The instances of one statement: `cells` maps a place to the first instance shown there; `count` of them in all.

    `number` is the statement's position in the program; it fixes colour and shape.  `lane` holds the letters of the
    axes the statement does not have: there it stands beside the others.
    """

    statement: str
    number: int
    dims: tuple[str, ...]
    cells: dict[Cell, Point]
    count: int
    lane: str = ""


@dataclass(frozen=True)
class Arrow:
    """A dependence from a layer's cell to another's (layers by index); `bad` when the order violates it."""

    kind: DependenceKind
    array: str
    source: int
    start: Cell
    target: int
    end: Cell
    bad: bool = False


@dataclass(frozen=True)
class Panel:
    """One coordinate system: statements that share a loop.

    `hidden` names statements with neither axis; `within` counts dependences between instances that share a cell, or is
    None when there are too many dependences to draw.  `violated` says in words what is red.
    """

    x: str
    y: str
    layers: tuple[Layer, ...]
    arrows: tuple[Arrow, ...]
    hidden: tuple[str, ...]
    within: int | None
    violated: tuple[str, ...] = ()


@dataclass(frozen=True)
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


def chosen_groups(of: Subject, statement: str | None) -> list[tuple[str, ...]]:
    """All groups, or the one with a statement (by name or id)."""
    found = groups(of.tree)
    if statement is None:
        return list(found)
    try:
        identifier = of.program.statement(statement).id
    except KeyError:
        raise WorkbenchError(unknown_name("statement", statement, [s.name for s in of.program.statements])) from None
    return [g for g in found if identifier in g]


def panel(f: Frame) -> Panel:
    """Layers and arrows of one frame."""
    program = f.of.program
    order = [s.id for s in program.statements]
    layers = []
    for s in f.shown:
        cells: dict[Cell, Point] = {}
        for point in f.points[s]:
            cells.setdefault(f.cell(s, point), point)
        own = program.statement(s)
        lane = "".join(letter for letter, g in zip("xy", f.coordinates[s], strict=True) if g is None)
        layers.append(Layer(own.name, order.index(s), own.dims, cells, len(f.points[s]), lane))
    bad = dict(_violated(f))
    try:
        arrows, within = _arrows(f)
    except WorkbenchError:
        arrows, within = (), None
    hidden = tuple(program.statement(s).name for s in f.group if s not in f.shown)
    return Panel(f.x, f.y, tuple(layers), (*arrows, *bad), hidden, within, tuple(dict.fromkeys(bad.values())))


def _arrows(f: Frame) -> tuple[tuple[Arrow, ...], int]:
    """Different arrows between cells, and the number of pairs that share a cell."""
    found: dict[Arrow, None] = {}
    within = 0
    for pairs in poly.dependence_pairs(f.of.program, f.drawn.sizes, among=f.shown, window=f.drawn.window):
        d = pairs.dependence
        for source, target in pairs.pairs:
            arrow = _arrow(f, d.kind, d.array, (d.source, source), (d.target, target))
            if (arrow.source, arrow.start) == (arrow.target, arrow.end):
                within += 1
            else:
                found[arrow] = None
    return tuple(found), within


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
            a = tuple(v.source[d] for d in program.statement(source).dims)
            b = tuple(v.target[d] for d in program.statement(target).dims)
            if a in f.points[source] and b in f.points[target]:
                kind = v.dependence.kind if v.dependence else "output"
                array = v.dependence.array if v.dependence else ""
                ends = f"{instance(program, source, v.source)} → {instance(program, target, v.target)}"
                yield _arrow(f, kind, array, (source, a), (target, b), bad=True), f"{ends} ({kind}, {v.reason})"
