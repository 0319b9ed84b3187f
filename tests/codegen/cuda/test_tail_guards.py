"""Copies of whole tiles ask once whether there is one."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.gpu_schedules import staged_matmul


@pytest.mark.parametrize(("K", "whole"), [(80, True), (70, False)])
def test_a_copy_that_is_ahead_asks_once_whether_there_is_a_piece(K: int, whole: bool):
    schedule = staged_matmul(2, M=96, K=K)
    text = wb.generate(schedule, target="cuda").source
    text = text[text.index('extern "C"') :]
    assert ("if (k_o < 4) {\n            const int64_t k = threadIdx.y;" in text) == whole
    assert ("wb_min_i64" in text) == (not whole)
    A, B = (np.random.default_rng(n).standard_normal(s, np.float32) for n, s in enumerate([(96, K), (K, 96)]))
    assert wb.verify(wb.build(schedule, target="cuda-on-cpu"), A, B)
