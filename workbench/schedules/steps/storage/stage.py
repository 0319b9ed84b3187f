"""`stage`: part of an array is kept in a buffer while some loops use it (cache read, cache write, packing)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

from workbench.errors import ScheduleError, shown, unknown_name
from workbench.lang.expr import Index
from workbench.lang.printing.printer import show
from workbench.poly.derive.buffers import Buffer, Cell, Filling, buffer, is_read_at
from workbench.poly.derive.deriving import derive, fresh_name
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Tree, path, statements
from workbench.poly.regions.storage import place_of
from workbench.records import record
from workbench.schedules.arguments import new_name
from workbench.schedules.choices import takes_choices
from workbench.schedules.edit import Site, find_loop, rest_of, sites, spelt
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps.support.insertion import inserted_beside
from workbench.schedules.transform import Transform

FILLINGS: tuple[Filling, ...] = ("neutral", "none", "load")


@record
class Stage(Transform):
    """Keep what the iterations of a loop touch of an array in a buffer of their own.

    before → after:  for m: { … A(m, k) … }   →   for m: { A_local(k) = A(m, k);  … A_local(k) … }

    A read instead of an array, such as `A(m, k)`, leaves the others in the loop as they are.  What is written goes back
    afterwards, unless it is a temporary and nobody wants it there; a buffer that only collects contributions to a
    reduction begins with the neutral element and is added to the array at the end.
    Legal when every reader still gets the value it got before.
    TVM calls this cache_read and cache_write; with tiles around it is the packing of Goto's and BLIS's matrix product.
    """

    name: ClassVar[str] = "stage"
    array: str
    at: str
    filling: Filling | None = None
    buffer: str = ""

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        array, _, subscripts = self.array.partition("(")
        if array not in program.arrays:
            raise ScheduleError(f"stage: {unknown_name('array', array, list(program.arrays))}")
        if self.filling is not None and self.filling not in FILLINGS:
            known = ", ".join(FILLINGS)
            raise ScheduleError(f"stage: filling={shown(self.filling)} does not fit; expected one of {known}")
        site = find_loop(program, tree, self.at)
        users = tuple(statements(rest_of(site)))
        own = new_name(self.buffer, "buffer") if self.buffer else ""
        name = own or fresh_name(f"{array}_local", set(program.arrays))
        if name in program.arrays:
            raise ScheduleError(f"stage: there is an array {name} already; give another name with buffer=")
        if subscripts:
            return self._with(schedule, site, users, (array, name), "load", self._cell(program, users, array))
        ways: list[tuple[Filling, bool]] = [
            (x, True) for x in ((self.filling,) if self.filling else fillings(program, users, array))
        ]
        if self.filling in (None, "none") and passing(program, users, array):
            ways.insert(0, ("none", False))
        found = (self._with(schedule, site, users, (array, name), x, store=store) for x, store in ways)
        after = schedule
        for after in found:
            if not after.differences:
                return after
        return after

    def _cell(self, program: Program, users: tuple[str, ...], array: str) -> Cell:
        """The subscripts of the read that is meant."""
        found = [a for s in users for a in program.statement(s).accesses if a.array == array]
        known = {spelt_read(array, a.subscripts): a.subscripts for a in found if is_read_at(a, a.subscripts)}
        cell = known.get("".join(self.array.split()))
        if cell is None:
            raise ScheduleError(f"stage: {unknown_name('read', self.array, list(known))}")
        if self.filling not in (None, "load"):
            raise ScheduleError(f"stage: a buffer for {self.array} alone begins with its cells; leave filling= out")
        return cell

    def _with(
        self, schedule: Schedule, site: Site, users: tuple[str, ...], names: tuple[str, str], filling: Filling,
        cell: Cell | None = None, *, store: bool = True,
    ) -> Schedule:  # fmt: skip
        program, tree = schedule.program, schedule.tree
        (array, name), depth = names, len(path(tree, users[0])) - inner_depth(site, users[0])
        made = buffer(program, tree, array, users, depth, name, filling, cell)
        made = made if store else replace(made, after=())
        before, after = ([copies(s, made) for s in part] for part in (made.before, made.after))
        new = inserted_beside(tree, site, before, after, made.times)
        derived = derive(program, with_users(program, made), {**program.arrays, name: made.array}, new)
        place_of(derived, new, name)
        return schedule.with_program(derived, new, self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[Stage]:
        program = schedule.program
        for site in sites(schedule.tree):
            inside = statements(rest_of(site))
            touched = {a.array for s in inside for a in program.statement(s).accesses}
            for array in sorted(touched):
                if program.arrays[array].scope == "global" and program.arrays[array].rank:
                    yield cls(array, spelt(program, schedule.tree, site))

    def __str__(self) -> str:
        filling = f", filling={self.filling!r}" if self.filling else ""
        name = f", buffer={self.buffer!r}" if self.buffer else ""
        return f"stage({self.array!r}, {self.at!r}{filling}{name})"


def spelt_read(array: str, cell: Cell) -> str:
    """A read as its text without spaces: `A(m,k)`."""
    return "".join(f"{array}({','.join(map(show, cell))})".split())


def fillings(program: Program, users: tuple[str, ...], array: str) -> tuple[Filling, ...]:
    """How the buffer may begin, what is cheapest first."""
    own = [program.statement(s) for s in users]
    writers = [s for s in own if any(a.array == array for a in s.writes)]
    if not writers:
        return ("load",)
    readers = [s for s in own if any(a.array == array and not a.accumulates for a in s.reads)]
    pure = all(s.kind == "update" for s in writers) and not readers and len({s.reduction for s in writers}) == 1
    return ("neutral",) if pure and isinstance(writers[0].reduction, str) else ("none", "load")


def passing(program: Program, users: tuple[str, ...], array: str) -> bool:
    """Whether an array is a temporary that these statements (ids) write: perhaps nobody else wants what they write."""
    written = any(a.array == array for s in users for a in program.statement(s).writes)
    return program.arrays[array].role == "temporary" and written


def inner_depth(site: Site, statement: str) -> int:
    """Loops around a statement that are inside the site's loop."""
    return len(path(rest_of(site), statement))


def copies(s: ProgramStatement, made: Buffer) -> Tree:
    """The loops of a copy: one for each dimension of the array."""
    loops = tuple(Loop(d, ((s.id, Index(d)),)) for d in made.cells)
    return Band(loops, Leaf(s.id)) if loops else Leaf(s.id)


def with_users(program: Program, made: Buffer) -> tuple[ProgramStatement, ...]:
    """The statements with those that use the buffer changed, and its own at the end."""
    users = {s.id: s for s in made.users}
    return (*(users.get(s.id, s) for s in program.statements), *made.before, *made.after)


@takes_choices
def stage(array: str, at: str, /, filling: Filling | None = None, buffer: str = "") -> Stage:
    """Keep what one iteration of loop `at` touches of `array` in a buffer, or what one read of it does: `"A(m, k)"`.

    `filling` says how the buffer begins: "load" (with the array's cells), "none" (it is written before it is read),
    "neutral" (contributions to a reduction are collected and added at the end); by default the cheapest that is
    right.  `buffer` names it (`A_local` otherwise).
    """
    return Stage(array, at, filling, buffer)
