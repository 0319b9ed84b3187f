"""The call of a warp's instruction as CUDA: how operands are loaded, and what is done where a part is not whole.

    wb_mma_m16n8k16_bf16_64x64x32_mt(C_own, &A_tile[…], 40, 1, &B_tile[…], 136, 1);

Whole parts of operands in shared memory are loaded by `ldmatrix`; others one element after another.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.cuda.grid.wide_accesses import begins_at_multiples
from workbench.codegen.cuda.warp_texts import Load, block_function
from workbench.codegen.nest.nest import Cell, Invoke, writes
from workbench.lang.algebra.normal_form import constant
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Expr, conjunction
from workbench.poly.programs.program import Array
from workbench.records import record
from workbench.schedules.kernels.matrix_loads import SIDE, matrix_load
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import Fragment, WarpInstruction

PAIR_AXES = (1, 0)
"""The axis of each operand that contributions lie along."""


@record
class WarpCall:
    """The lines, and the arrays that they touch several elements at once."""

    lines: list[str]
    arrays: frozenset[str]


def warp_call(values: Values, call: Invoke, stored: Mapping[str, Array], shared: frozenset[str]) -> WarpCall:
    """The call; `stored` are the arrays as they lie in memory, `shared` those in shared memory."""
    kernel = registered(call.kernel)
    assert isinstance(kernel, WarpInstruction)
    fragments = kernel.left, kernel.right
    matrices = [_matrices(stored, *x, shared) for x in zip(call.arrays, fragments, strict=True)]
    singles = [_singles(stored, *x, shared) for x in zip(call.arrays, PAIR_AXES, strict=True)]
    best = [m or s for m, s in zip(matrices, singles, strict=True)]
    guards = [_whole(left, span) for left, span in zip(call.sizes[3:], call.sizes[:3], strict=True)]
    unsure = [g for g in guards if g is not None]
    wide = [c.array for (c, _), load in zip(call.arrays, best, strict=True) if load not in ("wb_pair", "wb_word")]
    arguments = _arguments(values, call)
    lines = [] if unsure and not any(matrices) else [_line(values, call, (best[0], best[1]), arguments)]
    if unsure:
        sizes = [*arguments, *map(values.text, call.sizes[3:])]
        partial = _line(values, call, (singles[0], singles[1]), sizes, whole=False)
        condition = values.text(conjunction(unsure))
        lines = [f"if ({condition}) {{", f"    {lines[0]}", "} else {", f"    {partial}", "}"] if lines else [partial]
    return WarpCall(lines, frozenset(wide))


def _matrices(
    stored: Mapping[str, Array], operand: tuple[Cell, tuple[Expr, ...]], fragment: Fragment, shared: frozenset[str]
) -> Load | None:
    """`ldmatrix` for an operand; None where its rows do not begin at multiples of 16 bytes of shared memory."""
    cell, strides = operand[0], [constant(s) or 0 for s in operand[1]]
    found = matrix_load(fragment, (strides[0], strides[1]), cell.dtype.bytes)
    if found is None or cell.array not in shared:
        return None
    return found if begins_at_multiples(stored[cell.array], cell, strides, 1 - found.rows, SIDE) else None


def _singles(
    stored: Mapping[str, Array], operand: tuple[Cell, tuple[Expr, ...]], pair: int, shared: frozenset[str]
) -> str:
    """The function that loads one register of an operand."""
    cell, strides = operand[0], [constant(s) or 0 for s in operand[1]]
    if cell.dtype.bits == 32:
        return "wb_word"
    pairs = cell.array in shared and begins_at_multiples(stored[cell.array], cell, strides, pair, 2)
    return "wb_wide_pair" if pairs else "wb_pair"


def _whole(left: Expr, span: Expr) -> Expr | None:
    """The condition under which there are as many as a part has; None where there always are."""
    return None if constant(left) == constant(span) else Binary(">=", left, span, BOOL)


def _arguments(values: Values, call: Invoke) -> list[str]:
    """The result, then where each operand begins and its strides."""
    arguments = [values.names("array", next(writes(call.body)).cells[0].array)]
    for cell, strides in call.arrays:
        arguments += [f"&{values.element(cell.array, cell.subscripts)}", *map(values.text, strides)]
    return arguments


def _line(values: Values, call: Invoke, loads: tuple[Load, Load], arguments: list[str], *, whole: bool = True) -> str:
    name = block_function(values.helpers, call, loads, whole=whole)
    return f"{name}({', '.join(arguments)});"
