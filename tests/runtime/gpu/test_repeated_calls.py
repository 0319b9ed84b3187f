"""Calls like one before take the short way, with the same results and the same refusals."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.gpu_schedules import bound, staged_matmul
from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.errors import CallError, KernelError
from workbench.runtime.gpu.gpu_kernel import GpuKernel

torch = pytest.importorskip("torch", reason="install torch: the arrays are its tensors")

# Two outputs, a scalar, cells that nothing writes, a temporary: an operator that nobody planned for.
ODD = """def odd(float(N) x, int32(M) at, float a) -> (y, s) {
    t(i) = a * x(i) + i
    y(2 * i) = t(i) where i in 0:N
    s(j) = t(at(j))
}"""


@pytest.fixture
def product(driver: FakeDriver) -> GpuKernel:
    return wb.build(staged_matmul(), target="cuda")


@pytest.fixture
def odd(driver: FakeDriver, monkeypatch: pytest.MonkeyPatch) -> GpuKernel:
    monkeypatch.setattr(driver, "_inside", lambda address, size: None)  # torch's memory is not the stand-in's
    return wb.build(bound(wb.schedule(wb.operator(ODD), N=9, M=5)), target="cuda")


def normal(*shape: int) -> Any:
    return torch.from_numpy(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def quickly(kernel: GpuKernel, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The kernel, when the long way is closed."""
    monkeypatch.setattr(kernel, "prepared", None)
    return kernel


def test_other_tensors_take_the_short_way(product: GpuKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    product(normal(100, 80), normal(80, 96))
    product(normal(100, 80), normal(80, 96), out=torch.empty(100, 96))
    again = quickly(product, monkeypatch)
    a, b, out = normal(100, 80) + 1, normal(80, 96) - 1, torch.empty(100, 96)
    assert torch.allclose(again(a, b), a @ b, atol=1e-3)
    assert again(a, b, out=out) is out
    assert torch.allclose(out, a @ b, atol=1e-3)
    assert again(torch.nn.Parameter(a), b).equal(out)


def test_scalars_indices_temporaries_and_cells_that_nothing_writes(
    odd: GpuKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = torch.tensor([8, 0, 3, 3, 1], dtype=torch.int32)
    odd(normal(9), at, 2.0)
    odd(normal(9), at, a=2.0)
    again = quickly(odd, monkeypatch)
    x = normal(9) * 3
    for found in (again(x, at.flip(0), -0.5), again(x, at.flip(0), a=-0.5)):
        wanted = odd.operator.evaluate(x.numpy(), at.flip(0).numpy(), np.float32(-0.5))
        for tensor, array in zip(found, wanted, strict=True):
            assert np.allclose(tensor.numpy(), array, atol=1e-5)
    with pytest.raises(KernelError, match=r"at\(j\).* is out of range|out of range"):
        again(x, at + 1, 1.0)
    assert np.allclose(again(x, at, 1.0)[1].numpy(), (x.numpy() + np.arange(9))[at.numpy()], atol=1e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda a, b: (a.double(), b), lambda a, b: (a[:99], b), lambda a, b: (a, b[0]), lambda a, b: (a, None),
        lambda a, b: (a,), lambda a, b: (a, b, 3),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_as_at_first(product: GpuKernel, change: Callable[[Any, Any], Any]) -> None:
    a, b = normal(100, 80), normal(80, 96)
    said = []
    for _ in range(2):
        with pytest.raises(CallError) as refused:
            product(*change(a, b))
        said.append(str(refused.value))
        product(a, b)
    assert said[0] == said[1]


def test_an_output_in_an_inputs_memory_is_computed_apart(driver: FakeDriver) -> None:
    op = wb.operator("def turned(float(N) x) -> (y) { y(i) = x(N - 1 - i) }")
    kernel = wb.build(bound(wb.schedule(op, N=50)), target="cuda")
    memory = normal(100)
    kernel(memory[:50], out=memory[50:])
    wanted = memory[20:70].flip(0).clone()
    assert kernel(memory[20:70], out=memory[30:80]).equal(wanted)


def test_outputs_that_share_memory_are_refused(odd: GpuKernel) -> None:
    at = torch.zeros(5, dtype=torch.int32)
    outputs = odd(normal(9), at, 1.0)
    odd(normal(9), at, 1.0, out=outputs)
    memory = torch.zeros(64)
    n, m = (o.numel() for o in outputs)
    with pytest.raises(CallError, match="share memory"):
        odd(normal(9), at, 1.0, out=(memory[:n], memory[n - 1 : n - 1 + m]))


def test_a_number_in_a_tensor_is_read_each_time(driver: FakeDriver) -> None:
    op = wb.operator("def scaled(float(N) x, float a) -> (y) { y(i) = a * x(i) }")
    kernel = wb.build(bound(wb.schedule(op, N=7)), target="cuda")
    x, a = normal(7), torch.tensor(2.0)
    for number in (2.0, 3.0):
        a.fill_(number)
        assert kernel(x, a).equal(x * number)


def test_nothing_of_a_call_is_kept(product: GpuKernel) -> None:
    a, b, out = normal(100, 80), normal(80, 96), torch.empty(100, 96)
    gone = [weakref.ref(tensor) for tensor in (a, b, out)]
    product(a, b, out=out)
    product(a, b, out=out)
    del a, b, out
    gc.collect()
    assert [ref() for ref in gone] == [None] * 3


def test_threads_do_not_mix_their_arrays(driver: FakeDriver) -> None:
    op = wb.operator("def twice(float(N) x) -> (y) { y(i) = 2 * x(i) }")
    kernel = wb.build(bound(wb.schedule(op, N=33)), target="cuda")
    wrong: list[int] = []

    def calls(number: int) -> None:
        x = torch.full((33,), float(number))
        wrong.extend(number for _ in range(200) if not kernel(x).equal(2 * x))

    threads = [threading.Thread(target=calls, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_refused_launch_is_named(product: GpuKernel, driver: FakeDriver) -> None:
    product(normal(100, 80), normal(80, 96))
    driver.fails["launch"] = "CUDA_ERROR_ILLEGAL_ADDRESS"
    with pytest.raises(KernelError, match=r"matmul_C.*outside of every array"):
        product(normal(100, 80), normal(80, 96))
