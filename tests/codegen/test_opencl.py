"""OpenCL text of bound schedules: golden files, what clang says of it, refusals."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import workbench as wb
from tests.gpu_schedules import HAND_MADE, bind_all, bound, staged_matmul
from tests.recipe_kernels import PAIRS, recipe_schedule
from tests.small_sizes import small_sizes
from tests.support import examples
from tests.wild_gpu_schedules import wild_gpu_schedule
from workbench.codegen.cuda.grid.launches import each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import BuildError, CodegenError

CLANG = shutil.which("clang")
needs_clang = pytest.mark.skipif(CLANG is None, reason="install clang to compile OpenCL text")
# Operators bound without thought, some of them with functions, halves, indices, integers of all widths.
BOUND = ("conv2d", "cumsum", "argmax", "matmul_bf16", "embedding", "quantise", "bias_gelu", "mse", "nll", "segment_sum")
SEEDS = range(examples(quick=4, ci=20, full=300))


def written(schedule: wb.Schedule) -> Kernel:
    return wb.generate(schedule, target="opencl")


def body(kernel: Kernel) -> str:
    """The text without its prelude."""
    return kernel.source[kernel.source.index("#endif\n\n") + len("#endif\n\n") :]


def accepted(kernel: Kernel, standard: str) -> None:
    assert CLANG is not None
    flags = ("-x", "cl", f"-cl-std={standard}", "-fsyntax-only", "-Wall", "-Wno-shift-op-parentheses")
    command = (CLANG, *flags, "-Xclang", "-finclude-default-header", "-")
    done = subprocess.run(command, input=kernel.source, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stderr}\n{kernel.source}"


@pytest.mark.parametrize("name", ["staged matmul", "atomic histogram", "staging of any size", "softmax", "transpose"])
def test_the_text_of_a_schedule(name, golden):
    schedule = {
        "staging of any size": HAND_MADE["staged matmul of any size"],
        "softmax": lambda: recipe_schedule("softmax"),
        "transpose": lambda: recipe_schedule("transpose"),
    }
    golden(body(written(schedule.get(name, HAND_MADE.get(name, staged_matmul))())))


@needs_clang
@pytest.mark.parametrize("standard", ["CL1.2", "CL2.0"])
@pytest.mark.parametrize("name", [*HAND_MADE, *PAIRS, *BOUND])
def test_clang_accepts_the_text(name, standard):
    op = name if name in HAND_MADE or name in PAIRS else wb.ops.load(name)
    made = HAND_MADE.get(name) or (lambda: recipe_schedule(name) if name in PAIRS else None)
    schedule = made() or bound(wb.schedule(op, sizes=small_sizes(op)))
    accepted(written(schedule), standard)


@needs_clang
@pytest.mark.parametrize("seed", SEEDS)
def test_clang_accepts_the_text_of_random_schedules(seed):
    schedule = wild_gpu_schedule(seed)
    if schedule is not None:
        accepted(written(schedule), "CL2.0")


@pytest.mark.parametrize("name", HAND_MADE)
def test_opencl_and_cuda_have_the_same_launches(name):
    schedule = HAND_MADE[name]()
    ours, theirs = (each_launch(wb.generate(schedule, target=t).launches) for t in ("opencl", "cuda"))
    assert [(x.grid, x.block, x.arguments) for x in ours] == [(x.grid, x.block, x.arguments) for x in theirs]


def test_nothing_of_cuda_is_left():
    words = re.compile(r"\b(threadIdx|blockIdx|blockDim|gridDim|__syncthreads|__shared__|__global__|atomicAdd)\b")
    for name in (*HAND_MADE, *PAIRS):
        text = written((HAND_MADE.get(name) or (lambda name=name: recipe_schedule(name)))()).source
        assert words.search(text) is None, name
        assert text.count("barrier(") == 0 or "barrier(CLK_LOCAL_MEM_FENCE" in text


def test_threads_that_meet_in_global_memory_see_what_others_wrote_there():
    assert "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);" in written(HAND_MADE["staying jacobi"]()).source
    staged = written(staged_matmul()).source
    assert "barrier(CLK_LOCAL_MEM_FENCE);" in staged
    assert "CLK_GLOBAL_MEM_FENCE" not in staged.split("#endif\n\n")[1]


def test_atomic_updates_of_narrow_types_are_refused_in_words():
    op = wb.operator("def h(int16(N,M) x) -> (c) { c(m) +=! x(n,m) }")
    schedule = wb.schedule(op, N=8, M=4) | wb.decompose_reduction("c") | wb.atomic("c")
    schedule = bind_all(schedule, {"c.init/m": "thread.x", "c/n": "thread.x"})
    with pytest.raises(CodegenError, match=r"OpenCL has no atomic updates of int16, and c needs them"):
        written(schedule)


def test_a_function_that_opencl_does_not_have_is_refused_by_its_name():
    op = wb.operator("def f(float(N) x) -> (y) { y(n) = j0(x(n)) }")
    with pytest.raises(CodegenError, match="OpenCL has no function j0"):
        written(bind_all(wb.schedule(op, N=8), {"n": "thread.x"}))


def test_names_that_mean_something_to_opencl_are_not_used():
    text = "def dot(float(N) kernel, float(N) uchar4) -> (local) { local(cross) = kernel(cross) * uchar4(cross) }"
    op = wb.operator(text)
    found = body(written(bind_all(wb.schedule(op, N=8), {"cross": "thread.x"})))
    assert not re.search(r"\b(dot|kernel|local|cross|uchar4)\b", re.sub(r"/\*.*?\*/", "", found))


def test_it_is_text_only():
    with pytest.raises(BuildError, match="opencl"):
        wb.build(written(staged_matmul()))
