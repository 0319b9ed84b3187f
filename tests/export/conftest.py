"""Tests of exports: what those of machine code need."""

from __future__ import annotations

import pytest

from workbench.errors import BuildError
from workbench.runtime.compilers.gpu_compiling import compiler_version


@pytest.fixture
def cuda_compiler() -> None:
    """A compiler that makes machine code of CUDA."""
    try:
        compiler_version()
    except BuildError as reason:
        pytest.skip(f"install nvidia-cuda-nvrtc: {reason}")
