"""Races as the text has them: which iterations of a loop touch a cell that another one writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from workbench.poly.dataflow.last_writers import paths, union_of
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.poly.sets.unpack import maps, point
from workbench.records import record


@record
class Race:
    """Two iterations of a loop that may meet in a cell of an array."""

    loop: str
    array: str
    iterations: tuple[int, int]

    def __str__(self) -> str:
        a, b = self.iterations
        return f"the loop {self.loop} is parallel, but its iterations {a} and {b} may meet in a cell of {self.array}"


def races(
    program: Program, inner: Iterable[str], atomic: Collection[str] = (), ignored: Collection[str] = ()
) -> Iterator[Race]:
    """The first race on each array, if all iterations of the innermost loop around each statement `inner` ran at once.

    Iterations race if one writes what another one reads or writes, in one iteration of the loops around.  Updates by
    the statements `atomic` may meet one another.  Arrays `ignored` are not looked at.  Sizes must be bound.
    """
    where = paths(program)
    for name in inner:
        around, loop = where[name][:-1], program.statement(name)
        inside = [s for s in program.statements if where[s.id][: len(around)] == around]
        for array in sorted({a.array for s in inside for a in s.writes if a.array not in ignored}):
            if race := _race(loop.dims, inside, array, atomic):
                yield race


def _race(dims: tuple[str, ...], inside: list[ProgramStatement], array: str, atomic: Collection[str]) -> Race | None:
    uses = [(s, a) for s in inside for a in s.accesses if a.array == array]
    free = [s.id in atomic and a.subscripts == s.targets[0][1] for s, a in uses]
    touched = [(x, a.kind == "write", _by_iteration(s, a, len(dims))) for x, (s, a) in zip(free, uses, strict=True)]
    outer = [f"o{d}" for d in range(len(dims) - 1)]
    others = isl.parse_union_map(f"{{ [{', '.join([*outer, 'i'])}] -> [{', '.join([*outer, 'j'])}] : i != j }}")
    pairs = _meeting(touched, {True, False}, {False}).union(_meeting(touched, {False}, {True, False}))
    meeting = maps(pairs.intersect(others))
    first = point(meeting[0].lexmin().wrap().flatten()) if meeting else None
    return None if first is None else Race(dims[-1], array, (first[len(dims) - 1], first[-1]))


def _meeting(touched: list[tuple[bool, bool, isl.Map]], writers: set[bool], others: set[bool]) -> isl.UnionMap:
    """Iterations of which one writes a cell and the other one touches it, for (not) atomic writers and others."""
    written = union_of([cells for atomic, writes, cells in touched if writes and atomic in writers])
    return written.apply_range(union_of([cells for atomic, _, cells in touched if atomic in others]).reverse())


def _by_iteration(s: ProgramStatement, access: Access, depth: int) -> isl.Map:
    """From iterations of the outermost loops to cells."""
    dims = list(map(to_isl, s.dims))
    project = isl.parse_map(f"{{ {s.id}[{', '.join(dims)}] -> [{', '.join(dims[:depth])}] }}")
    return isl.parse_map(access.relation).apply_domain(project)
