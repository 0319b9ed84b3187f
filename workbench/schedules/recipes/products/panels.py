"""Panels: a copy of an operand in which what a register reads at once are neighbours."""

from __future__ import annotations

from collections.abc import Collection

from workbench.lang.expr import Index, Read, index_names
from workbench.lang.expr import reads as reads_of
from workbench.poly.derive.buffers import reads
from workbench.poly.derive.deriving import fresh_name
from workbench.poly.programs.addresses import step_of
from workbench.poly.programs.tree import loops, path, statements
from workbench.schedules.analysis.structure import Structure
from workbench.schedules.edit import find_loop, rest_of
from workbench.schedules.recipes.products.known_operands import is_known
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import (
    add_unit_loop,
    fuse,
    pad,
    reorder,
    replace,
    split,
    stage,
    transform_layout,
    unroll,
    vectorize,
)
from workbench.schedules.steps.storage.stage import spelt_read
from workbench.schedules.transform import applied


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
    schedule: Schedule, operand: Read, home: str, cut: tuple[str, int], *, batches: Collection[str] = (), lanes: bool,
    group: tuple[str, int] | None = None, once: bool = False,
) -> Schedule:  # fmt: skip
    """The operand copied where an iteration of the loop `home` begins, in panels of `cut` = (dim, size).

    before → after:  B(k, n)   →   B_local(n / 16, k, n % 16)      cut = ("n", 16)

    The dims of `batches` stay outermost.  The copy runs in lanes along the dimension that was cut, or is unrolled.
    Of an operand that is known, or `once`, all panels are copied before everything else.  Of the dim of a `group` (dim,
    size) so many cells lie side by side: B_local(n / 16, k / 4, n % 16, k % 4).
    """
    if once or is_known(operand.tensor):
        schedule, home = _once(schedule, home)
    before = {*schedule.program.arrays}
    schedule = stage(_meant(schedule, operand, home), home).on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    dim, size = cut
    dims = [s.name for s in operand.subscripts if isinstance(s, Index)]
    outer = [d for d in dims if d in batches]
    deep, words = group or ("", 1)
    inner = [f"{d} / {words}" if d == deep else d for d in dims if d not in (*outer, dim)]
    cells = [*outer, f"{dim} / {size}", *inner, f"{dim} % {size}", *([f"{deep} % {words}"] if deep else [])]
    along = bool(deep) and runs_along(schedule, operand, deep)
    schedule = transform_layout(buffer, f"({', '.join(dims)}) -> ({', '.join(cells)})").on(schedule)
    if deep:
        return _copied_words(schedule, buffer, (dims.index(dim), size), (dims.index(deep), words), along=along)
    return _copied(schedule, buffer, dims.index(dim), size, lanes=lanes)


def runs_along(schedule: Schedule, operand: Read, dim: str) -> bool:
    """Whether an operand's neighbours along a dim are neighbours in memory."""
    step = step_of(schedule.program.arrays[operand.tensor], operand.subscripts, dim)
    return step is not None and step.constant == 1


def copied_rows(schedule: Schedule, operand: Read, home: str, dim: str, *, once: bool) -> Schedule:
    """The operand copied as it lies where an iteration of the loop `home` begins, or `once` before everything else.

    before → after:  A(m, k)   →   A_local(m, k)      in lanes along the dim k
    """
    if once or is_known(operand.tensor):
        schedule, home = _once(schedule, home)
    before = {*schedule.program.arrays}
    schedule = stage(_meant(schedule, operand, home), home).on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    own = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    dims = [s.name for s in operand.subscripts if isinstance(s, Index)]
    return vectorize(f"{load.name}/{own[dims.index(dim)]}").on(schedule)


def _once(schedule: Schedule, home: str) -> tuple[Schedule, str]:
    """A loop of one iteration around the nest of a loop, and its name."""
    name, once = home.rpartition("/")[0], fresh_name("once", {x.name for x in loops(schedule.tree)})
    return add_unit_loop(name, 0, name=once).on(schedule), f"{name}/{once}"


def _meant(schedule: Schedule, operand: Read, home: str) -> str:
    """The operand's array, or this read alone where a loop touches the array elsewhere too."""
    users = statements(rest_of(find_loop(schedule.program, schedule.tree, home)))
    touches = [a for s in users for a in schedule.program.statement(s).accesses if a.array == operand.tensor]
    alone = all(reads(a, operand.subscripts) for a in touches)
    return operand.tensor if alone else spelt_read(operand.tensor, operand.subscripts)


def _copied(schedule: Schedule, buffer: str, position: int, size: int, *, lanes: bool) -> Schedule:
    """The copy panel by panel, in lanes or unrolled along the dimension that was cut."""
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    own = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    cut = own[position]
    names = (f"{cut}_panel", f"{cut}_lane")
    schedule = split(f"{load.name}/{cut}", size, names=names).on(schedule)
    others = [x for x in own if x != cut]
    schedule = applied(schedule, reorder(*(f"{load.name}/{x}" for x in (names[0], *others, names[1]))))
    if position == 0 and len(others) > 1:  # rows of the operand follow one another: one long loop
        schedule = fuse(*(f"{load.name}/{x}" for x in others)).on(schedule)
    return (vectorize if lanes else unroll)(f"{load.name}/{names[1]}").on(schedule)


def _copied_words(
    schedule: Schedule, buffer: str, cut: tuple[int, int], group: tuple[int, int], *, along: bool
) -> Schedule:
    """The copy panel by panel, in it word by word: each of neighbours, or of as many rows that are exchanged."""
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    own = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    row, deep = own[cut[0]], own[group[0]]
    for loop, size, ends in ((row, cut[1], ("panel", "lane")), (deep, group[1], ("group", "term"))):
        schedule = split(f"{load.name}/{loop}", size, names=(f"{loop}_{ends[0]}", f"{loop}_{ends[1]}")).on(schedule)
    others = [f"{x}_group" if x == deep else x for x in own if x != row]
    inner = [f"{row}_lane", f"{deep}_term"] if along else [f"{deep}_term", f"{row}_lane"]
    order = (f"{row}_panel", *others, *inner)
    schedule = applied(schedule, reorder(*(f"{load.name}/{x}" for x in order)))
    return unroll(f"{load.name}/{deep}_term").on(schedule)


def grouped(schedule: Schedule, operand: Read, home: str, group: tuple[str, int]) -> Schedule:
    """The operand copied before everything else, so many cells of a dim side by side: I_local(c / 4, y, x, c % 4)."""
    schedule, home = _once(schedule, home)
    before = {*schedule.program.arrays}
    schedule = stage(_meant(schedule, operand, home), home).on(schedule)
    (buffer,) = {*schedule.program.arrays} - before
    dim, count = group
    if count == 1:
        return schedule
    place = next(n for n, s in enumerate(operand.subscripts) if isinstance(s, Index) and s.name == dim)
    names = [f"d{n}" for n in range(len(operand.subscripts))]
    cells = [f"{d} / {count}" if n == place else d for n, d in enumerate(names)]
    load = next(s for s in schedule.program.statements if s.name == f"{buffer}.load")
    own = [x.name for x in path(schedule.tree, load.id) if [s for s, _ in x.rows] == [load.id]]
    layout = f"({', '.join(names)}) -> ({', '.join((*cells, f'{names[place]} % {count}'))})"
    schedule = transform_layout(buffer, layout).on(schedule)
    deep = own[place]
    schedule = split(f"{load.name}/{deep}", count, names=(f"{deep}_group", f"{deep}_term")).on(schedule)
    others = [f"{x}_group" if x == deep else x for x in own]
    inner = [f"{deep}_term"] if others[-1] == f"{deep}_group" else [f"{deep}_term", others.pop()]
    schedule = applied(schedule, reorder(*(f"{load.name}/{x}" for x in (*others, *inner))))
    return unroll(f"{load.name}/{deep}_term").on(schedule)


def by_instruction(
    schedule: Schedule, name: str, tile_loops: tuple[str, str, str], words: Words, *, full: bool
) -> Schedule:
    """The loop over one word of contributions, inside the lanes, by the instruction.

    `tile_loops` are the loop over contributions and those over the cells of a tile.  Words that are not `full` are
    padded; rows and columns beyond the ends are not, they have no cells.
    """
    if not words.instruction:
        return schedule
    deep, row, column = tile_loops
    outer, inner = f"{deep}_o", f"{deep}_i"
    schedule = split(f"{name}/{deep}", words.count).on(schedule)
    own = schedule.program.named(name)
    around = [x.name for x in path(schedule.tree, own.id)] if own else []
    sums = [x for x in around[min(map(around.index, (outer, row))) :] if x not in (row, column, inner)]
    orders: list[tuple[str, ...]] = [(*sums, row, column, inner)]
    if not full:
        orders.insert(0, (row, column, *(x for x in sums if x != outer), outer, inner))
    for order in orders:
        schedule = applied(schedule, reorder(*(f"{name}/{x}" for x in order)))
        schedule = schedule if order is orders[-1] else pad(f"{name}/{outer}").on(schedule)
    return replace(f"{name}/{inner}", words.instruction).on(schedule)
