"""The ladders of the gallery: their kernels are kept instead of timed, and a ladder that falls is found."""

from __future__ import annotations

import numpy as np
import pytest

from bench.schedules import ladders


def test_the_rungs_of_a_notebook_are_kept_in_their_order_with_its_peers():
    found = ladders.climbed(ladders.GALLERY / "02_tbmm.ipynb")
    assert found.rungs[0][0] == "naive"
    assert len(found.rungs) > 4
    assert {"NumPy", "default recipe"} <= set(found.peers)
    assert found.flops == 2 * 500 * 26 * 72 * 26
    first, last = found.rungs[0][1](), found.rungs[-1][1]()
    np.testing.assert_allclose(first, last, rtol=2e-3, atol=2e-3)
    assert set(ladders.rates(found, 0.02, 1)) == set(found.calls)


@pytest.mark.parametrize(
    ("rungs", "holds", "lost"),
    [([1.0, 2.0, 4.0], True, []), ([1.0, 4.0, 2.0], False, [2]), ([4.0, 1.0, 5.0], True, [1]), ([4.0, 3.95], True, [])],
)
def test_a_ladder_holds_if_its_last_rung_is_the_highest(rungs, holds, lost):
    said = ladders.judged(rungs, 0.03)
    assert (said["holds"], list(said["lost"])) == (holds, lost)
