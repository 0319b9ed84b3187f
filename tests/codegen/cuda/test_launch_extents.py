"""Grid and block of a kernel, from the bounds of its loops."""

from __future__ import annotations

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
