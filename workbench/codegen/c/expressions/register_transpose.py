"""Copies that turn rows into lanes: four rows of neighbours are read at once and exchanged in registers.

    for k: for n_lane in lanes: P(k, n_lane) = B(n_lane, k)

reads its lanes far apart, one by one; four iterations of k together read groups of four neighbours.  Numbers of 16 bits
may become float32 on the way.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.c.expressions.lanes import address_stride
from workbench.codegen.c.expressions.nontemporal_stores import store_nontemporal
from workbench.codegen.c.expressions.transposed_stores import FOUR, joined_registers, squares
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.helpers import Helpers
from workbench.codegen.nest.nest import For, Prefetch, Write, only
from workbench.codegen.passes.register_tiles.accumulators import iterations
from workbench.lang.algebra.normal_form import depends, simplify
from workbench.lang.dtypes import FLOAT32, INT64, UINT16, DType
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, reads, substitute
from workbench.records import record


@record
class TransposedCopy:
    """The vector loop inside, what is read, and the elements between its lanes.

    `rows` iterations are copied at once; where that is a whole square, its rows come to lie `apart` elements apart.
    Before each of them the cache is asked for what `asked` says.
    """

    inner: For
    write: Write
    source: Read
    step: int
    rows: int = FOUR
    apart: int = 0
    asked: Prefetch | None = None


def transposed_copy(values: Values, loop: For) -> TransposedCopy | None:
    """What a loop copies from rows into lanes, if it does nothing else."""
    asked = loop.body if isinstance(loop.body, Prefetch) else None
    inner = only(loop.body if asked is None else asked.body)
    if loop.kind != "serial" or loop.lanes > 1 or loop.step != 1 or not isinstance(inner, For) or inner.lanes % FOUR:
        return None
    write = only(inner.body)
    if not isinstance(write, Write) or write.reduction is not None or len(write.cells) != 1:
        return None
    cell, source = write.cells[0], widened(write.values[0])
    if not isinstance(source, Read) or not source.subscripts or source.tensor == cell.array:
        return None
    if (source.dtype != cell.dtype and not source.dtype.is_half) or cell.dtype.bits != 32:
        return None
    if any(reads(*source.subscripts, *cell.subscripts)):
        return None
    if {source.tensor, cell.array} & {x.cell.array for x in values.held} or _moves(inner, loop):
        return None
    step = address_stride(values, source.tensor, source.subscripts, inner.variable)
    across = address_stride(values, source.tensor, source.subscripts, loop.variable) == 1
    along = address_stride(values, cell.array, cell.subscripts, inner.variable) == 1
    if not across or not along or step in (None, 0, 1):
        return None
    apart, count = address_stride(values, cell.array, cell.subscripts, loop.variable), iterations(loop)
    if apart is None or inner.lanes not in SIZES or (count is not None and count < inner.lanes):
        return TransposedCopy(inner, write, source, step, asked=asked)
    return TransposedCopy(inner, write, source, step, inner.lanes, apart, asked)


def _moves(inner: For, loop: For) -> bool:
    return depends(inner.lower, loop.variable) or depends(inner.upper, loop.variable)


def pieces(loop: For, copy: TransposedCopy) -> tuple[list[TransposedCopy], bool]:
    """The copy in squares, then in fours of what they leave; whether nothing is left after that."""
    count = iterations(loop)
    ways = [copy, replace(copy, rows=FOUR, apart=0)] if copy.apart else [copy]
    for number, way in enumerate(ways, start=1):
        if count is not None and count % way.rows == 0:
            return ways[:number], True
    return ways, False


def get_rows(values: Values, copy: TransposedCopy, variable: str) -> str:
    """The call that copies some iterations of the loop over `variable`, for the lanes of one vector."""
    if not copy.apart:
        return get_four(values, copy, variable)
    cell = copy.write.cells[0]
    kinds = copy.source.dtype, cell.dtype
    name = turn(values.helpers, *kinds, copy.inner.lanes, past=copy.write.nontemporal)
    source = values.element(copy.source.tensor, copy.source.subscripts)
    return f"{name}(&{source}, {copy.step}, &{values.element(cell.array, cell.subscripts)}, {copy.apart});"


def get_four(values: Values, copy: TransposedCopy, variable: str) -> str:
    """The call that copies four iterations of the loop over `variable`, for the lanes of one vector."""
    cell, lanes = copy.write.cells[0], copy.inner.lanes
    name = values.helpers.text(*_function(values, copy.source.dtype, cell.dtype, lanes))
    targets = []
    for k in range(FOUR):
        later: Expr = Binary("+", Index(variable, INT64), Const(k, INT64), INT64)
        subscripts = tuple(simplify(substitute(s, {variable: later})) for s in cell.subscripts)
        targets.append(f"&{values.element(cell.array, subscripts)}")
    source = values.element(copy.source.tensor, copy.source.subscripts)
    return f"{name}(&{source}, {copy.step}, {', '.join(targets)});"


def _function(values: Values, source: DType, dtype: DType, lanes: int) -> tuple[str, str]:
    """Name and text of the function that loads four neighbours of each lane and stores four vectors."""
    vector, taken = values.helpers.type(dtype, lanes), _loaded(values.helpers, source, dtype, FOUR)
    name, lines = f"{vector}_get_four{_suffix(source, dtype)}", []
    for row, letter in enumerate("abcd"):
        parts = [taken.format(f"p + {s + row} * step") for s in range(0, lanes, FOUR)]
        lines.append(f"{vector} {letter} = {joined_registers(parts, FOUR)};")
    lines += squares(vector, lanes)
    lines += [f"*({vector}_u *)t{k} = r{k};" for k in range(FOUR)]
    body, targets = "".join(f"    {line}\n" for line in lines), ", ".join(f"{dtype.c_name} *t{k}" for k in range(FOUR))
    return name, f"WB_INLINE void {name}(const {source.c_name} *p, int64_t step, {targets}) {{\n{body}}}\n"


# -- Whole squares of rows become columns in registers: as many rows as a vector has lanes, each line touched once --
# Groups of four lanes are turned as SSE does it, by two rounds of interleaving; then the groups change places.

SIZES = (4, 8, 16)
"""Rows of a square: four groups of four at most."""


def turn(helpers: Helpers, source: DType, dtype: DType, lanes: int, *, past: bool = False) -> str:
    """Function `(p, step, q, apart)`: rows `step` apart from p become the columns of rows `apart` apart at q.

    They are written `past` the caches if there is a way.
    """
    vector = helpers.type(dtype, lanes)
    put = store_nontemporal(helpers, dtype, lanes) if past else None
    name, rows = f"{vector}_turn{'_past' if put else ''}{_suffix(source, dtype)}", range(lanes)
    taken = _loaded(helpers, source, dtype, lanes)
    lines = [f"{vector} a{r} = {taken.format(f'p + {r} * step')};" for r in rows]
    names = [f"a{r}" for r in rows]
    for letter, pairs in zip("bcde", _rounds(lanes), strict=False):
        new = []
        for number, (x, y, places) in enumerate(pairs):
            made = f"{letter}{number}"
            text = ", ".join(map(str, places))
            lines.append(f"{vector} {made} = __builtin_shufflevector({names[x]}, {names[y]}, {text});")
            new.append(made)
        names = new
    lines += [
        f"{put}(q + {r} * apart, {names[r]});" if put else f"*({vector}_u *)(q + {r} * apart) = {names[r]};"
        for r in rows
    ]
    arguments = f"const {source.c_name} *p, int64_t step, {dtype.c_name} *q, int64_t apart"
    body = "".join(f"    {line}\n" for line in lines)
    return helpers.text(name, f"WB_INLINE void {name}({arguments}) {{\n{body}}}\n")


def widened(value: Expr) -> Expr:
    """What a copy takes from memory: a number as it is stored, or 16 bits that become float32."""
    halves = isinstance(value, Cast) and value.dtype == FLOAT32 and value.operand.dtype.is_half
    return value.operand if isinstance(value, Cast) and halves else value


def _loaded(helpers: Helpers, source: DType, dtype: DType, lanes: int) -> str:
    """A vector of neighbours from the place `{0}`."""
    if source == dtype:
        return f"*(const {helpers.type(dtype, lanes)}_u *)({{0}})"
    stored = helpers.type(UINT16, lanes)
    return f"{helpers.conversion(source, dtype, lanes)}(*(const {stored}_u *)({{0}}))"


def _suffix(source: DType, dtype: DType) -> str:
    return "" if source == dtype else f"_{source.name}"


Round = list[tuple[int, int, list[int]]]


def _rounds(lanes: int) -> list[Round]:
    """For each round, how each of its vectors comes from two of the round before."""
    found = [_pairs(lanes), _fours(lanes)]
    if lanes == 8:
        found.append([(c, 4 + c, _groups(8, half, count=1)) for half in (0, 1) for c in range(4)])
    if lanes == 16:
        found += [_halves(), _quarters()]
    return found


def _pairs(lanes: int) -> Round:
    """Elements of neighbouring rows interleaved: the lower halves of each group of four, then the upper ones."""
    places = ((0, 0), (0, 1), (1, 0), (1, 1))
    return [(r - r % 2, r - r % 2 + 1, _mixed(lanes, places, 2 * (r % 2))) for r in range(lanes)]


def _fours(lanes: int) -> Round:
    """Pairs of elements interleaved: vector 4k + c has column c of every group in rows 4k to 4k + 3."""
    rounds = []
    for r in range(lanes):
        first, c = r - r % 4, r % 4
        low, high = first + c // 2, first + c // 2 + 2
        rounds.append((low, high, _mixed(lanes, ((0, 0), (1, 0), (0, 1), (1, 1)), 2 * (c % 2))))
    return rounds


def _mixed(lanes: int, places: tuple[tuple[int, int], ...], shift: int) -> list[int]:
    """In every group of four the elements (place, which vector), moved by a shift."""
    return [g + p + shift + lanes * second for g in range(0, lanes, 4) for p, second in places]


def _groups(lanes: int, place: int, *, count: int) -> list[int]:
    """`count` groups of four from a place on of the first vector, then those of the second."""
    return [lanes * second + 4 * (place + n) + k for second in (0, 1) for n in range(count) for k in range(4)]


def _halves() -> Round:
    """Groups (0, 1) or (2, 3) of vectors c and 4 + c, or 8 + c and 12 + c, side by side."""
    return [(8 * top + c, 8 * top + 4 + c, _groups(16, 2 * half, count=2))
            for top in (0, 1) for half in (0, 1) for c in range(4)]  # fmt: skip


def _quarters() -> Round:
    """Every second group of two of these: the columns of one group of lanes."""
    rounds = []
    for row in range(16):
        group, c = divmod(row, 4)
        half, odd = divmod(group, 2)
        places = [4 * g + k + 16 * second for second in (0, 1) for g in (odd, odd + 2) for k in range(4)]
        rounds.append((4 * half + c, 8 + 4 * half + c, places))
    return rounds
