"""Products of 8- and 16-bit numbers by the instructions that a machine has for them.

before → after:  for m, n, k: C(m,n) += int32(A(m,k)) * int32(B(k,n))
                 → for m_o (parallel): wb_madd256_i8_i8(&A, …, &B, …, &C, …)   for blocks of m, all n and all k

Of a convolution the rows, the columns and the channels are such a product, for each place in the filter.
"""

from __future__ import annotations

from math import prod

from workbench.errors import ScheduleError
from workbench.lang.expr import Binary, Cast, Expr, Read
from workbench.records import record
from workbench.schedules.recipes.blocks import simple
from workbench.schedules.recipes.company import beside
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.steps import interchange, parallelize, replace, tile
from workbench.schedules.structure import Structure, Touch, structure
from workbench.target import Target

SHORTEST = {"row": 4, "column": 8, "depth": 8}
"""Fewer rows, columns or contributions leave most of a register tile to padding."""

WORK = 1 << 15
"""Fewer multiplications are not worth the copies."""

NARROW = ("int8", "uint8", "bfloat16", "float16")


@record
class Product:
    """Which dims are the rows, the columns and the contributions, and the types of both operands and of the sums."""

    row: str
    column: str
    depth: str
    left: str
    right: str
    result: str


def instructed(schedule: Schedule, identifier: str, target: Target) -> Schedule:
    """One product by an instruction of the machine, not judged yet; unchanged if it has none or no use for it."""
    statement = schedule.program.statement(identifier)
    if (
        statement.reduction != "+"
        or not narrow(statement.values[0])
        or not simple(schedule.program, schedule.tree, identifier)
    ):
        return schedule
    shape = structure(schedule.program, identifier)
    found = product(shape)
    if found is None:
        return schedule
    from workbench.schedules.products import instruction_for, product_kernel  # few programs multiply such numbers

    own = instruction_for(found.left, found.right, found.result, target)
    if own is None:
        return schedule
    try:
        return _replaced(schedule, shape, found, product_kernel(own, found.left, found.right).name, own.rows, target)
    except ScheduleError:
        return schedule


def narrow(value: Expr) -> bool:
    """Whether it is a product of two numbers of which one at least has 8 or 16 bits."""
    operands = _operands(value)
    return operands is not None and any(r.dtype.name in NARROW for r in operands)


def _operands(value: Expr) -> tuple[Read, Read] | None:
    if not isinstance(value, Binary) or value.op != "*":
        return None
    sides = [x.operand if isinstance(x, Cast) and x.dtype == value.dtype else x for x in (value.left, value.right)]
    return (sides[0], sides[1]) if isinstance(sides[0], Read) and isinstance(sides[1], Read) else None


def product(shape: Structure) -> Product | None:
    """The product of matrices inside a statement: the longest dims that fit."""
    operands = _operands(shape.statement.values[0])
    if operands is None or any(t is None for _, t in shape.trips) or len(shape.writes) != 1:
        return None
    touches = [next((t for t in shape.reads if t.array == r.tensor), None) for r in operands]
    if operands[0].tensor == operands[1].tensor or None in touches:
        return None
    sides = [t for t in touches if t is not None]
    writes = shape.writes[0]
    rows, columns = (_own(shape, writes, sides[n], sides[1 - n]) for n in (0, 1))
    depths = [d for d in shape.reduced if all(t.along(d) for t in sides)]
    if not rows or not columns or not depths:
        return None
    longest = [
        max(dims, key=lambda d: (shape.trip(d) or 0, shape.statement.dims.index(d))) for dims in (rows, columns, depths)
    ]
    trips = [shape.trip(d) or 0 for d in longest]
    swap = writes.along(longest[0]) == 1 != writes.along(longest[1])
    row, column = (longest[1], longest[0]) if swap else (longest[0], longest[1])
    left, right = (operands[1], operands[0]) if swap else operands
    least = (SHORTEST["column" if swap else "row"], SHORTEST["row" if swap else "column"], SHORTEST["depth"])
    if any(t < s for t, s in zip(trips, least, strict=True)) or prod(trips) < WORK:
        return None
    return Product(row, column, longest[2], left.dtype.name, right.dtype.name, shape.statement.values[0].dtype.name)


def _own(shape: Structure, writes: Touch, side: Touch, other: Touch) -> list[str]:
    """The dims along which the result and one operand move by a fixed stride, and the other operand does not move."""
    return [d for d in shape.free if writes.along(d) and side.along(d) and other.along(d) == 0]


def _replaced(schedule: Schedule, shape: Structure, found: Product, kernel: str, rows: int, target: Target) -> Schedule:
    name = shape.statement.name
    schedule = beside(schedule, shape.statement.id, together=False)
    batches = [d for d in shape.free if d not in (found.row, found.column)]
    others = [d for d in shape.reduced if d != found.depth]
    shared = next((d for d in batches if (shape.trip(d) or 1) >= target.cores), None)
    count = shape.trip(found.row) or 1
    size = -(-count // (target.cores * rows)) * rows
    inner = found.row
    if shared is None and target.cores > 1 and size < count:
        schedule = tile({f"{name}/{found.row}": size}).on(schedule)
        shared, inner = f"{found.row}_o", f"{found.row}_i"
        batches = [shared, *batches]
    batches.sort(key=lambda d: d != shared)
    order = [*batches, *others, inner, found.column, found.depth]
    schedule = interchange(*(f"{name}/{d}" for d in order)).on(schedule)
    schedule = replace(f"{name}/{inner}", kernel).on(schedule)
    return parallelize(f"{name}/{shared}").on(schedule) if shared else schedule
