"""Registers whose lanes lie apart in memory, stored four at a time: where their neighbours are each other's, too.

Four vectors of 32-bit elements become rows of four neighbours by two rounds of shuffles, as in the well-known 4 x 4
transposition of SSE; every group of four lanes of a longer vector is one such square.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.c.expressions.lanes import address_stride
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.nest.nest import For, Local
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64, DType
from workbench.lang.expr import Const, Expr, substitute

FOUR = 4


def along_memory(values: Values, local: Local) -> For | None:
    """The unrolled loop whose registers are neighbours in memory while their lanes are not."""
    array, cell = local.cell.array, local.cell.subscripts
    if local.cell.dtype.bits != 32 or local.lanes % FOUR or lane_step(values, local) is None:
        return None
    for loop in local.dims:
        rows = constant(loop.upper)
        many = rows is not None and rows >= FOUR and loop.step == 1
        if many and address_stride(values, array, cell, loop.variable) == 1:
            return loop
    return None


def lane_step(values: Values, local: Local) -> int | None:
    """Elements from one lane to the next, if constant."""
    return address_stride(values, local.cell.array, local.cell.subscripts, local.lane_variable)


def rows_of(loop: For) -> tuple[For, list[int]]:
    """The loop in steps of four registers, and the numbers of those that are left."""
    rows = constant(loop.upper) or 0
    whole = rows - rows % FOUR
    return replace(loop, upper=Const(whole, INT64), step=FOUR), list(range(whole, rows))


def put_four(values: Values, local: Local, loop: For) -> str:
    """The call that stores the registers of four iterations."""
    name = values.helpers.text(*_function(values, local.cell.dtype, local.lanes))
    first = values.names("index", loop.variable)
    registers = [register_at(values, local, loop, f"{first} + {k}" if k else first) for k in range(FOUR)]
    element = values.element(local.cell.array, local.cell.subscripts)
    return f"{name}(&{element}, {lane_step(values, local)}, {', '.join(registers)});"


def register_at(values: Values, local: Local, loop: For, place: str) -> str:
    """The register of one iteration of a loop."""
    places = (place if x is loop else values.position(x.variable, x.step) for x in local.dims)
    return values.names("register", local.name) + "".join(f"[{p}]" for p in places)


def at_row(local: Local, loop: For, row: int) -> Local:
    """The registers of one iteration: their cells."""
    here: dict[str, Expr] = {loop.variable: Const(row, INT64)}
    subscripts = tuple(simplify(substitute(s, here)) for s in local.cell.subscripts)
    return replace(local, cell=replace(local.cell, subscripts=subscripts))


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


def _function(values: Values, dtype: DType, lanes: int) -> tuple[str, str]:
    """Name and text of the function that stores four vectors with their lanes `step` elements apart."""
    vector, four = values.helpers.type(dtype, lanes), values.helpers.type(dtype, FOUR)
    lines = squares(vector, lanes)
    for row in range(FOUR):
        for s in range(0, lanes, FOUR):
            part = ", ".join(str(s + k) for k in range(FOUR))
            lines.append(f"*({four}_u *)(p + {s + row} * step) = __builtin_shufflevector(r{row}, r{row}, {part});")
    name, body = f"{vector}_put_four", "".join(f"    {line}\n" for line in lines)
    arguments = f"{dtype.c_name} *p, int64_t step, {vector} a, {vector} b, {vector} c, {vector} d"
    return name, f"WB_INLINE void {name}({arguments}) {{\n{body}}}\n"
