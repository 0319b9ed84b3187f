"""A buffer between some statements and an array: what fills it, what empties it, who uses it instead.

    for m_o: for k_o: { for k_i, m_i: A_local(m, k) = A(m, k);  for ...: C(m, n) += A_local(m, k) * B(k, n) }

The cells of a buffer bear the names of the iteration they belong to (`A_local(m_o, k_o, m, k)`), so that nothing is
overwritten that is still of use; how few of them need a place is found when the order is final (`storage_of`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from workbench.errors import ScheduleError
from workbench.lang.algebra.identities import identity
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const, Expr, Index, Read, transform
from workbench.lang.operator import Monoid
from workbench.poly.derive.deriving import Body, body_of, changed, fresh_ids, statement
from workbench.poly.programs.program import Access, Array, Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.regions.regions import Around
from workbench.poly.sets import isl
from workbench.poly.sets.names import unique
from workbench.records import record

Filling = Literal["load", "none", "neutral"]
Cell = tuple[Expr, ...]


@record
class Buffer:
    """What a buffer adds: statements before and after the part that uses it, the part's statements changed.

    `dims` are the names of the iteration the buffer belongs to and of the array's dimensions.
    """

    array: Array
    before: tuple[ProgramStatement, ...]
    after: tuple[ProgramStatement, ...]
    users: tuple[ProgramStatement, ...]
    times: tuple[str, ...]
    cells: tuple[str, ...]


VERBS = ("load", "store", "init", "add")
"""What statements between a buffer and its array are called after the buffer's name: `A_local.load`.

A buffer's name is that of no other array and has no dot: what stands before the first dot says whose a statement is.
"""


def loads_of(program: Program, buffer: str) -> list[ProgramStatement]:
    """What fills a buffer from its array: the copy, or the parts into which steps divided it (`A_local.load.body`)."""
    load = f"{buffer}.load"
    return [s for s in program.statements if f"{s.name}.".startswith(f"{load}.")]


def copies_of(program: Program, buffer: str) -> list[ProgramStatement]:
    """The statements between a buffer and its array."""
    names = {f"{buffer}.{verb}" for verb in VERBS}
    return [s for s in program.statements if s.name in names]


@record
class _Place:
    program: Program
    around: Around
    array: Array
    buffer: Array
    arrays: dict[str, Array]
    times: tuple[str, ...]
    cells: tuple[str, ...]
    only: Cell | None = None

    @property
    def dims(self) -> tuple[str, ...]:
        return (*self.times, *self.cells)

    def cell(self) -> tuple[Expr, ...]:
        """The array's cell, as a copy's dims name it."""
        return tuple(Index(d, INT32) for d in self.cells)

    def place(self) -> tuple[Expr, ...]:
        """The buffer's cell."""
        return tuple(Index(d, INT32) for d in self.dims)


@isl.guarded
def buffer(
    program: Program, tree: Tree, array: str, users: tuple[str, ...], depth: int, name: str, filling: Filling,
    cell: Cell | None = None,
) -> Buffer:  # fmt: skip
    """The buffer `name` for an array in the part of the tree below `depth` loops in which `users` (ids) stand.

    `filling` says how it begins: with the array's cells, with nothing (the users write before they read), or with the
    neutral element of their reduction (what they add up is then combined into the array).  With a `cell` only the reads
    with these subscripts use the buffer.  ScheduleError if the users do not allow it.
    """
    part = [program.statement(s) for s in users]
    touches = [(s, a) for s in part for a in s.accesses if a.array == array and (cell is None or is_read_at(a, cell))]
    _exact(array, touches)
    place = replace(_place(program, tree, array, depth, name, touches), only=cell)
    cells = place.around.cells(touches)
    read = place.around.cells([t for t in touches if t[1].kind == "read"])
    written = place.around.cells([t for t in touches if t[1].kind == "write"])
    ids = iter(fresh_ids(program, 3))
    before: list[ProgramStatement] = []
    after: list[ProgramStatement] = []
    reduction = _reduction(array, touches) if filling == "neutral" else None
    if filling == "load" and cells is not None:
        wanted = cells if written is not None else place.around.boxed(read if read is not None else cells, array)
        before.append(_copy(place, next(ids), "load", wanted, place.buffer, place.array))
    if reduction is not None:
        before.append(_neutral(place, next(ids), cells, reduction))
        after.append(_combine(place, next(ids), cells, reduction))
    elif written is not None:
        after.append(_copy(place, next(ids), "store", written, place.array, place.buffer))
    using = {s.id for s, _ in touches}
    changed_users = tuple(changed(program, place.arrays, s, _redirected(place, s)) for s in part if s.id in using)
    return Buffer(place.buffer, tuple(before), tuple(after), changed_users, place.times, place.cells)


def _place(
    program: Program, tree: Tree, array: str, depth: int, name: str, touches: list[tuple[ProgramStatement, Access]]
) -> _Place:
    own = program.arrays[array]
    around = Around(program, tree, depth)
    loops = around.loops(touches[0][0].id)
    taken = {*program.symbols, *program.sizes}
    times = tuple(_named(loop.name, taken) for loop in loops)
    cells = tuple(_named(_hint(touches, d), taken) for d in range(own.rank))
    lower = (*(Const(0, INT32) for _ in times), *own.lower)
    extent = (*(Const(1 << 31, INT32) for _ in times), *own.extent)
    strides = tuple(Const(0, INT32) for _ in lower)
    made = Array(name, own.dtype, lower, extent, strides, "temporary", False, "local", len(times))
    return _Place(program, around, own, made, {**program.arrays, name: made}, times, cells)


def _named(name: str, taken: set[str]) -> str:
    found = unique(name, taken)
    taken.add(found)
    return found


def _hint(touches: list[tuple[ProgramStatement, Access]], dimension: int) -> str:
    """The name of an array's dimension: that of the index that runs along it, if one does alone."""
    for _, access in touches:
        subscript = access.subscripts[dimension]
        if isinstance(subscript, Index):
            return subscript.name
    return f"{touches[0][1].array.lower()}{dimension}"


def is_read_at(access: Access, cell: Cell) -> bool:
    """Whether an access is a read with these subscripts, other than of what an update adds to."""
    return access.kind == "read" and not access.accumulates and access.subscripts == cell


def _exact(array: str, touches: list[tuple[ProgramStatement, Access]]) -> None:
    if not touches:
        raise ScheduleError(f"nothing there touches {array}")
    for s, a in touches:
        if not a.exact:
            why = "only where data allow" if a.guarded else "at cells that data decide"
            raise ScheduleError(f"{s.name} touches {array} {why}; a buffer needs cells that are known")


def _reduction(array: str, touches: list[tuple[ProgramStatement, Access]]) -> str | Monoid:
    """The one operator by which all users combine into the array."""
    found = {s.reduction for s, a in touches if a.kind == "write" and s.kind == "update"}
    others = [s.name for s, a in touches if not (a.accumulates or (a.kind == "write" and s.kind == "update"))]
    if len(found) != 1 or others:
        who = f"{others[0]} does more with it" if others else "there is no single reduction"
        raise ScheduleError(f"{array} cannot begin with the neutral element: {who}")
    reduction = next(iter(found))
    assert reduction is not None
    if isinstance(reduction, Monoid):
        raise ScheduleError(f"{array} is one of several targets of {reduction.name}; buffers hold single values")
    return reduction


def _redirected(place: _Place, s: ProgramStatement) -> Body:
    """The statement with the buffer's cells in place of the array's."""
    body, times = body_of(s), place.around.rows(s)

    def change(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor == place.array.name and place.only in (None, node.subscripts):
            return Read(place.buffer.name, (*times, *node.subscripts), node.dtype)
        return node

    moved = [(t, tuple(transform(e, change) for e in cell)) for t, cell in body.targets]
    stored = place.array.name if place.only is None else None
    targets = tuple((place.buffer.name, (*times, *e)) if t == stored else (t, e) for t, e in moved)
    return replace(body, targets=targets, values=tuple(transform(v, change) for v in body.values))


def _copy(place: _Place, identifier: str, verb: str, cells: isl.Set, to: Array, source: Array) -> ProgramStatement:
    def at(array: Array) -> tuple[Expr, ...]:
        return place.place() if array is place.buffer else place.cell()

    value = Read(source.name, at(source), source.dtype)
    body = Body("assign", ((to.name, at(to)),), (value,), None, _text(place, to, "=", source))
    label = (identifier, f"{place.buffer.name}.{verb}")
    return statement(place.program, place.arrays, label, (place.dims, _named_set(cells)), body, "moves")


def _text(place: _Place, to: Array, sign: str, source: Array | None) -> str:
    inside = ", ".join(place.cells)
    right = "0" if source is None else f"{source.name}({inside})" if inside else source.name
    return f"{to.name}({inside}) {sign} {right}" if inside else f"{to.name} {sign} {right}"


def _neutral(place: _Place, identifier: str, cells: isl.Set | None, reduction: str | Monoid) -> ProgramStatement:
    assert cells is not None
    value = identity(reduction, 0, place.array.dtype)
    text = _text(place, place.buffer, "=", None)
    body = Body("initialise", ((place.buffer.name, place.place()),), (value,), reduction, text)
    label = (identifier, f"{place.buffer.name}.init")
    return statement(place.program, place.arrays, label, (place.dims, _named_set(cells)), body, "neutral")


def _combine(place: _Place, identifier: str, cells: isl.Set | None, reduction: str | Monoid) -> ProgramStatement:
    assert cells is not None
    value = Read(place.buffer.name, place.place(), place.array.dtype)
    text = _text(place, place.array, f"{reduction}=", place.buffer)
    body = Body("update", ((place.array.name, place.cell()),), (value,), reduction, text)
    label = (identifier, f"{place.buffer.name}.add")
    return statement(place.program, place.arrays, label, (place.dims, _named_set(cells)), body, "moves")


def _named_set(cells: isl.Set) -> isl.Set:
    return cells.set_tuple_name("T")
