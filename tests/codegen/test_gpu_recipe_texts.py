"""The CUDA text that recipes give to thirteen operators, as golden files that are read as code."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.codegen.test_cuda_text import kernels
from tests.recipe_kernels import PAIRS, recipe_schedule
from workbench.runtime.compilers.gpu_compiling import gpu_binary
from workbench.runtime.compilers.nvrtc import nvrtc


@pytest.mark.parametrize("name", PAIRS)
def test_the_text_of_an_operator_scheduled_by_a_recipe(name, golden):
    golden(kernels(wb.generate(recipe_schedule(name), target="h200")))


@pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc to compile CUDA text")
@pytest.mark.parametrize("architecture", ["sm_80", "sm_90"])
@pytest.mark.parametrize("name", PAIRS)
def test_it_compiles_without_warnings(name, architecture):
    assert gpu_binary(wb.generate(recipe_schedule(name), target="h200"), architecture).warnings == ()
