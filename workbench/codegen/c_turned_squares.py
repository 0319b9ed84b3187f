"""Whole squares of rows become columns in registers: as many rows as a vector has lanes, each line touched once.

Groups of four lanes are turned as SSE does it, by two rounds of interleaving; then the groups themselves change places.
"""

from __future__ import annotations

from workbench.codegen.c_helpers import Helpers
from workbench.codegen.c_past_caches import put_past
from workbench.lang.dtypes import DType

SIZES = (4, 8, 16)
"""Rows of a square: four groups of four at most."""


def turn(helpers: Helpers, dtype: DType, lanes: int, *, past: bool = False) -> str:
    """Function `(p, step, q, apart)`: rows `step` apart from p become the columns of rows `apart` apart at q.

    They are written `past` the caches if there is a way.
    """
    vector = helpers.type(dtype, lanes)
    put = put_past(helpers, dtype, lanes) if past else None
    name, rows = f"{vector}_turn_past" if put else f"{vector}_turn", range(lanes)
    lines = [f"{vector} a{r} = *(const {vector}_u *)(p + {r} * step);" for r in rows]
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
    arguments = f"const {dtype.c_name} *p, int64_t step, {dtype.c_name} *q, int64_t apart"
    body = "".join(f"    {line}\n" for line in lines)
    return helpers.text(name, f"WB_INLINE void {name}({arguments}) {{\n{body}}}\n")


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
