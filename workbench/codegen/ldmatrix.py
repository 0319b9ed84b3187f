"""Fragments loaded from shared memory by `ldmatrix`: the functions around the PTX, and where each lane points.

Whoever defines a function's name before the text (as a processor does) takes its place.
"""

from __future__ import annotations

from workbench.codegen.c_helpers import Helpers
from workbench.schedules.matrix_loads import MOST, SIDE, MatrixLoad

SAID = "from shared memory: lane l points at row l % 8 of matrix l / 8, and gets two neighbours in"


def fragments_together(load: MatrixLoad, count: int) -> int:
    """How many fragments one load fetches."""
    return next(n for n in (4, 2, 1) if count % n == 0 and n * len(load.places) <= MOST)


def ldmatrix(
    helpers: Helpers, load: MatrixLoad, together: int, step: tuple[int, int], start: tuple[str, str]
) -> tuple[str, tuple[str, str]]:
    """Name of the function, noted as used, and the row and column at which a lane points.

    The next fragment lies `step` (axis, cells) further; `start` is where the first one begins.
    """
    axis, cells = step
    bits = [load.places[1 << b] for b in range(len(load.places).bit_length() - 1)]
    next_ones = [cells << b for b in range(together.bit_length() - 1)]
    bits += [(n, 0) if axis == 0 else (0, n) for n in next_ones]
    count = len(load.places) * together
    name = f"wb_ldmatrix_x{count}" + "_trans" * load.turned
    helpers.text(name, _function(name, count, turned=load.turned))
    return name, (_place(load, bits, start, 0), _place(load, bits, start, 1))


def _place(load: MatrixLoad, bits: list[tuple[int, int]], start: tuple[str, str], axis: int) -> str:
    """`16*i + lane % 16`: the coordinate at which a lane points."""
    moves, run = [m[axis] for m in bits], 0
    if axis == load.rows:
        run = next((n for n, m in enumerate(moves) if m != SIDE << n), len(moves))
    terms = [start[axis]] + ([f"lane % {SIDE << run}"] if axis == load.rows else [])
    for b, move in list(enumerate(moves))[run:]:
        last = "" if b == 1 else " % 2"  # of 32 lanes, 16 are beyond this bit
        terms += [f"lane / {SIDE << b}{last} * {move}"] if move else []
    return " + ".join(terms)


def _function(name: str, count: int, *, turned: bool) -> str:
    trans = ".trans" if turned else ""
    registers = ", ".join(f"%{n}" for n in range(count))
    outputs = ", ".join(f'"=r"(r[{n}])' for n in range(count))
    matrices = f"{count} matrices" if count > 1 else "A matrix"
    return f"""\
#ifndef {name}
/* {matrices} of {SIDE} x {SIDE} {SAID} {"column" if turned else "row"} l / 4 of each. */
WB_INLINE void {name}(uint32_t *r, const uint16_t *row)
{{
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {{{registers}}}, [%{count}];"
        : {outputs} : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}}
#endif
"""
