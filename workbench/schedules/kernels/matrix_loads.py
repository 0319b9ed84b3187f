"""Fragments that `ldmatrix` loads from shared memory: matrices of 8 x 8 elements of 16 bits (PTX ISA, "ldmatrix").

Each lane points at a row of 16 bytes, lane l at row l % 8 of matrix l / 8, and gets two neighbours of each matrix.
`.trans` turns the matrices, for operands that lie across in memory.
"""

from __future__ import annotations

from workbench.records import record
from workbench.schedules.kernels.warp_instructions import Fragment, Move

SIDE = 8
"""Rows and columns of a matrix."""

ELEMENT_BYTES = 2
MOST = 4
"""Matrices of one load."""


@record
class MatrixLoad:
    """How fragments lie in memory: the axis from row to row, whether the matrices are turned, the place of each."""

    rows: int
    turned: bool
    places: tuple[Move, ...]


def matrix_load(fragment: Fragment, strides: tuple[int, int], element_bytes: int) -> MatrixLoad | None:
    """How `ldmatrix` loads fragments whose rows and columns lie so many elements apart; None if it cannot.

    The first element of each fragment must begin where 16 bytes may be read.
    """
    pair = _pair_axis(fragment)
    if pair is None or element_bytes != ELEMENT_BYTES:
        return None
    along = pair if strides[pair] == 1 else 1 - pair
    if strides[along] != 1 or strides[1 - along] % SIDE:
        return None
    places = tuple(fragment.place(0, r) for r in range(0, fragment.registers, 2))
    return MatrixLoad(1 - along, along != pair, places)


def _pair_axis(fragment: Fragment) -> int | None:
    """The axis along which a register has two elements; None where registers are not matrices of 8 x 8."""
    if not fragment.register or sorted(fragment.register[0]) != [0, 1]:
        return None
    pair = fragment.register[0].index(1)
    steps = [(pair, 2), (pair, 4), (1 - pair, 1), (1 - pair, 2), (1 - pair, 4)]
    lanes = tuple((step, 0) if axis == 0 else (0, step) for axis, step in steps)
    whole = all(sum(m) % SIDE == 0 and 0 in m for m in fragment.register[1:])
    return pair if fragment.lane == lanes and whole and len(fragment.register) <= 3 else None
