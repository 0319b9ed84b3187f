"""Where the elements of an array begin, by the short way and by NumPy's."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from workbench.runtime.arrays.memory import data_address

CELLS = np.zeros((4, 6), "f4")


def read_only(array: np.ndarray) -> np.ndarray:
    view = array[:]
    view.flags.writeable = False
    return view


@pytest.mark.parametrize(
    "array",
    [
        CELLS, CELLS[2:], CELLS[1, 3:], CELLS[:0], read_only(CELLS), np.zeros(()), np.zeros((0, 3)),
        np.zeros(3, "M8[s]"), np.zeros(3, ml_dtypes.bfloat16), np.broadcast_to(np.zeros(1), (5,)),
    ],
)  # fmt: skip
def test_an_address_is_what_numpy_says(array):
    assert data_address(array) == array.__array_interface__["data"][0]
