"""When the last vector of a row may end early: lanes that do not exist are computed with zeros and never stored."""

from __future__ import annotations

from workbench.codegen.nest.nest import Write
from workbench.lang.algebra.normal_form import depends, growth, mentions
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Cast, Expr, Index, Read, Select, children

WIDE = 256
"""Bits of the registers of machines that read and write parts of a vector in one instruction."""

PLAIN = frozenset({"+", "-", "*"})


def may_end_early(writes: tuple[Write, ...], variable: str, lanes: int) -> bool:
    """Whether lanes behind the end may be computed, and what they read and write stands side by side in memory."""
    return all(_write_may(w, variable, lanes) for w in writes)


def _write_may(write: Write, variable: str, lanes: int) -> bool:
    if write.atomic or not isinstance(write.reduction, str | None) or len(write.cells) != 1:
        return False
    cell = write.cells[0]
    wide = lanes * cell.dtype.bits >= WIDE
    if write.group is not None:  # an instruction, or the lanes that there are one by one
        return wide and _beside(cell.subscripts, cell.dtype, variable)
    return wide and _beside(cell.subscripts, cell.dtype, variable) and _value_may(write.values[0], variable)


def _value_may(value: Expr, variable: str) -> bool:
    """Sums, products and functions of neighbouring numbers: none of them stops the program at a zero."""
    match value:
        case Read(_, subscripts, dtype):
            return not any(mentions(s, variable) for s in subscripts) or _beside(subscripts, dtype, variable)
        case Binary(op, _, _, dtype) if op not in PLAIN and not (op == "/" and dtype.is_float):
            return False
        case Select() | Cast() | Index():
            return False
    return all(_value_may(v, variable) for v in children(value))


def _beside(subscripts: tuple[Expr, ...], dtype: DType, variable: str) -> bool:
    """Whether the cells of neighbouring lanes are neighbours, of a size that can be left out one by one."""
    others, last = subscripts[:-1], subscripts[-1:]
    if any(depends(s, variable) for s in others):
        return False
    return all(growth(s, variable) == 1 for s in last) and dtype.bits in (32, 64)
