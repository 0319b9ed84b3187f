"""Values that an update of several cells combines with one another: a step that parts them is illegal."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import IllegalSchedule

MEAN = wb.operator("""
monoid mean<T>(T n, T a) {
    identity (0.0, 0.0)
    combine (n, a), (k, b) -> (s, s == 0 ? 0.0 : (n * a + k * b) / s) where s = n + k
}
def f(float(M,N) X) -> (R) { (S(m), R(m)) mean=! (1.0, X(m,n)) }
""")


def behind() -> wb.Schedule:
    """Rows are added up one iteration after they were given first values; nobody but the mean needs the count S."""
    return wb.schedule(MEAN, M=5, N=4) | wb.shift("S/m", 1)


def test_a_buffer_that_loses_the_count_of_a_mean_is_illegal():
    with pytest.raises(IllegalSchedule, match=r"reading S_local, would not get .*S\.init"):
        behind() | wb.stage("S", "S/m", filling="none")


def test_a_buffer_for_the_count_of_a_mean_is_loaded_where_it_was_begun_before():
    X = np.random.default_rng(1).standard_normal((5, 4), np.float32)
    assert wb.verify(wb.build(behind() | wb.stage("S", "S/m")), X)


def test_a_buffer_that_is_begun_in_its_own_iteration_needs_no_load():
    schedule = wb.schedule(MEAN, M=5, N=4) | wb.stage("S", "S/m")
    assert not [s.name for s in schedule.program.statements if s.name.endswith(".load")]
