"""The CUDA text that recipes give to thirteen operators, as golden files that are read as code."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.codegen.cuda.test_cuda_text import kernels
from tests.gpu_schedules import HAND_MADE
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


@pytest.mark.skipif(nvrtc() is None, reason="install nvidia-cuda-nvrtc to compile CUDA text")
def test_no_load_moves_over_the_barrier_it_waits_for():
    """Under `__restrict__` compilers took what other threads write for unchanged: wrong results on a real GPU."""
    compiler = nvrtc()
    assert compiler is not None
    kernel = wb.generate(HAND_MADE["staying jacobi"](), target="cuda")
    done = compiler.compiled(kernel.source, "jacobi.cu", ("--gpu-architecture=sm_90",), ptx=True)
    assert done.binary is not None, done.log
    second = done.binary.decode().split(".entry")[2]
    steps = [line.split()[0] for line in second.splitlines() if line.strip().startswith(("ld.global", "bar.sync"))]
    between = " ".join(steps).split("bar.sync")
    assert len(between) > 2
    assert [part.count("ld.global") for part in between[:-1:2]] == [3] * (len(between) // 2)
