"""Tests that run kernels on a GPU; without one they are skipped.

The variable WORKBENCH_GPU_DRIVER can name a stand-in (`tests.runtime.gpu.fake_driver:FakeDriver`), so that the tests
themselves can be tried without a GPU.
"""

from __future__ import annotations

import pytest

from workbench.errors import BuildError
from workbench.runtime.gpu.drivers.choosing import the_driver
from workbench.runtime.gpu.drivers.driver import DLPACK_CUDA, Driver


@pytest.fixture(scope="session", autouse=True)
def gpu() -> Driver:
    """The driver of this machine's GPU."""
    try:
        return the_driver()
    except BuildError:
        pytest.skip("install an NVIDIA GPU, its driver, and PyCUDA or cuda-bindings: `make gpu` runs these tests")


@pytest.fixture
def real(gpu: Driver) -> Driver:
    """The same, if it is no stand-in."""
    return gpu if gpu.kind == DLPACK_CUDA else pytest.skip("install an NVIDIA GPU: this is a stand-in")
