"""Loop nests as numbers: of each statement its loops, and how each access moves along them."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from math import prod

from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Size, Unary, reads
from workbench.lang.normal_form import constant
from workbench.lang.operation_counts import operations
from workbench.poly.program import Array, Program, ProgramStatement
from workbench.poly.tree import LoopKind, path
from workbench.records import record
from workbench.schedules import Schedule
from workbench.schedules.structure import structure

UNKNOWN_TRIP = 64
"""Iterations of a loop whose extent is symbolic."""

ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip


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
        """Cache lines of `line` bytes that the loops from `depth` on touch: how many differ.

        Loops are taken by stride: what is close together is one piece, and windows that overlap count once.
        """
        irregular = prod(x.trip for x, s in zip(loops[depth:], self.strides[depth:], strict=True) if s is None)
        moving = sorted(
            (abs(s), x.trip) for x, s in zip(loops[depth:], self.strides[depth:], strict=True) if s and x.trip > 1
        )
        length, levels = 1, [(1, 1)]
        near = max(1, line // self.bytes)
        for stride, trip in moving:
            if stride <= max(length, near):
                length += stride * (trip - 1)
                continue
            own, count = levels[-1]
            if len(levels) > 1 and stride < own * count:
                levels[-1] = own, count + -(-stride * (trip - 1) // own)
            else:
                levels.append((stride, trip))
        return max(1, irregular) * prod(c for _, c in levels) * -(-length * self.bytes // line)


@record(slots=True)
class Nest:
    """One statement with its loops, outermost first, and its accesses; `operations` on data in each instance."""

    statement: ProgramStatement
    loops: tuple[NestLoop, ...]
    accesses: tuple[NestAccess, ...]
    operations: int

    @property
    def instances(self) -> int:
        """How often it is executed, guards and cut tiles not looked at."""
        return prod(x.trip for x in self.loops)


def nests(schedule: Schedule) -> tuple[Nest, ...]:
    """The nests of a schedule, in the order of the program's statements."""
    return tuple(_nest(schedule, s) for s in schedule.program.statements)


def _nest(schedule: Schedule, own: ProgramStatement) -> Nest:
    program = schedule.program
    trips = {d: t if t is not None else UNKNOWN_TRIP for d, t in structure(program, own.id).trips}
    found = []
    for loop in path(schedule.tree, own.id):
        moves, trip = _walk(loop.row(own.id), trips)
        found.append(NestLoop(loop.name, loop.kind, max(1, trip), tuple(moves.items())))
    loops = tuple(found)
    written = {(array, subscripts) for array, subscripts in own.targets}
    read = {(r.tensor, r.subscripts) for r in reads(*own.values) if r.subscripts}
    accesses = [_access(program, own, a, s, loops, written=True) for a, s in own.targets if s]
    accesses += [_access(program, own, a, s, loops, written=False) for a, s in sorted(read - written, key=repr)]
    return Nest(own, loops, tuple(accesses), operations(own.values, own.reduction))


def _walk(row: Expr, trips: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """(how far an iteration moves each dim, iterations) of a time component."""
    match row:
        case Index(name, _):
            return {name: 1}, trips.get(name, UNKNOWN_TRIP)
        case Binary("/", inner, Const(size, _), _):
            moves, trip = _walk(inner, trips)
            return {d: int(size) * step for d, step in moves.items()}, -(-trip // int(size))
        case Binary("%", inner, Const(size, _), _):
            moves, trip = _walk(inner, trips)
            return moves, min(trip, int(size))
        case Binary("*", inner, Const(), _) | Binary("*", Const(), inner, _):
            return _walk(inner, trips)
        case Binary("+" | "-", left, right, _):
            return _sum(_walk(left, trips), _walk(right, trips), row, trips)
        case Unary(_, inner, _) | Cast(inner, _):
            return _walk(inner, trips)
    return {}, 1


def _sum(
    left: tuple[dict[str, int], int], right: tuple[dict[str, int], int], row: Expr, trips: Mapping[str, int]
) -> tuple[dict[str, int], int]:
    """Of dims that were fused the last one moves; of dims that were skewed the first."""
    match row:
        case Binary("+", Binary("*", _, Const(), _), _, _):
            return right[0] or left[0], left[1] * right[1]
    if not left[0] or not right[0]:
        return left[0] or right[0], max(left[1], right[1])
    return left[0], left[1] + right[1] - 1


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
