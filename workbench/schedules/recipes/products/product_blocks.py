"""Whether the rows of a product are enough for packed panels, and its blocks: from caches, registers and cores."""

from __future__ import annotations

from math import prod

from workbench.lang.expr import Read
from workbench.poly.programs.loop_names import fused_name, in_block, over_blocks
from workbench.records import record
from workbench.schedules.analysis.blocking import STREAMED_ROWS, shapes, tile_slots, vast
from workbench.schedules.analysis.structure import Structure
from workbench.schedules.recipes.decisions import decide, sizes_near
from workbench.schedules.recipes.loops.loop_collapse import ends_in_run
from workbench.schedules.recipes.products.known_operands import is_known
from workbench.target import Target

REUSE = 4
"""Register tiles that must read a panel before its copy pays, where it is not `STREAMED`."""

RUN_REUSE, RUN_TERMS = 16, 32
"""The same of a panel of a run, which must be so high: fewer terms are near each other as they lie."""

LEAST = 3
"""Vectors in a row that are worth blocks."""

GAIN = 1.02
"""What tiles of another shape must gain over the usual ones."""

BLOCK = 4
"""So many more rows than columns of a tile make a block for the second cache: each begins with all panels anew."""

DEPTH = 8
"""Blocks of a reduction have a multiple of so many terms."""

STREAMED = (64, 128)
"""So few rows, more than the `STREAMED_ROWS` that share one walk, go by a vast operand that it counts how that is read:
in the order of memory, all panels of so many terms together.  (A panel by itself has another page for each term.)"""

HELD = 2
"""Second caches that such a block of panels may fill: what it loses to a farther cache it gains by longer rows."""

MANY = 4
"""So many more rows than columns are read by one core each, though the panel of the columns is packed for all."""


@record
class Words:
    """Products by an instruction in lanes: its name, how many contributions it takes at once, bytes of an operand.

    A `shifted` one takes rows in another code, a `wide` one both operands in a wider type (its name): they are always
    packed.  Without an instruction the operands are widened only.  One that multiplies tiles of `rows` x `columns`
    takes `depth` contributions at a time, and the element type `of_rows` along the rows; `anyhow`: its columns need not
    lie side by side.
    """

    instruction: str
    count: int
    bytes: int
    shifted: bool = False
    wide: str = ""
    rows: int = 0
    columns: int = 0
    depth: int = DEPTH
    of_rows: str = ""
    anyhow: bool = False

    @property
    def tiles(self) -> bool:
        """Whether the instruction multiplies tiles."""
        return self.rows > 0


@record
class Packing:
    """Blocks of one product.

    `column` runs in lanes, `width` cells at a time; `row` is unrolled, `height` at a time; `depth` is the dim of the
    reduction that is blocked.  `blocks` are the cache blocks of the three, outermost first (0: whole).  `operand` is
    read along the columns; `other`, along the rows, is packed too where it does not run along the reduction.  The loop
    `threads` is divided among the processors.

    The dims of `run` are the column together: they are fused.
    Where an instruction takes `words`, panels hold so many contributions of the depth side by side.  A `streamed`
    operand is copied in the order of memory, all panels of a block of the depth together.
    """

    column: str
    width: int
    row: str
    height: int
    depth: str
    blocks: dict[str, int]
    operand: Read | None
    other: Read | None
    batches: tuple[str, ...]
    threads: str
    run: tuple[str, ...] = ()
    words: Words | None = None
    streamed: bool = False

    def inside(self, dim: str) -> str:
        """The loop over one block of a dim."""
        return in_block(dim) if self.blocks.get(dim) else dim


def sized(
    shape: Structure, dims: tuple[tuple[str, ...], str, str], reads: tuple[Read, Read], target: Target, *,
    whole: bool, across: bool | None, words: Words | None = None,
) -> Packing | None:  # fmt: skip
    """The blocks of a product: columns (dims of one run), row and depth, and what is read along the first two.

    Unless it is `whole`, borders cut tiles, whose cells go through the panel one by one: it stays in the first cache.
    """
    run, row, depth = dims
    n, m, k = (prod(shape.trip(d) or 0 for d in own) for own in (run, (row,), (depth,)))
    column, flat = fused_name(*run), len(run) > 1
    size = max(v.dtype.bytes for v in shape.statement.values)
    lanes = target.lanes(8 * size)
    streamed = words is None and not flat and _is_streamed(shape, (run[0], m, k), reads[0], target)
    if n < LEAST * lanes or (m < (1 if flat else REUSE) * target.tile[0] and not streamed):
        return None
    batches = tuple(d for d in shape.free if d not in (*run, row))
    batch = next((d for d in batches if (shape.trip(d) or 1) >= max(2, target.cores)), None)
    cores = 1 if batch else target.cores
    tile = (words.rows, words.columns // lanes) if words and words.tiles else None
    wide = across is None and streamed and n >= cores * LEAST * lanes
    operand = _packed_columns(shape, run, reads[0], (m, k), words, target)
    there = flat and operand is None
    division = _division((m, n), lanes, cores, target, flat=flat, there=there, across=wide or across, tile=tile)
    if tile is None:
        division = _decided(division, shape, (m, n), lanes, cores, there=there, free=across is None)
    inner = (words.bytes if words else size) * prod(shape.trip(d) or 1 for d in shape.reduced if d != depth)
    other = _packed_rows(shape, (row, depth, k), reads[1], words)
    blocks = _cache_blocks(
        shape, dims, (n, m, k), division, inner, target, streamed=streamed, whole=whole,
        both=other is not None and words is None, unit=words.depth if words else DEPTH,
    )  # fmt: skip
    threads = batch or over_blocks(column if division.across else row)
    sizes = column, division.width, row, division.height, depth, blocks
    return Packing(*sizes, operand, other, batches, threads, run if flat else (), words, streamed and blocks[depth] > 0)


def _cache_blocks(
    shape: Structure, dims: tuple[tuple[str, ...], str, str], counts: tuple[int, int, int], division: _Division,
    inner: int, target: Target, *, streamed: bool, whole: bool, both: bool, unit: int,
) -> dict[str, int]:  # fmt: skip
    """The blocks of columns, depth and rows, as they were chosen where somebody chose; a term has `inner` bytes."""

    def chosen(dim: str, usual: int, trip: int, unit: int) -> int:
        name = f"{shape.statement.name}_block_{dim}"
        return decide(name, usual, lambda: sizes_near(usual, trip // 2, unit=unit, zero=True))

    (run, row, depth), (n, m, k), line = dims, counts, division.width * inner
    terms = _even(k, STREAMED[1], unit) if streamed else _depth(k, line, target, whole=whole, both=both, unit=unit)
    terms = chosen(depth, terms, k, 16)
    columns, rows = (_streamed_blocks if streamed else _blocks)((m, n), division, (terms or k) * inner, target)
    rows = chosen(row, rows, m, division.height)
    columns = chosen(fused_name(*run), columns, n, division.width)
    if rows and not (len(run) > 1 or terms or columns or division.rows < m):
        columns = -(-n // division.width) * division.width  # all in one block: there panels are packed for all rows
    return {fused_name(*run): columns, depth: terms, row: rows}


def _is_streamed(shape: Structure, dims: tuple[str, int, int], operand: Read, target: Target) -> bool:
    """Whether few rows go by a vast operand: more than share one walk through it, fewer than hide how it is read.

    What is known before is packed once: then it does not count in which order.
    """
    (column, rows, terms), (most, depth) = dims, STREAMED
    few = STREAMED_ROWS < rows <= most and terms >= 2 * depth
    return few and not is_known(operand.tensor) and vast(shape, column, target)


def _packed_columns(
    shape: Structure, run: tuple[str, ...], operand: Read, counts: tuple[int, int], words: Words | None, target: Target
) -> Read | None:
    """What is read along the columns where it is packed: along a run, where enough rows share enough terms."""
    rows, terms = counts
    pays = rows >= RUN_REUSE * target.tile[0] and terms >= RUN_TERMS
    apart = len(run) > 1 and not (pays and ends_in_run(shape, operand, run))
    packs = words is not None or (not apart and decide(f"{shape.statement.name}_pack_columns", True, (True, False)))
    return operand if packs else None


def _packed_rows(shape: Structure, dims: tuple[str, str, int], operand: Read, words: Words | None) -> Read | None:
    """What is read along the rows where it is packed: where it does not run along the reduction, or words fill up."""
    row, depth, terms = dims
    moving = [t for t in shape.reads if t.array == operand.tensor and t.along(row) != 0]
    filled = words is not None and (words.shifted or words.wide != "" or terms % words.count != 0)
    if not filled and all(t.along(depth) == 1 for t in moving):
        return None
    if words is None and not decide(f"{shape.statement.name}_pack_rows", True, (True, False)):
        return None
    return operand


def _depth(k: int, row: int, target: Target, *, whole: bool, both: bool, unit: int) -> int:
    """Blocks of a reduction of `k` terms, for each of which a panel has a row of so many bytes; 0 if one is enough.

    They have a multiple of `unit` terms.

    A panel takes a part of the second cache, or stays in the first unless tiles are `whole`.  Where `both` operands are
    packed, it is where a block of the reduction begins: there are two at least.
    """
    first, second, _ = target.cache_bytes
    near, far = first // 2 // row, second // 4 // row
    if both and k > near:
        far = min(far, k // 2)
    return _even(k, max(unit, far if whole else near), unit)


def _blocks(cells: tuple[int, int], division: _Division, line: int, target: Target) -> tuple[int, int]:
    """Blocks of columns and of rows, where each has a line of so many bytes; 0 if one block holds everything."""
    m, n = cells
    _, second, third = target.cache_bytes
    near, far = second // 4 // line, max(second, third // (2 * target.cores)) // line
    rows = near if near >= BLOCK * division.width else far
    return _even(n, min(far, division.columns), division.unit), _even(m, min(rows, division.rows), division.height)


def _streamed_blocks(cells: tuple[int, int], division: _Division, line: int, target: Target) -> tuple[int, int]:
    """The same where panels are copied in the order of memory: as many columns for each core, all rows."""
    _, n = cells
    most = max(division.unit, HELD * target.cache_bytes[1] // line)
    columns = _even(division.columns, most, division.unit) or division.columns
    return (columns if columns < n else 0), 0


@record
class _Division:
    """What one core has of the rows and columns of a product, in tiles of `height` rows and `width` columns.

    Cores divide the columns if `across`, else the rows; they divide columns between any two `unit`s of them.
    """

    height: int
    width: int
    rows: int
    columns: int
    unit: int
    across: bool


def _decided(
    usual: _Division, shape: Structure, cells: tuple[int, int], lanes: int, cores: int, *, there: bool, free: bool
) -> _Division:
    """The tiles and the loop that cores divide, as they were chosen where somebody chose."""
    name, vectors = shape.statement.name, usual.width // lanes
    height = decide(f"{name}_tile_rows", usual.height, (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16))
    wide = decide(f"{name}_tile_vectors", vectors, (1, 2, 3, 4, 6))
    across = decide(f"{name}_divided", usual.across, (True, False)) if free else usual.across
    if (height, wide, across) == (usual.height, vectors, usual.across):
        return usual
    return _divided(cells, (height, wide), lanes, cores, there=there, across=across)


def _division(
    cells: tuple[int, int], lanes: int, cores: int, target: Target, *, flat: bool, there: bool,
    across: bool | None, tile: tuple[int, int] | None = None,
) -> _Division:  # fmt: skip
    """The tiles that leave the core with most to do the least, the usual ones unless others gain something.

    Where an instruction multiplies a `tile` of so many rows and vectors, only the sides to divide are chosen.

    Where it makes no difference columns are divided, as each core packs its own, unless rows are many more.
    """

    def slots(division: _Division) -> int:
        columns = -(-division.columns // lanes)
        copied = 0 if flat else target.costs.multiply_adds_a_copy * columns
        return copied + tile_slots(division.rows, columns, (division.height, division.width // lanes), target.costs)

    first = cells[0] <= MANY * cells[1]
    order = (first, not first) if across is None else (across,)
    tiles = [tile] if tile else shapes(target)
    ways = [_divided(cells, s, lanes, cores, there=there, across=a) for a in order for s in tiles]
    best = min(ways, key=slots)
    return next(x for x in ways if slots(x) <= GAIN * slots(best))


def _divided(
    cells: tuple[int, int], shape: tuple[int, int], lanes: int, cores: int, *, there: bool, across: bool
) -> _Division:
    """The share of each core in a product of so many rows and columns."""
    rows, columns = cells
    height, width = shape[0], shape[1] * lanes
    # Panels are packed whole; what stays where it is can be divided between any two vectors.
    unit = lanes if there and across and cores > 1 else width
    if across:
        columns = _even(columns, -(-columns // cores), unit) or columns
    else:
        rows = _even(rows, -(-rows // cores), height) or rows
    return _Division(height, width, rows, columns, unit, across)


def _even(trip: int, most: int, unit: int) -> int:
    """Blocks of nearly one size, each a multiple of a unit; 0 if one block holds everything."""
    pieces = -(-trip // max(unit, most))
    return 0 if pieces <= 1 else -(-trip // (pieces * unit)) * unit
