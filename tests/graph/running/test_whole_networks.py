"""The ten networks of `bench.models`, small: taken over, interpreted, optimised, built and compiled, equal to eager."""

from __future__ import annotations

import warnings

import pytest

import workbench as wb

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to import from")
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:The tensor attributes:UserWarning")

from bench.models.networks import SMALL, TEN, prepared  # noqa: E402 (which needs torch)
from tests.graph.importing.eager import assert_equal  # noqa: E402 (so does this)


def test_the_ten_that_are_measured_are_the_ten_that_are_tested():
    assert list(TEN) == list(SMALL)
    assert len(TEN) == 10


@pytest.mark.parametrize("name", SMALL)
def test_a_network_computes_what_pytorch_does_interpreted_and_built(name):
    module, x = prepared(SMALL[name])
    model = wb.from_torch(module, x)
    assert_equal(model, module, x)
    with torch.no_grad():
        torch.testing.assert_close(wb.build(wb.optimize(model))(x), module(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", SMALL)
def test_a_network_compiled_by_the_backend_computes_what_pytorch_does(name):
    torch._dynamo.reset()
    module, x = prepared(SMALL[name])
    compiled = torch.compile(module, backend=wb.export.torch_backend)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error", RuntimeWarning)
        torch.testing.assert_close(compiled(x), module(x), rtol=1e-4, atol=1e-5)
