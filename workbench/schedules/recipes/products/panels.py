"""Panels: a copy of an operand in which what a register reads at once are neighbours."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from workbench.lang.expr import Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.dependence.questions import statement_id
from workbench.poly.derive.buffers import is_read_at, loads_of
from workbench.poly.derive.deriving import fresh_name
from workbench.poly.programs.addresses import address_step
from workbench.poly.programs.loop_names import LoopName, loop_of
from workbench.poly.programs.tree import loops, path, statements
from workbench.schedules import steps  # those by which few products go are loaded with the first
from workbench.schedules.analysis.structure import Structure, structure
from workbench.schedules.edit import find_loop, own_loops, rest_of
from workbench.schedules.recipes.products.known_operands import is_known
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.recipes.staging import staged
from workbench.schedules.recipes.try_steps import ordered
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import Split, parallelize, reorder, split, transform_layout, unroll, vectorize
from workbench.schedules.steps.storage.stage import spelt_read
from workbench.schedules.transform import applied
from workbench.target import Target

SHARED = 4
"""Times that it takes to begin a parallel loop: a copy must take so long that threads share it."""


def plain_read(shape: Structure, dim: str) -> Read | None:
    """The only read that moves along a dim and the reduction, if each of its subscripts is a dim of its own."""
    reduced = {*shape.reduced}
    found = {r for r in reads_of(*shape.statement.values) if dim in index_names(r) and index_names(r) & reduced}
    if len(found) != 1:
        return None
    (read,) = found
    plain = {s.name for s in read.subscripts if isinstance(s, Index)}
    return read if len(plain) == len(read.subscripts) else None


def with_panel(
    schedule: Schedule, operand: Read, home: LoopName, cut: tuple[str, int], *, batches: Collection[str] = (),
    lanes: bool, group: tuple[str, int] | None = None, once: bool = False, in_order: bool = False,
) -> Schedule:  # fmt: skip
    """The operand copied where an iteration of the loop `home` begins, in panels of `cut` = (dim, size).

    before → after:  B(k, n)   →   B_local(n / 16, k, n % 16)      cut = ("n", 16)

    The dims of `batches` stay outermost, the others in the order in which loops walk them.  The copy runs in lanes
    along the dimension that was cut, or is unrolled; panel by panel, or `in_order` of the operand's memory.  Of an
    operand that is known, or `once`, all panels are copied before everything else.  Of the dim of a `group` (dim, size)
    so many cells lie side by side:
    B_local(n / 16, k / 4, n % 16, k % 4).
    """
    if once or is_known(operand.tensor):
        schedule, home = once_before(schedule, home.statement)
    schedule, buffer = staged(schedule, meant(schedule, operand, home), home)
    dim, size = cut
    dims = [s.name for s in operand.subscripts if isinstance(s, Index)]
    outer = [d for d in dims if d in batches]
    deep, words = group or ("", 1)
    walked = _in_turn(schedule, home.statement, [d for d in dims if d not in (*outer, dim)])
    inner = [f"{d} / {words}" if d == deep else d for d in walked]
    cells = [*outer, f"{dim} / {size}", *inner, f"{dim} % {size}", *([f"{deep} % {words}"] if deep else [])]
    along = bool(deep) and runs_along(schedule, operand, deep)
    schedule = transform_layout(buffer, f"({', '.join(dims)}) -> ({', '.join(cells)})").on(schedule)
    if deep:
        return _word_by_word(schedule, buffer, (dims.index(dim), size), (dims.index(deep), words), along=along)
    return panel_by_panel(schedule, buffer, dims.index(dim), size, lanes=lanes, in_order=in_order)


def _in_turn(schedule: Schedule, statement: str, dims: Collection[str]) -> list[str]:
    """Some dims of a statement, those that its outer loops walk first."""
    own = statement_id(schedule.program, statement)
    turn = {d: n for n, loop in enumerate(path(schedule.tree, own)) for d in index_names(loop.row(own))}
    return sorted(dims, key=lambda d: turn.get(d, -1))


def runs_along(schedule: Schedule, operand: Read, dim: str) -> bool:
    """Whether an operand's neighbours along a dim are neighbours in memory."""
    step = address_step(schedule.program.arrays[operand.tensor], operand.subscripts, dim)
    return step is not None and step.constant == 1


def copied_rows(schedule: Schedule, operand: Read, home: LoopName, dim: str, *, once: bool) -> Schedule:
    """The operand copied as it lies where an iteration of the loop `home` begins, or `once` before everything else.

    before → after:  A(m, k)   →   A_local(m, k)      in lanes along the dim k
    """
    if once or is_known(operand.tensor):
        schedule, home = once_before(schedule, home.statement)
    schedule, buffer = staged(schedule, meant(schedule, operand, home), home)
    return vectorize(copying(schedule, buffer)[_place(operand, dim)]).on(schedule)


def once_before(schedule: Schedule, statement: str) -> tuple[Schedule, LoopName]:
    """A loop of one iteration around the nest of a statement, and its name."""
    once = steps.add_unit_loop(statement, 0, name=fresh_name("once", {x.name for x in loops(schedule.tree)}))
    return once.on(schedule), once.made


def copying(schedule: Schedule, buffer: str) -> list[LoopName]:
    """The loops that only the copy into a buffer is in."""
    load = loads_of(schedule.program, buffer)[0]
    return [loop_of(load.name, loop) for loop in own_loops(schedule.tree, load.id)]


def in_pieces(loop: LoopName, size: int, names: tuple[str, str]) -> Split:
    """The loop in pieces, called after it with these words."""
    outer, inner = (loop.part(word).loop for word in names)
    return split(loop, size, names=(outer, inner))


def meant(schedule: Schedule, operand: Read, home: str) -> str:
    """The operand's array, or this read alone where a loop touches the array elsewhere too."""
    users = statements(rest_of(find_loop(schedule.program, schedule.tree, home)))
    touches = [a for s in users for a in schedule.program.statement(s).accesses if a.array == operand.tensor]
    alone = all(is_read_at(a, operand.subscripts) for a in touches)
    return operand.tensor if alone else spelt_read(operand.tensor, operand.subscripts)


def panel_by_panel(
    schedule: Schedule, buffer: str, position: int, size: int, *, lanes: bool, in_order: bool = False
) -> Schedule:
    """The copy panel by panel, or all of them row by row, in lanes or unrolled along the dimension that was cut."""
    own = copying(schedule, buffer)
    panels = in_pieces(own[position], size, ("panel", "lane"))
    others = [*own[:position], *own[position + 1 :]]
    walked = (*others, panels.outer, panels.inner) if in_order else (panels.outer, *others, panels.inner)
    schedule = applied(panels.on(schedule), reorder(*walked))
    if position == 0 and not in_order and len(others) > 1:  # rows of the operand follow one another: one long loop
        schedule = steps.fuse(*others).on(schedule)
    return (vectorize if lanes else unroll)(panels.inner).on(schedule)


def _word_by_word(
    schedule: Schedule, buffer: str, cut: tuple[int, int], group: tuple[int, int], *, along: bool
) -> Schedule:
    """The copy panel by panel, in it word by word: each of neighbours, or of as many rows that are exchanged."""
    own = copying(schedule, buffer)
    row, deep = own[cut[0]], own[group[0]]
    panels, words = in_pieces(row, cut[1], ("panel", "lane")), in_pieces(deep, group[1], ("group", "term"))
    others = [words.outer if x == deep else x for x in own if x != row]
    inner = (panels.inner, words.inner) if along else (words.inner, panels.inner)
    schedule = applied(words.on(panels.on(schedule)), reorder(panels.outer, *others, *inner))
    return unroll(words.inner).on(schedule)


def channels_last(schedule: Schedule, operand: Read, home: LoopName, dim: str) -> Schedule:
    """The operand copied before everything else, all cells of a dim side by side: I_local(y, x, c)."""
    schedule, home = once_before(schedule, home.statement)
    schedule, buffer = staged(schedule, meant(schedule, operand, home), home)
    place, own = _place(operand, dim), copying(schedule, buffer)
    if place + 1 < len(own):
        names = [f"d{n}" for n in range(len(own))]
        cells = [*names[:place], *names[place + 1 :], names[place]]
        schedule = transform_layout(buffer, f"({', '.join(names)}) -> ({', '.join(cells)})").on(schedule)
        schedule = reorder(*own[:place], *own[place + 1 :], own[place]).on(schedule)
    return vectorize(own[place]).on(schedule)


def _place(operand: Read, dim: str) -> int:
    """The subscript of a read that is a dim."""
    return next(n for n, s in enumerate(operand.subscripts) if isinstance(s, Index) and s.name == dim)


def in_words(
    schedule: Schedule, operand: Read, home: LoopName, group: tuple[str, Words], target: Target, *, full: bool
) -> Schedule:
    """The operand as an instruction takes it: as it lies where the cells of a dim are words of their own, else copied
    before everything else, by all threads where it is large.
    """
    (dim, words), before = group, {*schedule.program.arrays}
    along = runs_along(schedule, operand, dim)
    if along and full and not words.shifted and not words.wide:
        return schedule
    if along:
        schedule = copied_rows(schedule, operand, home, dim, once=True)
    else:
        schedule = grouped(schedule, operand, home, (dim, words.count))
    (buffer,) = {*schedule.program.arrays} - before
    return shared(schedule, buffer, target, size=words.bytes, least=words.count)


def shared(schedule: Schedule, buffer: str, target: Target, *, size: int, least: int = 1) -> Schedule:
    """A copy of elements of `size` bytes divided among threads, each `least` iterations at least, where it is long."""
    load, costs = loads_of(schedule.program, buffer)[0], target.costs
    shape = structure(schedule.program, load.id)
    vectors = prod(shape.trip(d) or 1 for d in load.dims) / target.lanes(8 * size)
    if target.cores == 1 or vectors * costs.copied_vector_seconds < SHARED * costs.region_seconds:
        return schedule
    around = path(schedule.tree, load.id)
    for own, loop in zip(copying(schedule, buffer), around[-len(copying(schedule, buffer)) :], strict=True):
        trip = prod(shape.trip(d) or 1 for d in index_names(loop.row(load.id)))
        if trip >= target.cores * least and loop.kind == "serial":
            return parallelize(own).on(schedule)
    return schedule


def grouped(schedule: Schedule, operand: Read, home: LoopName, group: tuple[str, int]) -> Schedule:
    """The operand copied before everything else, so many cells of a dim side by side: I_local(c / 4, y, x, c % 4)."""
    schedule, home = once_before(schedule, home.statement)
    schedule, buffer = staged(schedule, meant(schedule, operand, home), home)
    dim, count = group
    if count == 1:
        return schedule
    place = _place(operand, dim)
    names = [f"d{n}" for n in range(len(operand.subscripts))]
    cells = [f"{d} / {count}" if n == place else d for n, d in enumerate(names)]
    own = copying(schedule, buffer)
    layout = f"({', '.join(names)}) -> ({', '.join((*cells, f'{names[place]} % {count}'))})"
    schedule = transform_layout(buffer, layout).on(schedule)
    words = in_pieces(own[place], count, ("group", "term"))
    others = [words.outer if n == place else x for n, x in enumerate(own)]
    inner = [words.inner] if others[-1] == words.outer else [words.inner, others.pop()]
    schedule = applied(words.on(schedule), reorder(*others, *inner))
    return unroll(words.inner).on(schedule)


def by_instruction(
    schedule: Schedule, name: str, tile_loops: tuple[str, str, str], words: Words, *, full: bool
) -> Schedule:
    """The loop over one word of contributions, inside the lanes, by the instruction; or the loops over a tile.

    `tile_loops` are the loop over contributions and those over the cells of a tile.  Words that are not `full` are
    padded; rows and columns beyond the ends are not, they have no cells.
    """
    if not words.instruction:
        return schedule
    deep, row, column = tile_loops
    groups = split(loop_of(name, deep), words.count)
    schedule, outer, inner = groups.on(schedule), groups.outer.loop, groups.inner.loop
    around = [x.name for x in path(schedule.tree, statement_id(schedule.program, name))]
    sums = [x for x in around[min(map(around.index, (outer, row))) :] if x not in (row, column, inner)]
    others = [x for x in sums if x != outer]
    if words.tiles:
        for loop in (row, column):
            schedule = steps.serial(loop_of(name, loop)).on(schedule)
    last = (*others, row, column, outer, inner) if words.tiles else (*sums, row, column, inner)
    orders: list[tuple[str, ...]] = [last] if full else [(row, column, *others, outer, inner), last]
    for order in orders:
        schedule = ordered(schedule, name, order)
        schedule = schedule if order is orders[-1] else steps.pad(groups.outer).on(schedule)
    return steps.replace(loop_of(name, row) if words.tiles else groups.inner, words.instruction).on(schedule)
