"""Five spaces of five kinds, each of a few thousand points, few of which are nearly as fast as the fastest."""

from __future__ import annotations

from collections.abc import Callable

import workbench as wb
from workbench.records import record

choose = wb.choose

MATMUL = "def matmul(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"
CONVOLUTION = """def convolution(float(C,H,W) I, float(F,C,R,S) K) -> (O) {
    O(f,h,w) +=! I(c,h+r,w+s) * K(f,c,r,s)
}"""
CENTRE = """def centre(float(N,M) A) -> (s, O) {
    s(m) +=! A(n,m)
    O(n,m) = A(n,m) - 0.015625 * s(m)
}"""
STENCIL = """def stencil(float(X,Y,Z) A) -> (B) {
    B(x,y,z) = 0.4 * A(x+1,y+1,z+1) + 0.1 * (A(x,y+1,z+1) + A(x+2,y+1,z+1) + A(x+1,y,z+1) + A(x+1,y+2,z+1)
             + A(x+1,y+1,z) + A(x+1,y+1,z+2))
}"""
CHAIN = """def chain(float(M,K) A, float(K,N) B, float(N) b) -> (H, O) {
    H(m,n) +=! A(m,k) * B(k,n)
    O(m,n) = fmax(H(m,n) + b(n), 0.0)
}"""


def matmul(**sizes: int) -> wb.Sketch:
    """Register tiles, cache blocks, orders of both, lanes."""
    tiled = wb.schedule(wb.operator(MATMUL), **sizes) | wb.tile(
        m=choose(1, 2, 4, 6, 8, 16), n=choose(8, 16, 32, 48), k=choose(4, 16, 48, 96)
    )
    return (
        tiled
        | choose(
            wb.reorder("m_o", "n_o", "k_o", "k_i", "m_i", "n_i"),
            wb.reorder("n_o", "k_o", "m_o", "k_i", "m_i", "n_i"),
            wb.reorder("m_o", "n_o", "k_o", "m_i", "k_i", "n_i"), name="order",
        )
        | choose(wb.vectorize("C/n_i"), None, name="lanes")
        | choose(wb.unroll("C/m_i"), None, name="rows")
        | choose(wb.unroll("C/k_i"), None, name="deep")
    )  # fmt: skip


def convolution(**sizes: int) -> wb.Sketch:
    """Blocks of filters, rows and columns, their order, taps written out or not, lanes."""
    blocks, inside = ("O/f_o", "O/h_o", "O/w_o"), ("O/f_i", "O/h_i", "O/w_i")
    taps = ("O/c", "O/r", "O/s")
    tiled = wb.schedule(wb.operator(CONVOLUTION), **sizes) | wb.tile(
        {"O/f": choose(1, 2, 4, 8), "O/h": choose(1, 2, 4), "O/w": choose(8, 16, 28)}
    )
    return (
        tiled
        | choose(
            wb.reorder(*blocks, *taps, *inside), wb.reorder(*blocks, *inside, *taps),
            wb.reorder(*blocks, *inside[:2], *taps, "O/w_i"),
            wb.reorder("O/f_o", "O/h_o", "O/c", "O/w_o", "O/r", "O/s", *inside), name="order",
        )
        | choose(wb.vectorize("O/w_i"), None, name="lanes")
        | choose(wb.unroll("O/f_i"), None, name="filters")
        | choose(wb.unroll("O/h_i"), None, name="rows")
        | choose(wb.unroll("O/s"), None, name="taps")
    )  # fmt: skip


def centre(**sizes: int) -> wb.Sketch:
    """A reduction and what needs its result: block by block of columns or all, lanes, rows at once."""
    columns = choose(8, 16, 32, 64, 128, 256, name="columns")
    tiled = wb.schedule(wb.operator(CENTRE), **sizes) | wb.tile({"s/m": columns, "s/n": choose(1, 4, 16)})
    return (
        tiled
        | wb.tile({"O/n": choose(1, 8), "O/m": columns})
        | wb.reorder("O/m_o", "O/n_o", "O/n_i", "O/m_i")
        | choose(
            wb.reorder("s/m_o", "s/n_o", "s/n_i", "s/m_i"), wb.reorder("s/m_o", "s/n_o", "s/m_i", "s/n_i"),
            name="order",
        )
        | choose(wb.merge("s", "O"), None, name="merged")
        | choose(wb.vectorize("s/m_i"), None, name="lanes_s")
        | choose(wb.vectorize("O/m_i"), None, name="lanes_O")
        | choose(wb.unroll("s/n_i"), None, name="unrolled_s")
        | choose(wb.unroll("O/n_i"), None, name="unrolled_O")
    )  # fmt: skip


def stencil(**sizes: int) -> wb.Sketch:
    """Blocks of three loops, their order, lanes, rows at once."""
    tiled = wb.schedule(wb.operator(STENCIL), **sizes) | wb.tile(
        x=choose(1, 2, 4, 8), y=choose(1, 2, 4, 8), z=choose(16, 32, 64)
    )
    return (
        tiled
        | choose(
            wb.reorder("x_o", "y_o", "z_o", "x_i", "y_i", "z_i"),
            wb.reorder("z_o", "y_o", "x_o", "x_i", "y_i", "z_i"),
            wb.reorder("z_o", "x_o", "y_o", "y_i", "x_i", "z_i"),
            wb.reorder("x_o", "y_o", "z_o", "z_i", "y_i", "x_i"), name="order",
        )
        | choose(wb.vectorize("z_i"), None, wb.unroll("z_i"), name="lanes")
        | choose(wb.unroll("x_i"), None, name="planes")
        | choose(wb.unroll("y_i"), None, name="rows")
    )  # fmt: skip


def chain(**sizes: int) -> wb.Sketch:
    """A product and what follows it: fused at a depth or not, blocks, orders, lanes in each."""
    tiled = wb.schedule(wb.operator(CHAIN), **sizes) | wb.tile(
        {"H/m": choose(1, 2, 4, 8), "H/n": choose(8, 16, 32, 48), "H/k": choose(12, 96)}
    )
    return (
        tiled
        | choose(
            wb.reorder("H/m_o", "H/n_o", "H/k_o", "H/k_i", "H/m_i", "H/n_i"),
            wb.reorder("H/n_o", "H/m_o", "H/k_o", "H/k_i", "H/m_i", "H/n_i"),
            wb.reorder("H/m_o", "H/n_o", "H/k_o", "H/m_i", "H/k_i", "H/n_i"), name="order",
        )
        | choose(wb.reverse_compute_at("O", "H/n_o"), wb.reverse_compute_at("O", "H/m_o"), None, name="fused")
        | choose(wb.vectorize("H/n_i"), None, name="lanes_H")
        | choose(wb.unroll("H/m_i"), None, name="unrolled")
        | choose(wb.vectorize("O/n"), None, name="lanes_O")
    )  # fmt: skip


@record
class Recorded:
    """A space that is recorded: what makes the sketch for sizes, the sizes of which every point is measured, and those
    that a search may learn from before.
    """

    make: Callable[..., wb.Sketch]
    sizes: dict[str, int]
    others: tuple[dict[str, int], ...]

    @property
    def name(self) -> str:
        return self.make.__name__


def taps(C: int, H: int, W: int, F: int) -> dict[str, int]:
    """Sizes of a convolution with 3 x 3 taps."""
    return {"C": C, "H": H, "W": W, "F": F, "R": 3, "S": 3}


def product(M: int, N: int, K: int) -> dict[str, int]:
    return {"M": M, "N": N, "K": K}


def cube(X: int, Y: int, Z: int) -> dict[str, int]:
    return {"X": X, "Y": Y, "Z": Z}


SPACES = {
    own.name: own
    for own in (
        Recorded(matmul, product(64, 512, 64), (product(32, 512, 128), product(128, 256, 64))),
        Recorded(convolution, taps(16, 30, 30, 16), (taps(8, 30, 58, 16), taps(32, 16, 30, 8))),
        Recorded(centre, {"N": 48, "M": 2000}, ({"N": 96, "M": 1000}, {"N": 32, "M": 3000})),
        Recorded(stencil, cube(66, 66, 66), (cube(34, 66, 66), cube(34, 34, 130))),
        Recorded(chain, product(192, 96, 24), (product(96, 192, 24), product(144, 96, 48))),
    )
}
