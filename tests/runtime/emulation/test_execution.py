"""CUDA text on a processor: barriers, shuffles, atomics and asynchronous copies as a GPU has them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.runtime.emulation.kernels import EXAMPLES, cuda, line_of, matmul
from tests.runtime.hand import numbers, parameter
from workbench.codegen.cuda.grid.launches import Argument, Buffer, Clear, Launch, Repeat
from workbench.errors import BuildError, KernelError
from workbench.lang.dtypes import FLOAT32, INT64
from workbench.lang.expr import Size
from workbench.runtime import emulation
from workbench.runtime.compilers.discovery import every_toolchain
from workbench.runtime.emulation import build_on_cpu, cpp_job
from workbench.runtime.emulation.records import ORDERS


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_kernel_computes_what_it_should_in_every_order_of_threads(name, order):
    example = EXAMPLES[name]()
    kernel = build_on_cpu(example.kernel, order=order, seed=3)
    np.testing.assert_allclose(kernel(*example.arrays, **example.given()), example.wanted, rtol=2e-6, atol=2e-6)


def test_the_text_is_compiled_byte_for_byte():
    source = matmul().kernel.source
    assert source in cpp_job.unit_text(source, ("matmul",), watched=False)
    assert source in cpp_job.unit_text(source, ("matmul",), watched=True)


def test_blocks_are_shared_among_workers():
    example = matmul(64)
    found = [build_on_cpu(example.kernel, threads=n)(*example.arrays) for n in (1, 3)]
    np.testing.assert_array_equal(*found)


def test_late_copies_show_a_missing_wait():
    """What is copied is not there before the wait, so the sum is another one."""
    example = EXAMPLES["pipeline"]()
    early = build_on_cpu(example.mutant("wb_copies_wait(1)", "wb_copies_wait(2)"))
    assert not np.allclose(early(*example.arrays), example.wanted)


def test_threads_at_different_barriers_are_named_and_not_waited_for():
    example = matmul()
    kernel = example.mutant("        __syncthreads();", "        if (x < 3) __syncthreads();")
    with pytest.raises(KernelError, match=r"divergent barrier.*\n  line 12: if.*\n.*\(0, 0, 0\).*\(3, 0, 0\)"):
        build_on_cpu(kernel)(*example.arrays)


def test_a_lane_that_does_not_come_is_named():
    example = EXAMPLES["softmax"]()
    kernel = example.mutant("        top = fmaxf(top, __shfl", "        if (lane != 5) top = fmaxf(top, __shfl")
    line = line_of(kernel, "lane != 5")
    with pytest.raises(KernelError, match=rf"divergent barrier.*\n  line {line}: if.*\n.*\n.*\(5, 0, 0\)"):
        build_on_cpu(kernel)(*example.arrays)


SPIN = """\
extern "C" __global__ void spin(int *__restrict__ L, int *__restrict__ N)
{
    while (atomicCAS(L, 0, 1) != 0) {}
    int now = *(volatile int *)N;
    *(volatile int *)N = now + 1;
    atomicExch(L, 0);
}
"""


def test_a_lock_is_given_back():
    kernel = cuda(
        "spin", SPIN, parameter("L", (1,), "int", "inout"), parameter("N", (1,), "int", "inout"),
        grid=(3, 1, 1), block=(64, 1, 1),
    )  # fmt: skip
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    build_on_cpu(kernel)(out=(lock, count))
    assert (lock[0], count[0]) == (0, 192)


STEPS = """\
extern "C" __global__ void step(const float *__restrict__ X, float *__restrict__ W, int64_t n, int64_t t)
{
    const int64_t i = blockIdx.x*4 + threadIdx.x;
    if (i < n)
        W[i] += X[i] * t;
}
extern "C" __global__ void last(const float *__restrict__ W, float *__restrict__ Y, float scale, int64_t n)
{
    const int64_t i = blockIdx.x*4 + threadIdx.x;
    if (i < n)
        Y[i] = scale * W[i];
}
"""


def steps(n: int):
    """A workspace that is cleared, a kernel for t = 2, 4, 6, and one that reads the sum; a scalar by value."""
    made = cuda(
        "steps", STEPS, parameter("X", (n,)), parameter("scale", ()), parameter("Y", (n,), role="output"),
        grid=(1, 1, 1), block=(4, 1, 1), n=n,
    )  # fmt: skip
    size, workspace = Argument("size", "n", "n", INT64), Argument("workspace", "W", "W", FLOAT32, True)
    x, y = Argument("array", "X", "X", FLOAT32), Argument("array", "Y", "Y", FLOAT32, True)
    blocks, scale = -(-n // 4), Argument("scalar", "scale", "scale", FLOAT32)
    loop = Argument("loop", "t", "t", INT64)
    launches = (
        Clear("W", 4 * n),
        Repeat("t", 2, Size("n"), (Launch("step", (blocks, 1, 1), (4, 1, 1), 0, (x, workspace, size, loop)),), 2),
        Launch("last", (blocks, 1, 1), (4, 1, 1), 0, (replace(workspace, written=False), y, scale, size)),
        Launch("last", (0, 1, 1), (4, 1, 1), 0, (replace(workspace, written=False), y, scale, size)),
    )
    return replace(made, launches=launches, buffers=(Buffer("W", FLOAT32, 256, 4 * n),))


def test_launches_follow_one_another():
    x = numbers(7)
    found = build_on_cpu(steps(7))(x, 0.5)
    np.testing.assert_allclose(found, 0.5 * 12 * x, rtol=1e-6)
    assert wb.sanitize(steps(7), x, 0.5)


def test_what_is_not_cleared_is_uninitialised():
    kernel = replace(steps(7), launches=steps(7).launches[1:])
    (found, *_) = wb.sanitize(kernel, numbers(7), 0.5)
    assert (found.kind, found.array, found.line) == ("uninitialised", "W", line_of(kernel, "W[i] +="))


# -- errors -------------------------------------------------------------------------------------------


def test_a_kernel_in_c_is_refused():
    with pytest.raises(BuildError, match="is in c; expected CUDA"):
        wb.build(wb.generate(wb.schedule(wb.ops.matmul, M=4, N=4, K=4)), target="cuda-on-cpu")


def test_a_block_that_is_too_large_is_refused():
    kernel = matmul().kernel
    large = replace(kernel, launches=(replace(kernel.launches[0], block=(50, 40, 1)),))
    with pytest.raises(KernelError, match="a block of 2,000 threads; a GPU has at most 1,024"):
        build_on_cpu(large)(*matmul().arrays)


def test_text_that_does_not_compile_is_shown():
    with pytest.raises(BuildError, match="no_such_function"):
        build_on_cpu(matmul().mutant("= sum;", "= no_such_function(sum);"))


def test_without_a_compiler_for_cpp_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(cpp_job, "_compiles", lambda command: False)
    with pytest.raises(BuildError, match=r"no C\+\+ compiler was found.*apt install g\+\+.*pip install ziglang"):
        build_on_cpu(matmul().kernel)
    monkeypatch.setattr(emulation.emulated, "cpp_toolchain", cpp_job.cpp_toolchain)
    with wb.settings(compiler="gcc"), pytest.raises(BuildError, match=r"the compiler gcc does not compile C\+\+"):
        build_on_cpu(matmul().kernel)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_compiler_of_this_machine_executes_the_text(name):
    example = EXAMPLES[name]()
    for found in every_toolchain():
        with wb.settings(compiler="zig" if found.family == "zig" else found.command[0]):
            kernel = build_on_cpu(example.kernel)
            np.testing.assert_allclose(
                kernel(*example.arrays, **example.given()), example.wanted, rtol=2e-6, atol=2e-6, err_msg=found.name
            )
            assert wb.sanitize(example.kernel, *example.arrays, **example.given()), found.name
