"""Guards that always hold leave the CUDA text; others stay."""

from __future__ import annotations

import workbench as wb
from workbench.codegen.cuda.grid.tail_guards import without_known
from workbench.codegen.nest.nest import Block, For, If
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Index


def number(value):
    return Const(value, INT64)


def loop(body, upper=256):
    return For("n", "n", number(0), number(upper), body, 1, "serial")


def guard(left, right):
    return If(Binary("<", left, right, BOOL), Block(()))


def test_a_guard_that_ranges_decide_leaves():
    n = Index("n")
    rest = Binary("-", number(2), Binary("/", Binary("+", n, number(212), INT64), number(256), INT64), INT64)
    assert without_known(loop(guard(number(0), rest))) == loop(Block(()))
    kept = loop(guard(number(0), rest), upper=301)  # from n = 300 on there is nothing left
    assert without_known(kept) == kept
    assert without_known(guard(n, number(9))) == guard(n, number(9))  # n is the caller's


def test_rows_that_every_thread_has_are_read_without_a_guard():
    schedule = wb.autoschedule(wb.ops.load("softmax"), "h200", M=33, N=300)
    assert "if (0 <" not in wb.generate(schedule, target="h200").source


def test_the_number_of_threads_is_a_guard_for_whoever_uses_them_all():
    """A block has 8 threads: D needs them all, C half of them."""
    op = wb.operator("def p(float(N) A, float(M) B) -> (C, D) { C(i) = 2*A(i)   D(j) = 3*B(j) }")
    schedule = wb.schedule(op, N=7, M=15) | wb.tile({"C/i": 4}) | wb.tile({"D/j": 8}) | wb.merge("C", "D", depth=1)
    schedule = schedule | wb.bind("C/i_o", "block.x") | wb.bind("C/i_i", "thread.x") | wb.bind("D/j_i", "thread.x")
    text = wb.generate(schedule, target="cuda").source
    assert "if (i_i < wb_min_i64(7 - 4 * i_o, 4)) {" in text
    assert "if (j_i < 15 - 8 * i_o) {" in text
