"""Which C texts say for which processors GCC weighs instructions."""

from __future__ import annotations

from dataclasses import replace

import pytest

import workbench as wb
from workbench.target import Target

AVX2 = replace(Target("avx2"), cores=1)
SQUARE = dict(M=64, N=64, K=64)
LOW = dict(M=8, N=64, K=512)
PICTURE = dict(N=1, C=64, H=28, W=28, F=64, KH=3, KW=3, stride=1, pad=0, dilation=1)


def tuned(op, sizes, target=AVX2) -> bool:
    return "tune=generic" in wb.generate(wb.autoschedule(op, target, sizes=sizes), target).source


@pytest.mark.parametrize(("rows", "alike"), [(8, True), (13, True), (11, False), (15, False)])
def test_tiles_whose_operands_would_be_read_again_are_tuned_alike(rows, alike):
    """8 rows are tiles of 4; 13 of 5 and 3; 11 of 6 and 5, 15 of 5."""
    assert tuned(wb.ops.matmul, dict(M=rows, N=48, K=512)) == alike


@pytest.mark.parametrize("name", ["avx512", "neon"])
def test_registers_of_another_width_are_not(name):
    assert not tuned(wb.ops.matmul, LOW, Target(name))


@pytest.mark.parametrize(("columns", "alike"), [(48, True), (44, False)])
def test_a_rest_of_few_rows_is_tuned_alike_unless_masks_need_registers_too(columns, alike):
    """64 rows are ten tiles of 6 and one of 4."""
    assert tuned(wb.ops.matmul, dict(M=64, N=columns, K=512)) == alike


def test_sums_over_a_few_taps_are_not():
    assert not tuned(wb.ops.conv2d, PICTURE)


def test_neither_are_loops_without_sums_in_lanes():
    assert not tuned(wb.ops.transpose, dict(M=64, N=64))
    assert "tune=generic" not in wb.generate(wb.schedule(wb.ops.matmul, **SQUARE), AVX2).source
