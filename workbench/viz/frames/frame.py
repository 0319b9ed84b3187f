"""A frame: two axes over a small program, and the cell of each instance in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from math import prod

from workbench import poly
from workbench.lang.expr import index_names
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree, statements
from workbench.records import record
from workbench.viz.frames.coordinates import Coordinate, Point, Subject, axis_loop, axis_place
from workbench.viz.frames.small_sizes import Small, Wanted, small
from workbench.viz.frames.small_tree import largest_tile, shrunk

WANTED = (7, 6)
IN_WINDOW = 3
ROOM = 2500


@record
class Asked:
    """What the caller wants to see; None leaves the choice to the picture."""

    x: str | None = None
    y: str | None = None
    sizes: Mapping[str, int] | None = None
    statement: str | None = None


@record
class Frame:
    """Axes `x` and `y` ("" for none) over the statements of a group (ids), at sizes small enough to draw.

    `of` holds the program and tree that are drawn: small sizes, shrunk tiles.  `whole` asks for points over all dims.
    """

    of: Subject
    group: tuple[str, ...]
    x: str
    y: str
    drawn: Small
    notes: tuple[str, ...]
    whole: bool = False

    @cached_property
    def points(self) -> dict[str, tuple[Point, ...]]:
        """Instances of each statement, over its dims in `keep`."""
        program, d = self.of.program, self.drawn
        return {s: poly.instances_at(program, s, d.sizes, keep=self.keep, window=d.window) for s in self.group}

    @cached_property
    def keep(self) -> tuple[str, ...] | None:
        """The dims that decide where an instance stands; None for all (an axis is a loop, or `whole`)."""
        axes = tuple(axis for axis in (self.x, self.y) if axis)
        return None if self.whole or any(self._is_loop(s, axis) for s in self.group for axis in axes) else axes

    def _is_loop(self, statement: str, axis: str) -> bool:
        """Whether all dims of a statement's instance decide where it stands on the axis."""
        own = self.of.program.statement(statement)
        return axis not in own.dims and axis_loop(self.of.tree, own, axis) is not None

    def dims(self, statement: str) -> tuple[str, ...]:
        """The dims that points of a statement have."""
        own = self.of.program.statement(statement).dims
        return own if self.keep is None else tuple(d for d in own if d in self.keep)

    @cached_property
    def coordinates(self) -> dict[str, tuple[Coordinate | None, Coordinate | None]]:
        """The two coordinate functions of each statement."""
        program, sizes = self.of.program, self.drawn.sizes

        def along(statement: str, axis: str) -> Coordinate | None:
            own = program.statement(statement)
            return axis_place(self.of, own, self.dims(statement), axis, sizes) if axis else None

        return {s: (along(s, self.x), along(s, self.y)) for s in self.group}

    @property
    def shown(self) -> tuple[str, ...]:
        """Statements (ids) that have at least one of the axes, or no dims; all when there are no axes."""
        program, everything = self.of.program, not (self.x or self.y)
        return tuple(
            s for s in self.group if everything or self.coordinates[s] != (None, None) or not program.statement(s).dims
        )

    def cell(self, statement: str, point: Point) -> tuple[int, int]:
        """Where an instance stands.  Without a coordinate on an axis it stands beside the others, on its lane."""
        fx, fy = self.coordinates[statement]
        return (
            fx(point) if fx else self.lanes[statement][0],
            fy(point) if fy else self.lanes[statement][1],
        )

    @cached_property
    def lanes(self) -> dict[str, tuple[int, int]]:
        """Places of statements without a coordinate: before the others, or after them if they run later."""
        return {s: (self._lane(s, 0), self._lane(s, 1)) for s in self.group}

    def _lane(self, statement: str, axis: int) -> int:
        values = [f(p) for s in self.group if (f := self.coordinates[s][axis]) for p in self.points[s]]
        if not values:
            return 0
        order = statements(self.of.tree)
        first = next(s for s in order if s in self.group and self.coordinates[s][axis])
        return min(values) - 1 if order.index(statement) < order.index(first) else max(values) + 1


def frames(
    of: Subject,
    groups: Iterable[tuple[str, ...]],
    asked: Asked,
    *,
    first: tuple[str, ...] = (),
    whole: bool = False,
    elsewhere: bool = False,
) -> list[Frame]:
    """A frame for each group of statements, all at the same sizes; `first` are dims to prefer as axes.

    With `elsewhere`, dims that are no axes have as many values as there is room for, to be looked at in their turn.
    """
    tree, shrinking = shrunk(of.tree) if of.scheduled else (of.tree, {})
    axes = {g: _axes(of, g, asked, default_axes(of.program, g, first)) for g in groups}
    wanted = {name: dims for g, xy in axes.items() for name, dims in _wanted(of.program, tree, g, xy).items()}
    if elsewhere:
        most = {dim: values for dims in wanted.values() for dim, values in dims.items()}
        wanted = {name: _roomy(of.program, name, dims, most) for name, dims in wanted.items()}
    drawn = small(of.program, wanted, asked.sizes)
    note = _of_tiles(shrinking)
    notes = tuple(filter(None, (drawn.note, note)))
    small_one = Subject(drawn.program, tree, of.scheduled)
    return [Frame(small_one, g, x, y, drawn, notes, whole) for g, (x, y) in axes.items()]


def _of_tiles(shrinking: Mapping[int, int]) -> str:
    """Which tiles are drawn as which; those that become the same are said together."""
    into: dict[int, list[str]] = {}
    for size, drawn in shrinking.items():
        into.setdefault(drawn, []).append(str(size))
    return ", ".join(f"tiles of {', '.join(sizes)} as {n}" for n, sizes in into.items())


def _axes(of: Subject, group: tuple[str, ...], asked: Asked, found: tuple[str, str]) -> tuple[str, str]:
    """The axes asked for; the one left open is the most telling one that remains."""
    if asked.x is None and asked.y is None:
        return found
    if asked.x is not None and asked.y is not None:
        return asked.x, asked.y
    named = asked.x or asked.y or ""
    dims = [d for s in group for d in of.program.statement(s).dims]
    other = next((d for d in (*found, *reversed(dims)) if d and d != named), "")
    return (named, other) if asked.x is not None else (other, named)


def _wanted(program: Program, tree: Tree, group: tuple[str, ...], axes: tuple[str, str]) -> Wanted:
    """How many values the dims behind the axes should have: a handful, or two tiles and a rest."""
    wanted: Wanted = {}
    for s in group:
        own = program.statement(s)
        for axis, values in zip(axes, WANTED, strict=True):
            for dim in _dims_of(program, tree, s, axis):
                inside = axis == axes[0] and tuple(reversed(axes)) in windows(own)
                tile = largest_tile(tree, dim)
                count = max(values, 2 * tile + 1) if tile else IN_WINDOW if inside else values
                wanted.setdefault(_operator_name(own), {})[dim] = count
    return wanted


def _roomy(program: Program, name: str, wanted: Mapping[str, int], most: Mapping[str, int]) -> dict[str, int]:
    """Values for the dims of a statement that are no axes: as `most` has them for a dim of that name that is an axis
    elsewhere, else two to five, so that `ROOM` instances are enough.
    """
    rest = dict.fromkeys(d for s in program.statements if _operator_name(s) == name for d in s.dims if d not in wanted)
    each = (ROOM / max(1, prod(wanted.values()))) ** (1 / max(1, len(rest)))
    return {**{dim: most.get(dim, max(2, min(5, int(each)))) for dim in rest}, **wanted}


def _dims_of(program: Program, tree: Tree, statement: str, axis: str) -> list[str]:
    """The dims an axis depends on: itself, or those in the row of a loop."""
    own = program.statement(statement)
    if axis in own.dims:
        return [axis]
    loop = axis_loop(tree, own, axis)
    return [] if loop is None else [d for d in own.dims if d in index_names(loop.row(statement))]


def _operator_name(statement: ProgramStatement) -> str:
    """Name of the operator's statement behind one of the program (an initialisation belongs to its reduction)."""
    return statement.name.partition(".init")[0] if statement.kind == "initialise" else statement.name


# -- Which two dims tell most about a group of statements --

def default_axes(program: Program, group: tuple[str, ...], first: tuple[str, ...] = ()) -> tuple[str, str]:
    """(x, y) for a group of statements (ids); "" where there is no dim left.  The outer loop of the two is y.

    Looked at is the statement with the most dims, copies into buffers last.  Wanted are, in this order: dims of more
    than one value; dims in `first`; dims along which values move; dims that a triangular range or a subscript ties
    together; one dim that is reduced and one that is not; dims along which data is used again; loops next to each
    other; inner loops.
    """
    members = [program.statement(s) for s in group]
    most = max(members, key=lambda s: (not _is_copy(program, s), len(s.dims)))
    if len(most.dims) < 2:
        return (most.dims[0] if most.dims else ""), ""
    ties = _tied(program, most)
    moved, reduced, again = _moved(program, group), _reduced(program, group), _reused(most)

    def merit(pair: tuple[str, str]) -> tuple[int, ...]:
        outer, inner = (most.dims.index(d) for d in pair)
        return (
            sum(poly.extent(program, most.id, d) != 1 for d in pair),
            sum(d in first for d in pair),
            sum(d in moved for d in pair),
            pair in ties,
            sum(d in reduced for d in pair) == 1,
            sum(d in again for d in pair),
            outer - inner,
            outer,
        )

    y, x = max(combinations(most.dims, 2), key=merit)
    return x, y


def _is_copy(program: Program, own: ProgramStatement) -> bool:
    """Whether a step made the statement and it only reads one array: a buffer is loaded or stored."""
    made = own.id not in {s.id for s in program.original.statements}
    return made and [a.kind for a in own.accesses].count("read") == 1


def _moved(program: Program, group: tuple[str, ...]) -> set[str]:
    """Dims along which a dependence of the group runs that is not a mere reduction."""
    own = [d for d in poly.dependences(program) if d.source in group and d.target in group and d.kind != "reduction"]
    return {dim for d in own for dim in poly.moving_dims(program, d)}


def _reduced(program: Program, group: tuple[str, ...]) -> set[str]:
    """Dims along which contributions to one cell are made."""
    own = [d for d in poly.dependences(program) if d.kind == "reduction" and {d.source, d.target} <= set(group)]
    return {dim for d in own for dim in poly.moving_dims(program, d)}


def _reused(statement: ProgramStatement) -> set[str]:
    """Dims that some access does not depend on."""
    named = [{n for e in a.subscripts for n in index_names(e)} for a in statement.accesses]
    return {d for d in statement.dims for names in named if d not in names}


def _tied(program: Program, statement: ProgramStatement) -> set[tuple[str, str]]:
    """Pairs of dims that stand together in a subscript, or one in the other's range."""
    together: list[set[str]] = []
    for own in program.definition.statements() if program.definition else ():
        if own.name == statement.name:
            together += [r.bounding | {r.index} for r in own.ranges]
    ranges = {pair for pair in combinations(statement.dims, 2) for names in together if set(pair) <= names}
    return ranges | windows(statement)


def windows(statement: ProgramStatement) -> set[tuple[str, str]]:
    """Pairs of dims that stand together in a subscript: one slides a window, the other runs inside it."""
    together = [index_names(e) for a in statement.accesses for e in a.subscripts]
    return {pair for pair in combinations(statement.dims, 2) for names in together if set(pair) <= names}
