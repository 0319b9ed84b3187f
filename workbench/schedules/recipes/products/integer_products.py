"""Products of 8- and 16-bit numbers by the instructions that a machine has for them.

before → after:  for m, n, k: C(m,n) += int32(A(m,k)) * int32(B(k,n))
                 → for m_o, n_o, k_o, m_i, n_i (vector): C(m,n) += A's word * B's word by an instruction

Operands are packed where each number is used many times (`packing`); a small or thin product and a convolution are
filters against what they pass over (`direct_convolution`); what a vector is multiplied with is read where it lies
(`dot_products`).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from workbench.lang.dtypes import DTYPES
from workbench.lang.expr import Binary, Cast, Expr, Read
from workbench.records import record
from workbench.schedules.analysis.structure import Structure, Touch, structure
from workbench.schedules.recipes.products.direct_convolution import convolved
from workbench.schedules.recipes.products.dot_products import dotted
from workbench.schedules.recipes.products.packing import packed
from workbench.schedules.recipes.products.product_blocks import Words
from workbench.schedules.recipes.products.tiled_windows import windowed
from workbench.schedules.recipes.try_steps import simple
from workbench.schedules.scheduled_program import Schedule
from workbench.target import Target

if TYPE_CHECKING:
    from workbench.schedules.kernels.tile_instructions import TileInstruction

SHORTEST = {"row": 4, "column": 8, "depth": 8}
"""Fewer rows, columns or contributions leave most of a register tile to padding; of bytes a single row is worth it."""

WORK = 1 << 15
"""Fewer multiplications are not worth the copies."""

DEPTHS = 3
"""Loops over contributions that make a product as long as it is."""

VECTORS = {"avx2", "avx512f", "sve", "neon"}
"""Features of processors that widen 16-bit floats in registers."""

NARROW = ("int8", "uint8", "bfloat16", "float16")


@record
class Product:
    """The dims of rows (one or none), columns and contributions, the types of the operands and of the sums."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    depths: tuple[str, ...]
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
    for words in words_for(found, target) if found.rows else dots_for(found, target):
        for way in (packed, windowed if words.tiles else convolved) if found.rows else (dotted,):
            after = way(schedule, identifier, target, words=words)
            if after is not schedule:
                return after
    return schedule


def words_for(found: Product, target: Target) -> list[Words]:
    """What the instructions of a machine take of a product, the best first.

    Those that multiply tiles; then the one in lanes, for which bytes may be widened.  Floats are widened for any
    machine with vectors.
    """
    from workbench.schedules.kernels.lane_instructions import lane_instruction_for

    if found.result == "float32":
        return [*tiles_for(found, target), *_halves_for(found, target)]
    own = lane_instruction_for(found.left, found.right, found.result, target.isa)
    groups = [] if own is None else [Words(own.name, own.group, DTYPES[own.operands[0]].bytes, own.shifted)]
    return [*tiles_for(found, target), *groups, *_pairs_for(found, target)]


def _halves_for(found: Product, target: Target) -> list[Words]:
    """16-bit floats by the instruction for them, else widened once."""
    from workbench.schedules.kernels.lane_instructions import lane_instruction_for

    own = lane_instruction_for(found.left, found.right, found.result, target.isa)
    if own is not None:
        return [Words(own.name, own.group, DTYPES[own.operands[0]].bytes)]
    wide = Words("", 1, DTYPES[found.result].bytes, wide=found.result)
    return [wide] if VECTORS & {*target.isa} else []


def dots_for(found: Product, target: Target) -> list[Words]:
    """What an instruction takes of the contributions to a vector, which are read where they lie."""
    from workbench.schedules.kernels.lane_instructions import lane_instruction_for

    own = lane_instruction_for(found.left, found.right, found.result, target.isa)
    if own is None or own.shifted:
        return _pairs_for(found, target)
    return [Words(own.name, own.group, DTYPES[own.operands[0]].bytes)]


def _pairs_for(found: Product, target: Target) -> list[Words]:
    """Bytes as integers of 16 bits, of which the first processors with long registers multiply pairs."""
    from workbench.schedules.kernels.lane_instructions import lane_instruction_for

    own = lane_instruction_for("int16", "int16", found.result, target.isa)
    return [] if own is None else [Words(own.name, own.group, DTYPES["int16"].bytes, wide="int16")]


def tiles_for(found: Product, target: Target) -> list[Words]:
    """What instructions that multiply tiles take, whichever operand has the rows."""
    from workbench.schedules.kernels.tile_instructions import tile_instruction_for

    pairs = dict.fromkeys(((found.left, found.right), (found.right, found.left)))
    own = (tile_instruction_for(a, b, found.result, target.isa) for a, b in pairs)
    return [_of_tiles(x) for x in own if x is not None]


def _of_tiles(own: TileInstruction) -> Words:
    return Words(
        own.name, own.group, DTYPES[own.operands[0]].bytes, rows=own.rows, columns=own.columns, depth=own.depth,
        of_rows=own.operands[0], anyhow=own.anyhow,
    )  # fmt: skip


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
    if not columns or (rows and writes.along(_longest(shape, rows)) == 1 != writes.along(_longest(shape, columns))):
        rows, columns, operands, sides = columns, rows, (operands[1], operands[0]), sides[::-1]
    if not columns:
        return None
    several = [d for d in rows if shape.trip(d) != 1]
    return _measured(shape, Product(
        (_longest(shape, several),) if several else (), _run(shape, columns, sides[1]), _summed(shape, sides),
        operands[0].dtype.name, operands[1].dtype.name, shape.statement.values[0].dtype.name,
    ))  # fmt: skip


def _measured(shape: Structure, found: Product) -> Product | None:
    """The product, if it is large enough."""
    trips = [prod(shape.trip(d) or 0 for d in dims) for dims in (found.rows, found.columns, found.depths)]
    least = SHORTEST if found.result == "float32" else SHORTEST | {"row": 1}
    few = any(t < s for t, s in zip(trips, least.values(), strict=True))
    return None if few or not found.depths or prod(trips) < WORK else found


def _own(shape: Structure, writes: Touch, side: Touch, other: Touch) -> list[str]:
    """The dims along which the result and one operand move by a fixed stride, and the other operand does not move."""
    return [d for d in shape.free if writes.along(d) and side.along(d) and other.along(d) == 0]


def _longest(shape: Structure, dims: list[str]) -> str:
    return max(dims, key=lambda d: (shape.trip(d) or 0, shape.statement.dims.index(d)))


def _run(shape: Structure, dims: list[str], side: Touch) -> tuple[str, ...]:
    """The columns: the longest dim, or rows of a picture that lie one after the other with little between them."""
    inner = next((d for d in dims if side.along(d) == 1 == shape.writes[0].along(d)), None)
    if inner is None:
        return (_longest(shape, dims),)
    length = shape.trip(inner) or 0
    several = [d for d in dims if d != inner and shape.trip(d) != 1]
    outer = [d for d in several if length <= (side.along(d) or 0) < 2 * length]
    return (outer[0], inner) if outer else (_longest(shape, dims),)


def _summed(shape: Structure, sides: list[Touch]) -> tuple[str, ...]:
    """The dims of the contributions, as they lie in memory, outermost first."""
    dims = [d for d in shape.reduced if all(t.along(d) for t in sides) and shape.trip(d) != 1]
    along = next((t for t in sides if any(t.along(d) == 1 for d in dims)), sides[0])
    longest = sorted(dims, key=lambda d: shape.trip(d) or 0)[-DEPTHS:]
    return tuple(sorted(longest, key=lambda d: -abs(along.along(d) or 0)))
