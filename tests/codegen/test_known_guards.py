"""Guards that always hold leave the CUDA text; others stay."""

from __future__ import annotations

import workbench as wb
from workbench.codegen.known_guards import without_known
from workbench.codegen.nest import Block, For, If
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
