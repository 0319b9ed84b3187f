"""Which cell a loop keeps adding to, and when it may live in a register meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from workbench.codegen.nest.nest import (
    Accumulate,
    Block,
    Cell,
    Define,
    For,
    Local,
    Nest,
    Write,
    map_expressions,
    walk,
    writes,
)
from workbench.lang.algebra.normal_form import constant, depends, growth, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, Read, substitute
from workbench.lang.expr import walk as walk_expr
from workbench.records import record


@record
class Lane:
    """The vector loop around: its variable and how many of its values one iteration executes, those before `limit`."""

    variable: str = ""
    count: int = 1
    limit: Expr | None = None

    @property
    def present(self) -> Expr:
        """How many lanes there are; the others stand at or beyond the limit."""
        if self.limit is None:
            return Const(self.count, INT64)
        return simplify(Binary("-", self.limit, Index(self.variable, INT64), INT64))


SCALAR = Lane()


def independent(cell: Cell, variable: str) -> bool:
    """Whether the cell is the same one at every value of the variable."""
    return not any(depends(s, variable) for s in cell.subscripts)


def reads_of(nest: Nest) -> Iterator[Read]:
    """Every read in values and subscripts of the nest."""
    for write in writes(nest):
        expressions = (*write.values, *(s for c in write.cells for s in c.subscripts))
        for expr in expressions:
            yield from (node for node in walk_expr(expr) if isinstance(node, Read))


def untouched(nest: Nest, write: Write) -> bool:
    """Whether nothing else in the nest reads or writes the arrays of `write`."""
    own = {cell.array for cell in write.cells}
    others = [w for w in writes(nest) if w is not write]
    if any(cell.array in own for w in others for cell in w.cells):
        return False
    return not any(read.tensor in own for read in reads_of(nest))


def alone(write: Write, loops: Iterable[For]) -> bool:
    """Whether no iteration of these loops around nothing but the write reads a cell that another one writes."""
    return untouched(write, write) or {x.loop for x in loops} <= write.apart


def keepable(write: Write) -> bool:
    """Whether the cells may be kept in registers: not what threads share, nor what is stored in another type than it is
    computed in (16-bit floats and bools).
    """
    return not write.atomic and not any(c.dtype.is_half or c.dtype == BOOL for c in write.cells)


def chain(nest: Nest) -> tuple[list[For], Write] | None:
    """The loops straight down to a single write, with intermediate definitions substituted."""
    loops: list[For] = []
    while True:
        match nest:
            case For():
                loops.append(nest)
                nest = nest.body
            case Define(variable, value, body):
                nest = inlined(body, variable, value)
            case Block((only,)):
                nest = only
            case Write():
                return loops, nest
            case _:
                return None


def inlined(nest: Nest, variable: str, value: Expr) -> Nest:
    """The nest with a defined variable replaced by its value."""
    return map_expressions(nest, lambda e: substitute(e, {variable: value}))


def trip_count(loop: For) -> int | None:
    """Constant number of iterations of a loop that starts at 0, if it is one."""
    upper = constant(loop.upper)
    return upper if constant(loop.lower) == 0 and upper is not None else None


def iterations(loop: For) -> int | None:
    """Constant number of values between a loop's bounds, wherever it starts, if it is one."""
    return constant(simplify(Binary("-", loop.upper, loop.lower, INT64)))


def separable(cell: Cell, variables: list[str]) -> bool:
    """Whether different values of the variables surely address different cells.

    True if each subscript moves with at most one of them, by a constant, and each of them moves some subscript.
    """
    moved = set()
    for subscript in cell.subscripts:
        moving = [v for v in variables if depends(subscript, v)]
        if len(moving) > 1:
            return False
        if moving:
            if not growth(subscript, moving[0]):
                return False
            moved.add(moving[0])
    return moved == set(variables)


def apart(cell: Cell, lane: Lane, loops: Iterable[For]) -> bool:
    """Whether the lanes and the iterations of some loops surely address different cells, all of them.

    A subscript may move with the lanes and one loop, if the steps of the one are longer than all those of the other.
    """
    trips = {lane.variable: lane.count, **{x.variable: trip_count(x) for x in loops}}
    moved: set[str] = set()
    for subscript in cell.subscripts:
        moving = {v: abs(growth(subscript, v) or 0) for v in trips if depends(subscript, v)}
        if len(moving) > 2 or not all(moving.values()):
            return False
        if len(moving) == 2:
            (short, step), (_, other) = sorted(moving.items(), key=lambda x: x[1])
            count = trips[short]
            if count is None or other < step * count:
                return False
        moved.update(moving)
    return moved == trips.keys()


def registers(
    write: Write, dims: tuple[For, ...], lane: Lane, body: Nest, used: set[str], *, loads: bool = True
) -> Accumulate:
    """`body` with the cells of `write` in registers, one for each iteration of `dims`."""
    assert write.reduction is not None
    along = bool(lane.variable) and not all(independent(c, lane.variable) for c in write.cells)
    locals_ = tuple(
        Local(
            fresh(f"{cell.array}.r", used),
            cell,
            dims,
            lane.count,
            lane.variable,
            bool(lane.variable) and not along,
            lane.limit,
        )
        for cell in write.cells
    )
    return Accumulate(locals_, write.reduction, body, loads)


def fresh(name: str, used: set[str]) -> str:
    """A name not used yet in this kernel; it is noted as used."""
    candidate, number = name, 1
    while candidate in used:
        number += 1
        candidate = f"{name}{number}"
    used.add(candidate)
    return candidate


def _kept(body: Nest) -> set[str]:
    """Arrays that are already held in registers somewhere inside."""
    return {x.cell.array for node in walk(body) if isinstance(node, Accumulate) for x in node.locals}


def scalar_loop(loop: For) -> For:
    """The loop executed one iteration after another."""
    return replace(loop, kind="serial", lanes=1, step=1)
