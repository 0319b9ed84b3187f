"""Unrolled loops with a shorter last block."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.schedules.agreeing import agree

APART = wb.decompose_reduction("C") | wb.reorder("C/m", "C/k", "C/n")
JAMMED = APART | wb.unroll_jam("C/m", 4)


def loops(schedule):
    text = wb.generate(schedule).source
    return text[text.index("int matmul(") :]


def test_the_test_stands_as_far_outside_as_it_may(golden):
    golden(loops(wb.schedule(wb.ops.matmul) | JAMMED))


@pytest.mark.parametrize("rows", [0, 3, 4, 10])
@pytest.mark.parametrize(
    "steps",
    [JAMMED, JAMMED | wb.unroll_jam("C/k", 3), JAMMED | wb.vectorize("C/n"), JAMMED | wb.parallelize("m_o")],
    ids=["jammed", "twice", "vector", "parallel"],
)
def test_full_and_shorter_blocks_agree_with_the_oracle(steps, rows):
    agree(wb.schedule(wb.ops.matmul) | steps, {"M": rows, "N": 11, "K": 7})


def test_a_size_that_the_factor_divides_needs_no_test():
    assert "if (" not in loops(wb.schedule(wb.ops.matmul, M=8, N=8, K=8) | JAMMED)


def test_copies_do_not_multiply():
    """Each level of blocks adds one copy, it does not double what is inside."""
    once = loops(wb.schedule(wb.ops.matmul) | JAMMED).count("C[")
    both = loops(wb.schedule(wb.ops.matmul) | APART | wb.split("C/n", 4) | wb.unroll("n_i") | wb.unroll_jam("C/m", 4))
    assert once == 3
    assert both.count("C[") <= 5
