"""Grid and block of a kernel, from the bounds of its loops."""

from __future__ import annotations

import numpy as np

import workbench as wb
from workbench.codegen.cuda.grid.launch_extents import extents_of, parts_of
from workbench.codegen.nest.nest import Cell, For, Write
from workbench.lang.dtypes import FLOAT32, INT64
from workbench.lang.expr import Binary, Const, Index
from workbench.poly.programs.tree import Band, Leaf, Loop
from workbench.target import Target


def test_a_thread_loop_has_no_more_iterations_than_the_block_that_it_counts_through():
    """Bounds of what a triangle cuts say more by intervals: the default schedule of `symm` had blocks of 312 x 8."""
    row = Binary("%", Index("k", INT64), Const(16, INT64), INT64)
    parts = parts_of(Band((Loop("x", (("S0", row),), "thread.x"),), Leaf("S0")))
    assert parts == {("x", "S0"): 16}
    write = Write("S0", (Cell("C", (Index("x", INT64),), FLOAT32),), (Const(0.0, FLOAT32),))
    upper = Binary("+", Index("k", INT64), Const(1, INT64), INT64)
    threads = For("x", "x", Const(0, INT64), upper, write, kind="thread.x")
    nest = For("k", "k", Const(0, INT64), Const(300, INT64), threads)
    assert extents_of(nest, frozenset(), Target("h200"), "f").block == (300, 1, 1)
    found = extents_of(nest, frozenset(), Target("h200"), "f", parts)
    assert found.block == (16, 1, 1)
    assert found.fitting


def test_a_window_that_a_tile_of_a_band_reads_is_no_longer_than_the_band_is_wide():
    """By intervals of `min(...) - max(...)` the copy of a tile's part of B had a loop of N threads."""
    band = wb.operator(
        "def band(float(N,N) A, float(N,N) B) -> (O) { O(i,j) = j >= i - 8 && j <= i + 8 ? A(i,j) * B(j,i) : 0.0 }"
    )
    assert "__launch_bounds__" in wb.generate(wb.autoschedule(band, "h100", N=1200), "cuda").source
    A, B = np.random.default_rng(1).standard_normal((2, 100, 100)).astype("f")
    kernel = wb.build(wb.autoschedule(band, "cuda", N=100))
    np.testing.assert_array_equal(kernel(A, B), band.evaluate(A, B))
