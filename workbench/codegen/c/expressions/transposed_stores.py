"""Registers whose lanes lie apart in memory, moved some at a time: where their neighbours are each other's, too.

Four vectors of 32-bit elements become rows of four neighbours by two rounds of shuffles, as in the well-known 4 x 4
transposition of SSE; every group of four lanes of a longer vector is one such square.  Of 64 bits two make a square.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Local
from workbench.codegen.passes.register_tiles.turned_cells import lane_step, side
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Const, Expr, substitute

FOUR = 4


def square_steps(loop: For, dtype: DType) -> tuple[For, range]:
    """The loop in steps of a square's registers, and the numbers of those that are left."""
    rows, square = constant(loop.upper) or 0, side(dtype)
    whole = rows - rows % square
    return replace(loop, upper=Const(whole, INT64), step=square), range(whole, rows)


def put_square(values: Values, local: Local, loop: For, first: str) -> str:
    """The call that stores the registers of some iterations from `first` on."""
    name = values.helpers.text(*_putting(values, local.cell.dtype, local.lanes))
    return f"{name}({_place(values, local)}, {', '.join(_registers(values, local, loop, first))});"


def take_square(values: Values, local: Local, loop: For, first: str) -> str:
    """The call that fills the registers of some iterations from `first` on."""
    name = values.helpers.text(*_taking(values, local.cell.dtype, local.lanes))
    registers = ", ".join(f"&{x}" for x in _registers(values, local, loop, first))
    return f"{name}({_place(values, local)}, {registers});"


def _place(values: Values, local: Local) -> str:
    """The first cell, and how far apart lanes are."""
    return f"&{values.element(local.cell.array, local.cell.subscripts)}, {lane_step(values.arrays, local)}"


def _registers(values: Values, local: Local, loop: For, first: str) -> list[str]:
    places = [str(int(first) + k) if first.isdigit() else f"{first} + {k}" if k else first
              for k in range(side(local.cell.dtype))]  # fmt: skip
    return [register_at(values, local, loop, place) for place in places]


def register_at(values: Values, local: Local, loop: For, place: str) -> str:
    """The register of one iteration of a loop."""
    places = (place if x is loop else values.position(x.variable, x.step) for x in local.dims)
    return values.names("register", local.name) + "".join(f"[{p}]" for p in places)


def at_row(local: Local, loop: For, row: int) -> Local:
    """The registers of one iteration: their cells."""
    here: dict[str, Expr] = {loop.variable: Const(row, INT64)}
    subscripts = tuple(simplify(substitute(s, here)) for s in local.cell.subscripts)
    return replace(local, cell=replace(local.cell, subscripts=subscripts))


def _pairs(vector: str, lanes: int) -> list[str]:
    """The vectors `a` and `b` as `r0` and `r1`: in every group of two lanes, `rk` has the k-th elements of both."""

    def mixed(place: int) -> str:
        numbers = [str(s + place + lanes * second) for s in range(0, lanes, 2) for second in (0, 1)]
        return f"__builtin_shufflevector(a, b, {', '.join(numbers)})"

    return [f"{vector} r{k} = {mixed(k)};" for k in (0, 1)]


def squares(vector: str, lanes: int) -> list[str]:
    """The vectors `a` to `d` as `r0` to `r3`: in every group of four lanes, `rk` has the k-th elements of the four."""

    def mixed(a: str, b: str, places: tuple[tuple[int, int], ...]) -> str:
        numbers = [str(s + p + lanes * second) for s in range(0, lanes, FOUR) for p, second in places]
        return f"__builtin_shufflevector({a}, {b}, {', '.join(numbers)})"

    low, high = ((0, 0), (0, 1), (1, 0), (1, 1)), ((2, 0), (2, 1), (3, 0), (3, 1))
    left, right = ((0, 0), (1, 0), (0, 1), (1, 1)), ((2, 0), (3, 0), (2, 1), (3, 1))
    rows = (("ab", "cd", left), ("ab", "cd", right), ("AB", "CD", left), ("AB", "CD", right))
    return [
        f"{vector} ab = {mixed('a', 'b', low)}, cd = {mixed('c', 'd', low)};",
        f"{vector} AB = {mixed('a', 'b', high)}, CD = {mixed('c', 'd', high)};",
        *(f"{vector} r{n} = {mixed(x, y, places)};" for n, (x, y, places) in enumerate(rows)),
    ]


NUMBERS = {2: "two", 4: "four"}


def _turning(vector: str, lanes: int, square: int) -> list[str]:
    return squares(vector, lanes) if square == FOUR else _pairs(vector, lanes)


def _putting(values: Values, dtype: DType, lanes: int) -> tuple[str, str]:
    """Name and text of the function that stores a square's vectors with their lanes `step` elements apart."""
    square = side(dtype)
    vector, short = values.helpers.type(dtype, lanes), values.helpers.type(dtype, square)
    lines = _turning(vector, lanes, square)
    for row in range(square):
        for s in range(0, lanes, square):
            part = ", ".join(str(s + k) for k in range(square))
            lines.append(f"*({short}_u *)(p + {s + row} * step) = __builtin_shufflevector(r{row}, r{row}, {part});")
    name, body = f"{vector}_put_{NUMBERS[square]}", "".join(f"    {line}\n" for line in lines)
    given = ", ".join(f"{vector} {x}" for x in "abcd"[:square])
    return name, f"WB_INLINE void {name}({dtype.c_name} *p, int64_t step, {given}) {{\n{body}}}\n"


def _taking(values: Values, dtype: DType, lanes: int) -> tuple[str, str]:
    """Name and text of the function that loads a square's vectors, their lanes `step` elements apart."""
    square = side(dtype)
    vector, short = values.helpers.type(dtype, lanes), values.helpers.type(dtype, square)
    lines = []
    for row, letter in enumerate("abcd"[:square]):
        parts = [f"*(const {short}_u *)(p + {s + row} * step)" for s in range(0, lanes, square)]
        lines.append(f"{vector} {letter} = {joined_registers(parts, square)};")
    lines += [*_turning(vector, lanes, square), *(f"*t{k} = r{k};" for k in range(square))]
    name, body = f"{vector}_take_{NUMBERS[square]}", "".join(f"    {line}\n" for line in lines)
    targets = ", ".join(f"{vector} *t{k}" for k in range(square))
    return name, f"WB_INLINE void {name}(const {dtype.c_name} *p, int64_t step, {targets}) {{\n{body}}}\n"


def joined_registers(parts: list[str], lanes: int) -> str:
    """Vectors of so many lanes as one."""
    if len(parts) == 1:
        return parts[0]
    places = ", ".join(map(str, range(2 * lanes)))
    both = [f"__builtin_shufflevector({a}, {b}, {places})" for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return joined_registers(both, 2 * lanes)
