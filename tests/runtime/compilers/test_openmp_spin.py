"""Threads that wait for work sleep soon, unless the user has said otherwise."""

from __future__ import annotations

import pytest

from workbench.runtime.compilers.compiling import SPINS, wait_briefly


@pytest.mark.parametrize(
    ("given", "after"),
    [
        ({}, {"GOMP_SPINCOUNT": SPINS}),
        ({"GOMP_SPINCOUNT": "7"}, {"GOMP_SPINCOUNT": "7"}),
        ({"OMP_WAIT_POLICY": "active"}, {"OMP_WAIT_POLICY": "active"}),
    ],
)
def test_the_user_decides(given: dict[str, str], after: dict[str, str]) -> None:
    wait_briefly(given)
    assert given == after
