"""Arrays of the benchmarks begin where they are told to."""

from __future__ import annotations

import numpy as np
import pytest

from bench.contenders import copies
from bench.workers.placing import OFFSET, empty_like, placed


@pytest.mark.parametrize("offset", [0, 16, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_a_placed_array_is_the_same_elsewhere(monkeypatch, offset, dtype):
    monkeypatch.setenv(OFFSET, str(offset))
    given = np.arange(60).reshape(3, 4, 5).astype(dtype).T
    found = placed(given)
    np.testing.assert_array_equal(found, given)
    assert found.ctypes.data % 64 == empty_like(given).ctypes.data % 64 == offset
    assert found.flags.c_contiguous
    assert found.dtype == given.dtype


def test_numbers_stay_and_copies_are_placed():
    assert placed(np.array(3)).shape == ()
    fresh, preallocated = copies(1000, 1)
    assert fresh().ctypes.data % 64 == preallocated().ctypes.data % 64 == 0
