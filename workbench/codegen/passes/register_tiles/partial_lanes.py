"""When the last vector of a row may end early: lanes that do not exist are computed with zeros and never stored."""

from __future__ import annotations

from workbench.codegen.nest.nest import Write
from workbench.lang.algebra.normal_form import depends, growth, mentions
from workbench.lang.dtypes import DType
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, Select, children

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


def registers_may_end_early(
    before: tuple[Write, ...], write: Write, after: tuple[Write, ...], variable: str, lanes: int
) -> bool:
    """The same for an instruction's sums that stay in registers, wherever their cells lie: lanes are stored one by one.

    First values are numbers that are read or known, as nothing else is sure to stop at no zero.
    """
    if write.group is None or len(write.cells) != 1 or lanes * write.cells[0].dtype.bits < WIDE:
        return False
    simple = all(w.cells == write.cells and isinstance(w.values[0], Read | Const) for w in before)
    apart = (not any(_beside(c.subscripts, c.dtype, variable) for c in w.cells) for w in after)
    alone = all(w.reduction is None and len(w.cells) == 1 and not w.atomic for w in (*before, *after))
    return simple and alone and all(a or _write_may(w, variable, lanes) for a, w in zip(apart, after, strict=True))


def sums_may_end_early(write: Write, lanes: int) -> bool:
    """Whether the last vector of a sum in lanes may end early: an instruction that adds up integers.

    (Zeros times what floats may be are not always zero, and operands that lie otherwise are read one by one.)
    """
    wide = all(lanes * cell.dtype.bits >= WIDE and cell.dtype.is_integral for cell in write.cells)
    return write.group is not None and wide and not write.atomic


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
