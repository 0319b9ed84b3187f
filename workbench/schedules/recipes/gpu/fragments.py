"""Copies of a product's tiles: into shared memory by all threads of a block, from there into registers by each of them.

    for p: for y (thread.y): for x (thread.x): for k_v < 4: A_tile(k, m) = A(m, k)      four neighbours at once
    for m_g: for m_v < 4: A_own(m_g, m_v) = A_tile(k, m)                                a thread's part of one column

The cells of a thread are groups of neighbours, so that it reads and writes them at once: cell m of a tile belongs to
thread `m / values % threads`.
"""

from __future__ import annotations

from math import gcd, prod

from workbench.errors import ScheduleError
from workbench.lang.expr import Binary, Expr, Index, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.dependence.questions import statement_id
from workbench.poly.derive.buffers import copies_of, loads_of
from workbench.poly.programs.loop_names import LoopName, loop_of, loops_of
from workbench.poly.programs.program import Array
from workbench.poly.programs.tree import path
from workbench.records import record
from workbench.schedules.edit import own_loops
from workbench.schedules.recipes.staging import staged
from workbench.schedules.recipes.try_steps import ordered
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    bind,
    fuse,
    reorder,
    split,
    tile,
    transform_layout,
    unroll,
    vectorize,
)
from workbench.schedules.transform import Transform, applied

VALUES = 4
"""Neighbouring cells of a thread: 16 bytes of floats."""


@record
class Tile:
    """What a block computes: `rows` x `columns` cells, by `height` x `width` threads."""

    rows: int
    columns: int
    height: int
    width: int

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        """The threads of a block along each axis, x last."""
        return ("y", self.height), ("x", self.width)


@record
class Product:
    """The dims of a product: the result's `row` and `column`, other free dims, what is added up; staged arrays."""

    row: LoopName
    column: LoopName
    others: tuple[LoopName, ...]
    reduced: tuple[LoopName, ...]
    operands: tuple[str, ...]


@record
class Side:
    """One dim of the tile: its length, the threads along it and their axis."""

    dim: LoopName
    length: int
    threads: int
    letter: str

    @property
    def values(self) -> int:
        return min(VALUES, self.length // self.threads)

    @property
    def groups(self) -> int:
        return self.length // self.threads // self.values

    @property
    def thread(self) -> LoopName:
        """The loop over threads."""
        return self.dim.part(self.letter)

    @property
    def group(self) -> LoopName:
        """The loop over the groups of a thread."""
        return self.dim.part("g")

    @property
    def value(self) -> LoopName:
        """The loop over the neighbours of a group."""
        return self.dim.part("v")

    def cut(self, loop: str, statement: str, *, whole: bool = True) -> list[Transform]:
        """Steps that divide a loop over the tile into groups, threads and values.

        Not `whole`: the loop is one over the array, so that a tile is a group of it even where that is the only one.
        """
        own, groups = loop_of(statement, loop), list[Transform]()
        if self.groups > 1 or not whole:
            first = split(own, self.values * self.threads, names=(self.group, self.dim.part("r")))
            own, groups = first.inner, [first]
        return [*groups, split(own, self.values, names=(self.thread, self.value))]

    def places(self, name: str) -> tuple[str, list[str]]:
        """Which thread has a cell of this coordinate, and where, as text."""
        whole = self.values * self.threads
        return f"{name} / {self.values} % {self.threads}", [f"{name} / {whole}", f"{name} % {self.values}"]


def sides(plan: Product, size: Tile) -> tuple[Side, Side]:
    """Rows and columns."""
    return Side(plan.row, size.rows, size.height, "y"), Side(plan.column, size.columns, size.width, "x")


def value_loops(plan: Product, size: Tile) -> list[LoopName]:
    """The loops over the cells of a thread: groups, then values."""
    both = sides(plan, size)
    return [s.group for s in both if s.groups > 1] + [s.value for s in both]


def tiled_result(schedule: Schedule, statement: str, plan: Product, size: Tile) -> Schedule:
    """The loops of a statement over the result in blocks, groups, threads and values."""
    row, column = loops_of(statement, (plan.row, plan.column))
    blocks = tile({row: size.rows, column: size.columns})
    schedule = blocks.on(schedule)
    for side, points in zip(sides(plan, size), blocks.points, strict=True):
        for step in side.cut(points.loop, statement):
            schedule = step.on(schedule)
    return schedule


def result_in_registers(schedule: Schedule, identifier: str, result: str, plan: Product, size: Tile) -> Schedule:
    """The buffer of the result laid out by threads, and the loops of its copies like those of the product."""
    array, both = schedule.program.arrays[result], sides(plan, size)
    own = schedule.program.statement(identifier).targets[0][1][array.times :]
    at = [position_of(own, s.dim) for s in both]
    names = [f"d{i}" for i in range(len(own))]
    places = [s.places(names[p]) for s, p in zip(both, at, strict=True)]
    rest = [n for i, n in enumerate(names) if i not in at]
    cells = [*rest, *(thread for thread, _ in places), *(x for _, inside in places for x in inside)]
    schedule = transform_layout(result, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)
    for copy in copies_of(schedule.program, result):
        loops = own_loops(schedule.tree, copy.id)[-len(own) :]
        for side, position in zip(both, at, strict=True):
            for step in side.cut(loops[position], copy.name, whole=False):
                schedule = step.on(schedule)
        values = [s.group for s in both] + [s.value for s in both]
        others = [x for i, x in enumerate(loops) if i not in at]
        order = [*others, *(s.thread for s in both), *values]
        schedule = ordered(schedule, copy.name, order)
        for loop in values[:-1]:
            schedule = unroll(loop_of(copy.name, loop)).on(schedule)
        schedule = vectorize(loop_of(copy.name, values[-1])).on(schedule)
        schedule = on_threads(schedule, copy.name, plan, size)
    return schedule


def on_threads(schedule: Schedule, statement: str, plan: Product, size: Tile) -> Schedule:
    """The thread loops of a statement bound."""
    for side in sides(plan, size):
        schedule = bind(loop_of(statement, side.thread), f"thread.{side.letter}").on(schedule)
    return schedule


def tile_cells(
    schedule: Schedule, identifier: str, buffer: str, lengths: dict[str, int], *, is_box: bool = False
) -> list[int]:
    """How many cells the tile of an operand has along each loop of its copy; `lengths` are those of the dims of a tile.

    None where the tile is no box of them (windows); ScheduleError if that `is_box` was taken for granted.
    """
    load = loads_of(schedule.program, buffer)[0]
    subscripts = _read(schedule, identifier, buffer)[-len(own_loops(schedule.tree, load.id)) :]
    if not all(isinstance(e, Index) for e in subscripts):
        if is_box:
            raise ScheduleError(f"{buffer} is no box")
        return []
    return [lengths.get(e.name, 1) for e in subscripts if isinstance(e, Index)]


def copied_by_threads(
    schedule: Schedule, name: str, cells: list[int], axes: tuple[tuple[str, int], ...], most: int = VALUES
) -> Schedule:
    """The copy of a tile of so many cells divided among the threads of a block, neighbours in memory by neighbours.

    `axes` are the threads of a block, `most` neighbours move at once, or as many of them as rows are multiples of.
    """
    loops = own_loops(schedule.tree, statement_id(schedule.program, name))
    long = {x: c for x, c in zip(loops, cells, strict=True) if c > 1}
    for loop, length in long.items():
        schedule = split(loop_of(name, loop), length, names=(loop.part("z"), loop.part("r"))).on(schedule)
    around, inside = [x.part("z") if x in long else x for x in loops], [x.part("r") for x in long]
    values: list[LoopName] = []
    if long and (most := gcd(most, [*long.values()][-1])) > 1:
        last = [*long][-1]
        cut = split(loop_of(name, inside[-1]), most, names=(last.part("t"), last.part("v")))
        schedule, inside, values = cut.on(schedule), [*inside[:-1], last.part("t")], [cut.inner]
    schedule = applied(schedule, reorder(*loops_of(name, (*around, *inside)), *values))
    whole = inside[0]
    if len(inside) > 1:
        part = fuse(*loops_of(name, inside), name="part")
        schedule, whole = part.on(schedule), part.fused.loop
    schedule = shared_among(schedule, name, whole, axes)
    return vectorize(values[0]).on(schedule) if values else schedule


def shared_among(schedule: Schedule, name: str, loop: str, axes: tuple[tuple[str, int], ...]) -> Schedule:
    """A loop of a statement in pieces of one iteration for each thread of a block."""
    known = {x.name for x in path(schedule.tree, statement_id(schedule.program, name))}
    piece, whole = _free("piece", known), _free("thread", known)
    schedule = split(loop_of(name, loop), prod(n for _, n in axes), names=(piece, whole)).on(schedule)
    bound = [_free(letter, known) for letter, _ in axes]
    for position in range(len(axes) - 1, 0, -1):
        rest = bound[0] if position == 1 else _free("".join(letter for letter, _ in axes[:position]), known)
        schedule = split(loop_of(name, whole), axes[position][1], names=(rest, bound[position])).on(schedule)
        whole = rest
    for loop, (letter, _) in zip(bound, axes, strict=True):
        schedule = bind(loop_of(name, loop), f"thread.{letter}").on(schedule)
    return schedule


def _free(wanted: str, known: set[str]) -> str:
    """A name that no loop around bears."""
    return wanted if wanted not in known else _free(f"{wanted}_t", known)


def is_transposed(schedule: Schedule, identifier: str, buffer: str, side: Side) -> bool:
    """Whether `side_contiguous` changes how a tile lies."""
    subscripts = _read(schedule, identifier, buffer)
    return position_of(subscripts, side.dim) != len(subscripts) - 1


def side_contiguous(schedule: Schedule, identifier: str, buffer: str, side: Side) -> Schedule:
    """The tile of an operand with the cells along the side next to one another."""
    subscripts = _read(schedule, identifier, buffer)
    names = [f"d{i}" for i in range(len(subscripts))]
    place = position_of(subscripts, side.dim)
    if place == len(names) - 1:
        return schedule
    order = [*names[:place], *names[place + 1 :], names[place]]
    return transform_layout(buffer, f"({', '.join(names)}) -> ({', '.join(order)})").on(schedule)


def with_fragment(schedule: Schedule, identifier: str, buffer: str, side: Side, home: str, wanted: str) -> Schedule:
    """What a thread needs of an operand's tile for one contribution, in registers."""
    schedule, own = staged(schedule, buffer, home, wanted)
    subscripts = _read(schedule, identifier, own)
    names, place = [f"d{i}" for i in range(len(subscripts))], position_of(subscripts, side.dim)
    cells = [n for i, n in enumerate(names) if i != place] + side.places(names[place])[1]
    schedule = transform_layout(own, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)
    load = loads_of(schedule.program, own)[0]
    loop = own_loops(schedule.tree, load.id)[place - len(names)]
    if side.groups > 1:
        cut = split(loop_of(load.name, loop), side.values, names=(loop.part("g"), loop.part("v")))
        return vectorize(cut.inner).on(unroll(cut.outer).on(cut.on(schedule)))
    return vectorize(loop_of(load.name, loop)).on(schedule)


def moves_with(schedule: Schedule, identifier: str, buffer: str, dim: str) -> bool:
    """Whether the cells of an operand that a statement reads move with a dim, which is one of their subscripts."""
    return any(isinstance(e, Index) and e.name == dim for e in _read(schedule, identifier, buffer))


def _read(schedule: Schedule, identifier: str, buffer: str) -> tuple[Expr, ...]:
    """How a statement reads a buffer, without the iterations that the buffer belongs to."""
    array: Array = schedule.program.arrays[buffer]
    found = [r for r in reads_of(*schedule.program.statement(identifier).values) if r.tensor == buffer]
    if len({r.subscripts for r in found}) != 1:
        raise ScheduleError(f"{buffer} is read in several ways")
    return found[0].subscripts[array.times :]


def position_of(subscripts: tuple[Expr, ...], dim: str) -> int:
    """The subscript that is a dim; ScheduleError where it moves in another way.

    Quotients are no matter: they are the iterations that a buffer of a buffer belongs to.
    """
    moving = [i for i, e in enumerate(subscripts) if dim in index_names(e)]
    plain = [i for i in moving if isinstance(subscripts[i], Index)]
    rest = [e for i in moving if i not in plain for e in [subscripts[i]]]
    if len(plain) != 1 or not all(isinstance(e, Binary) and e.op in ("/", "%") for e in rest):
        raise ScheduleError(f"{dim} is no subscript")
    return plain[0]
