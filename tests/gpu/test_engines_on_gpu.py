"""The engines of cuBLAS and cuDNN on a GPU: the oracle is the judge."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.engines.test_gpu_engines import CONVOLUTIONS, NETWORK, agrees
from workbench.runtime.gpu.drivers.driver import Driver

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("real")]


@pytest.fixture(autouse=True)
def cuda(real: Driver) -> None:
    """PyTorch has a GPU too."""
    if not torch.cuda.is_available():
        pytest.skip("install PyTorch with CUDA: this one has none")


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_cudnn_convolves_as_the_oracle(name):
    assert agrees("cudnn", name)


@pytest.mark.parametrize("name", ["matmul", "gemm", "conv2d"])
def test_cublas_multiplies_as_the_oracle(name):
    assert agrees("cublas", name)


def test_a_network_is_divided_between_both():
    divided = wb.partition(NETWORK, ["cudnn", "cublas"], by="rules", check=True, on_failure="raise")
    x = np.random.default_rng(5).standard_normal((2, 2, 9, 9)).astype("f4")
    np.testing.assert_allclose(divided.evaluate(x), NETWORK.evaluate(x), rtol=1e-3, atol=1e-4)
    assert {each.engine.name for each in divided.regions.values()} == {"cudnn", "cublas"}
