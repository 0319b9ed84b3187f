"""affine maps of single statements."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.schedules.agreeing import agree
from workbench.errors import IllegalSchedule, ScheduleError

SEIDEL = wb.ops.load("seidel_2d")
SIZES = {"N": 9, "M": 8, "steps": 4}
WAVE = {"A.1": "(t, i, j) -> (t, t + i, 2 * t + i + j)"}


def test_a_map_is_a_sequence_of_skews():
    skews = wb.skew("A.1/i", by="A.1/t") | wb.skew("A.1/j", by="A.1/t") | wb.skew("A.1/j", by="A.1/i")
    start = wb.schedule(SEIDEL)
    assert (start | wb.affine(WAVE)).key == (start | skews).key
    assert (start | wb.affine({"A.1": [[1, 0, 0], [1, 1, 0], [2, 1, 1]]})).key == (start | skews).key
    agree(start | wb.affine(WAVE) | wb.tile({"A.1/t": 2, "A.1/i": 3, "A.1/j": 4}), SIZES)


def test_constants_sizes_and_stretched_loops():
    start = wb.schedule(wb.ops.matmul) | wb.decompose_reduction("C")
    agree(start | wb.affine({"C": "(m, n, k) -> (2 * n, N - m, 3 * k + 1)"}), {"M": 4, "N": 5, "K": 3})
    agree(start | wb.affine({"C": np.array([[0, 1, 0, 7], [1, 0, 0, 0], [0, 0, -1, 0]])}), {"M": 4, "N": 5, "K": 3})


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ({"C": "(m, n, k) -> (m, n)"}, "stands in 3 loops"),
        ({"C": "(m, n) -> (m, n, m)"}, "has the dims m, n, k; the map names 2"),
        ({"C": "(m, n, k) -> (m, q, k)"}, "q"),
        ({"D": "(m, n, k) -> (m, n, k)"}, "unknown statement 'D'"),
        ({"C": [[1, 0.5], [0, 1]]}, "no matrix of whole numbers"),
        ({"C": [1, 2]}, "no matrix of whole numbers"),
        ({"C": 5}, "no matrix of whole numbers"),
        ({"C": [[1 << 50, 0, 0], [0, 1, 0], [0, 0, 1]]}, "loop 'm' would count by 1125899906842624"),
        ({}, "affine expected maps"),
    ],
)
def test_what_does_not_fit_is_refused(maps, message):
    with pytest.raises(ScheduleError, match=message):
        wb.schedule(wb.ops.matmul) | wb.affine(maps)


def test_every_instance_needs_a_date():
    with pytest.raises(IllegalSchedule, match="share one time"):
        wb.schedule(wb.ops.matmul) | wb.decompose_reduction("C") | wb.affine({"C": "(m, n, k) -> (m, n, 0 * k)"})


def test_maps_are_written_and_read_back():
    schedule = wb.schedule(SEIDEL) | wb.affine(WAVE)
    assert wb.Schedule.from_json(SEIDEL, schedule.to_json()).key == schedule.key
