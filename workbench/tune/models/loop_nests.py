"""Loop nests as numbers: of each statement its loops, and how each access moves along them."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import takewhile
from math import prod
from operator import attrgetter

from workbench.lang.algebra.normal_form import constant
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Size, Unary, reads
from workbench.lang.operation_counts import instance_operations
from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, LoopKind, marked, path
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.analysis.structure import structure
from workbench.tune.models.cache_lines import PAGE, Moves, touched_lines

UNKNOWN_TRIP = 64
"""Iterations of a loop whose extent is symbolic."""

ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip


Target = tuple[str, tuple[Expr, ...]]
"""An array with the subscripts of a cell."""


@record(slots=True)
class NestLoop:
    """One loop around a statement: its iterations, and by how much each moves the statement's dims."""

    name: str
    kind: LoopKind
    trip: int
    moves: tuple[tuple[str, int], ...]


@record(slots=True)
class NestAccess:
    """One access: elements moved by an iteration of each loop, outermost first; None where data decide."""

    array: str
    bytes: int
    strides: tuple[int | None, ...]
    written: bool
    local: bool

    def lines(self, loops: tuple[NestLoop, ...], depth: int, line: int) -> int:
        """Cache lines of `line` bytes that the loops from `depth` on touch: how many differ."""
        return touched_lines(self._moves(loops, depth), self.bytes, line)[0]

    def crowded_lines(self, loops: tuple[NestLoop, ...], depth: int, line: int) -> int:
        """The same, each line counted as so many as it keeps others from a first cache of PAGE bytes a way: rows whose
        addresses differ by a large power of two meet in a few of its sets.
        """
        return touched_lines(self._moves(loops, depth), self.bytes, line)[1]

    def _moves(self, loops: tuple[NestLoop, ...], depth: int) -> Moves:
        return tuple(zip(self.strides[depth:], map(_trip, loops[depth:]), strict=True))

    def run(self, loops: tuple[NestLoop, ...]) -> tuple[int, int]:
        """(bytes that are walked one after another, how many such runs follow in steps of whole pages)."""
        length, jumps = 1, 1
        for loop, stride in reversed(list(zip(loops, self.strides, strict=True))):
            if stride is None:
                break
            if not stride or loop.trip == 1:
                continue
            if jumps == 1 and abs(stride) <= length:
                length += abs(stride) * (loop.trip - 1)
            elif abs(stride) * self.bytes % PAGE == 0:
                jumps *= loop.trip
            else:
                break
        return length * self.bytes, jumps


_trip = attrgetter("trip")


@record(slots=True)
class Nest:
    """One statement with its loops, outermost first, and its accesses; `operations` on data in each instance; whether
    its results go past the caches; and how many of its loops, from the outermost, are those of the nest before it.
    """

    statement: ProgramStatement
    loops: tuple[NestLoop, ...]
    accesses: tuple[NestAccess, ...]
    operations: int
    past_caches: bool = False
    shared: int = 0

    @property
    def instances(self) -> int:
        """How often it is executed, guards and cut tiles not looked at."""
        return prod(x.trip for x in self.loops)


def nests(schedule: Schedule) -> tuple[Nest, ...]:
    """The nests of a schedule, in the order of the program's statements."""
    past_caches, found = marked(schedule.tree, NontemporalStores), list[Nest]()
    before: Sequence[Loop] = ()
    for own in schedule.program.statements:
        around = path(schedule.tree, own.id)
        shared = len([*takewhile(lambda pair: pair[0] is pair[1], zip(before, around, strict=False))])
        nest = _nest(schedule, own, around)
        found.append(replace(nest, past_caches=own.id in past_caches, shared=shared))
        before = around
    return tuple(found)


def _nest(schedule: Schedule, own: ProgramStatement, around: Sequence[Loop]) -> Nest:
    program = schedule.program
    trips = {d: t if t is not None else UNKNOWN_TRIP for d, t in structure(program, own.id).trips}
    found = []
    for loop in around:
        walk = _walk(loop.row(own.id), trips)
        found.append(NestLoop(loop.name, loop.kind, walk.trip, tuple(walk.moves.items())))
    loops = tuple(found)
    accesses = [_access(program, own, a, s, loops, written=True) for a, s in own.targets if s]
    accesses += [_access(program, own, a, s, loops, written=False) for a, s in _only_read(own.targets, own.values)]
    return Nest(own, loops, tuple(accesses), instance_operations(own.values, own.reduction))


@lru_cache(maxsize=1 << 10)
def _only_read(targets: tuple[Target, ...], values: tuple[Expr, ...]) -> tuple[Target, ...]:
    """The cells that values read and that are no targets, in an order of their own."""
    read = {(r.tensor, r.subscripts) for r in reads(*values) if r.subscripts}
    return tuple(sorted(read - {*targets}, key=repr))


@record(slots=True)
class _Walk:
    """A time component: how far an iteration moves each dim, by how much that dim moves the component, and the
    component's first and last value.
    """

    moves: dict[str, int]
    weight: int
    first: int
    last: int

    @property
    def trip(self) -> int:
        """Iterations."""
        return self.last - self.first + 1


def _walk(row: Expr, trips: Mapping[str, int]) -> _Walk:
    """What a time component is like."""
    match row:
        case Index(name, _):
            return _Walk({name: 1}, 1, 0, trips.get(name, UNKNOWN_TRIP) - 1)
        case Const(value, _):
            return _Walk({}, 0, int(value), int(value))
        case Binary("/", inner, Const(size, _), _):
            return _divided(_walk(inner, trips), int(size))
        case Binary("%", inner, Const(size, _), _):
            own = _walk(inner, trips)
            return replace(own, first=0, last=min(own.trip, int(size)) - 1)
        case Binary("*", inner, Const(factor, _), _) | Binary("*", Const(factor, _), inner, _):
            return _scaled(_walk(inner, trips), int(factor))
        case Binary("+", left, right, _):
            return _sum(_walk(left, trips), _walk(right, trips))
        case Binary("-", left, right, _):
            return _sum(_walk(left, trips), _scaled(_walk(right, trips), -1))
        case Unary("-", inner, _):
            return _scaled(_walk(inner, trips), -1)
        case Cast(inner, _):
            return _walk(inner, trips)
    return _Walk({}, 0, 0, 0)


def _divided(own: _Walk, size: int) -> _Walk:
    step = max(1, size // max(1, abs(own.weight)))
    return _Walk({d: step * by for d, by in own.moves.items()}, 1, own.first // size, own.last // size)


def _scaled(own: _Walk, factor: int) -> _Walk:
    first, last = sorted((own.first * factor, own.last * factor))
    return _Walk(own.moves, own.weight * factor, first, last)


def _sum(left: _Walk, right: _Walk) -> _Walk:
    """The dim that moves the component least moves with each iteration: of fused dims the last, of skewed the first."""
    light = min((x for x in (left, right) if x.moves), key=lambda x: abs(x.weight), default=left)
    return _Walk(light.moves, light.weight, left.first + right.first, left.last + right.last)


def _access(
    program: Program, own: ProgramStatement, name: str, subscripts: tuple[Expr, ...], loops: tuple[NestLoop, ...],
    *, written: bool,
) -> NestAccess:  # fmt: skip
    array = program.arrays[name]
    places = list(zip(subscripts, _steps(array), strict=False))
    origin = dict.fromkeys(own.dims, 0)
    strides = tuple(_stride(places, origin, loop) for loop in loops)
    return NestAccess(name, array.dtype.bytes, strides, written, array.scope != "global")


def _stride(places: list[tuple[Expr, int]], origin: Mapping[str, int], loop: NestLoop) -> int | None:
    """Elements that an iteration of a loop moves an access; None where data decide."""
    total, moved = 0, {**origin, **dict(loop.moves)}
    for subscript, step in places:
        if any(_mentions(subscript, dim) for dim, _ in loop.moves):
            before, after = _value(subscript, origin), _value(subscript, moved)
            if before is None or after is None:
                return None
            total += (after - before) * step
    return total


def _steps(array: Array) -> list[int]:
    """Elements from one cell to the next along each dimension; of what has no layout yet, row by row."""
    known = [constant(s) for s in array.strides]
    if known and None not in known and any(known):
        return [int(s or 0) for s in known]
    steps, cells = [], 1
    for extent in reversed(array.extent[array.times :]):
        steps.append(cells)
        cells *= max(1, constant(extent) or UNKNOWN_TRIP)
    return [0] * array.times + steps[::-1]  # the first dimensions name the iteration, and have no places


def _value(expr: Expr, dims: Mapping[str, int]) -> int | None:
    """A subscript at a point; None where data, or a symbolic size, decide."""
    match expr:
        case Const(value, _):
            return int(value)
        case Index(name, _):
            return dims.get(name, 0)
        case Cast(inner, _):
            return _value(inner, dims)
        case Size():
            return UNKNOWN_TRIP
        case Unary("-", inner, _):
            value = _value(inner, dims)
            return None if value is None else -value
        case Binary(op, left, right, _) if op in ("+", "-", "*", "/", "%"):
            a, b = _value(left, dims), _value(right, dims)
            if a is None or b is None or (op in "/%" and b == 0):
                return None
            return ARITHMETIC[op](a, b)
    return None


def _mentions(expr: Expr, dim: str) -> bool:
    match expr:
        case Index(name, _):
            return name == dim
        case Read(_, subscripts, _):
            return any(_mentions(s, dim) for s in subscripts)
        case Binary(_, left, right, _):
            return _mentions(left, dim) or _mentions(right, dim)
        case Unary(_, inner, _) | Cast(inner, _):
            return _mentions(inner, dim)
    return False
