"""Models some of whose operators are exported ones learn what they learn with PyTorch's own."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")

from bench.models.training import TASKS, trained


@pytest.mark.parametrize("name", TASKS)
def test_a_model_with_exported_operators_has_the_losses_of_eager_pytorch(name):
    ours, eager = trained(TASKS[name], 24)
    assert ours.losses == pytest.approx(eager.losses, rel=2e-3)
    assert ours.losses[-1] < ours.losses[0]
