"""What cannot be on a GPU is refused with the limit, the target and the way out."""

from __future__ import annotations

import shutil

import pytest

import workbench as wb
from tests.gpu_schedules import bind_all
from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.errors import BuildError, CodegenError, IllegalSchedule, ScheduleError
from workbench.runtime.compilers import gpu_compiling
from workbench.runtime.emulation import cpp_job
from workbench.runtime.gpu.drivers import choosing
from workbench.schedules import Schedule


def wide(threads: int) -> Schedule:
    """One block of that many threads, of any operator: a sum of two vectors."""
    s = wb.schedule(wb.ops.load("axpy"), N=2 * threads)
    return s | wb.split("i", threads) | wb.bind("i_o", "block.x") | wb.bind("i_i", "thread.x")


def fat() -> Schedule:
    """A block with 1 MiB of shared memory."""
    s = wb.schedule(wb.ops.matmul, M=512, N=1024, K=512) | wb.decompose_reduction("C")
    s = s | wb.tile({"C/m": 512, "C/n": 16}) | wb.interchange("C/m_o", "C/n_o", "C/k", "C/m_i", "C/n_i")
    s = s | wb.stage("A", "n_o")
    axes = {"C.init/m": "block.y", "C.init/n": "block.x", "C/m_o": "block.y", "C/n_o": "block.x", "C/n_i": "thread.x"}
    return bind_all(s, axes | {"A_local.load/k": "thread.x"})


@pytest.mark.parametrize("target", ["h200", "cuda"])
def test_a_block_of_2000_threads(target: str) -> None:
    with pytest.raises(CodegenError, match=f"block of 2000 threads is more than the 1024 of target {target}: i_i has"):
        wb.build(wide(2000), target=target)


def test_occupancy_of_what_fits_no_block() -> None:
    """What is asked for is told, and the limit: no block of it is ever on a multiprocessor."""
    (kernel,) = wb.occupancy(wide(2000), "h200").kernels
    assert (kernel.threads, kernel.blocks, kernel.limit) == (2000, 0, "a block has at most 1024 threads")
    assert str(wb.occupancy(wide(2000), "h200")).startswith("on each multiprocessor of h200\n")
    assert wb.occupancy(fat(), "h200").kernels[-1].limit == "a block has at most 232448 bytes of shared memory"


def test_a_megabyte_of_shared_memory(driver: FakeDriver) -> None:
    said = r"1048576 bytes of shared memory are more than the 232448 a block has on target h200: A_local 1048576"
    with pytest.raises(CodegenError, match=said):
        wb.build(fat(), target="h200")


def test_a_loop_that_carries_a_dependence() -> None:
    with pytest.raises(IllegalSchedule, match=r"bind\('t', 'thread.x'\): would race on A .flow, loop t.: A.1.0,1. → B"):
        wb.schedule(wb.ops.load("jacobi_1d"), N=50, steps=5) | wb.bind("t", "thread.x")


def test_a_schedule_for_another_target() -> None:
    for_c = wb.autoschedule(wb.ops.load("softmax"), M=64, N=64)
    with pytest.raises(CodegenError, match=r"no CUDA for softmax: no loop around statement .* is bound"):
        wb.build(for_c, target="cuda")
    with pytest.raises(BuildError, match=r"kernel 'softmax' is in c; a GPU runs CUDA: wb.generate"):
        wb.build(wb.generate(for_c), target="cuda")
    for_gpu = wb.generate(wb.autoschedule(wb.ops.load("softmax"), "cuda", M=64, N=64), target="cuda")
    with pytest.raises(BuildError, match=r"is in cuda; a C compiler takes C\. target='cuda' runs it on a GPU"):
        wb.build(for_gpu, target=wb.Target())
    with pytest.raises(BuildError, match=r"is in cuda; a C compiler takes C\. target='cuda' runs it on a GPU"):
        wb.build(for_gpu, target="c")


def test_no_compiler_at_all(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_compiling, "nvrtc", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(driver, "image", None)  # as a real GPU, it takes machine code
    with pytest.raises(BuildError, match=r"no CUDA compiler is found: pip install nvidia-cuda-nvrtc .* nvcc"):
        wb.build(wide(96), target="cuda")
    with pytest.raises(BuildError, match="no CUDA compiler is found for sm_80"):
        wb.generate(wide(97), target="cuda").resources
    monkeypatch.setattr(cpp_job, "_compiles", lambda command: False)
    with pytest.raises(BuildError, match=r"no C\+\+ compiler was found.*pip install ziglang"):
        wb.build(wide(98), target="cuda-on-cpu")


def test_no_gpu_is_said_after_what_is_wrong_with_the_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "LIBRARY", "libcuda-that-is-not-there.so.1")
    monkeypatch.delenv(choosing.VARIABLE, raising=False)
    before = choosing.use_driver(None)
    try:
        with pytest.raises(BuildError, match="no NVIDIA driver is found"):
            wb.build(wide(64), target="cuda")
        with pytest.raises(CodegenError, match="more than the 1024"):
            wb.build(wide(1025), target="cuda")
    finally:
        choosing.use_driver(before)


def test_a_target_that_only_build_has() -> None:
    said = "'cuda-on-cpu' is for wb.build alone: it executes the text for 'cuda'"
    with pytest.raises(CodegenError, match=said):
        wb.generate(wide(64), target="cuda-on-cpu")
    with pytest.raises(ScheduleError, match=said):
        wb.autoschedule(wb.ops.matmul, "cuda-on-cpu", M=8, N=8, K=8)


def test_a_gpu_that_is_nearly_known() -> None:
    with pytest.raises(CodegenError, match="unknown target 'h2000'; did you mean 'h200'"):
        wb.generate(wide(64), target="h2000")
