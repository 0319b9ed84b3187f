"""Arrays of other libraries on a GPU, streams, graphs, time, resources and named errors."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.gpu_schedules import staged_matmul
from workbench.codegen.cuda.grid.launches import each_launch
from workbench.errors import KernelError
from workbench.runtime.gpu.building import build_on_gpu
from workbench.runtime.gpu.drivers.bindings_driver import BindingsDriver
from workbench.runtime.gpu.drivers.driver import Driver
from workbench.runtime.gpu.drivers.pycuda_driver import PycudaDriver
from workbench.runtime.gpu.memory import DeviceArray, on_device
from workbench.schedules import Schedule

pytestmark = pytest.mark.gpu
RNG = np.random.default_rng(5)
A = RNG.standard_normal((100, 80)).astype(np.float32)
B = RNG.standard_normal((80, 96)).astype(np.float32)
C = A.astype(np.float64) @ B


@cache
def staged() -> Schedule:
    return staged_matmul()


def close(found: object) -> bool:
    return np.allclose(np.asarray(found), C, atol=1e-3)


@pytest.fixture(params=[BindingsDriver, PycudaDriver])
def each_driver(request: pytest.FixtureRequest, real: Driver) -> Driver:
    """Both packages in turn."""
    package = "cuda-bindings" if request.param is BindingsDriver else "pycuda"
    try:
        return request.param()
    except ImportError:
        pytest.skip(f"install {package}: the other package serves")


def test_both_packages_give_the_same(each_driver: Driver) -> None:
    kernel = build_on_gpu(wb.generate(staged(), "cuda"), each_driver)
    assert close(kernel(A, B))
    assert close(kernel(on_device(A, each_driver), on_device(B, each_driver)).numpy())
    assert each_driver.device.capability == kernel.driver.device.capability
    assert wb.measure(kernel, A, B, seconds=0.05).device_seconds


def test_the_driver_counts_what_the_compiler_counted(each_driver: Driver) -> None:
    kernel = build_on_gpu(wb.generate(staged(), "cuda"), each_driver)
    for launch in each_launch(kernel.kernel.launches):
        with each_driver.entered():
            function = kernel.loaded.functions[launch.name]
            facts = each_driver.facts(function)
            blocks = each_driver.resident_blocks(function, launch.threads, 0)
        counted = kernel.resources[launch.name]
        assert facts["registers"] == counted.registers
        assert facts["static_shared_bytes"] == counted.static_shared_bytes
        assert blocks is None or blocks == counted.blocks


def test_torch(real: Driver) -> None:
    torch = pytest.importorskip("torch", reason="install torch")
    kernel = wb.build(staged(), target="cuda")
    a, b = torch.from_numpy(A).cuda(), torch.from_numpy(B).cuda()
    c = kernel(a, b)
    assert c.is_cuda
    assert close(c.cpu())
    out = torch.full((100, 96), float("nan"), device="cuda")
    address = out.data_ptr()
    assert kernel(a, b, out=out) is out
    assert out.data_ptr() == address
    assert close(out.cpu())
    assert close(kernel(a, b.T.contiguous().T).cpu())
    taken = torch.from_dlpack(kernel(on_device(A, real), on_device(B, real)))
    assert close(taken.cpu())


def test_work_is_in_the_order_of_torchs_stream(real: Driver) -> None:
    torch = pytest.importorskip("torch", reason="install torch")
    kernel = wb.build(staged(), target="cuda")
    side = torch.cuda.Stream()
    a, b = torch.from_numpy(A).cuda(), torch.from_numpy(B).cuda()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        large = torch.ones(4096, 4096, device="cuda")
        for _ in range(20):
            large = large @ large * 1e-4
        late = a + 0 * large[0, 0].nan_to_num(0, 0, 0)
        assert close(kernel(late, b).cpu())


def test_a_call_is_captured_in_a_graph(real: Driver) -> None:
    torch = pytest.importorskip("torch", reason="install torch")
    if not real.adopts:
        pytest.skip("install cuda-bindings: PyCUDA cannot launch into torch's streams")
    kernel = wb.build(staged(), target="cuda")
    a, b, out = torch.zeros(100, 80).cuda(), torch.from_numpy(B).cuda(), torch.empty(100, 96).cuda()
    kernel(a, b, out=out)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel(a, b, out=out)
    a.copy_(torch.from_numpy(A))
    graph.replay()
    torch.cuda.synchronize()
    assert close(out.cpu())


def test_cupy(real: Driver) -> None:
    cupy = pytest.importorskip("cupy", reason="install cupy")
    kernel = wb.build(staged(), target="cuda")
    c = kernel(cupy.asarray(A), cupy.asarray(B))
    assert isinstance(c, cupy.ndarray)
    assert close(cupy.asnumpy(c))
    assert close(cupy.asnumpy(cupy.asarray(kernel(on_device(A, real), on_device(B, real)))))


def test_jax(real: Driver) -> None:
    jax = pytest.importorskip("jax", reason="install jax")
    kernel = wb.build(staged(), target="cuda")
    c = kernel(jax.numpy.asarray(A), jax.numpy.asarray(B))
    assert isinstance(c, jax.Array)
    assert close(c)


def test_large_arrays_of_numpy_come_back_whole(gpu: Driver) -> None:
    op = wb.operator("def double(float(N) x) -> (y) { y(i) = 2 * x(i) }")
    kernel = wb.build(wb.autoschedule(op, "cuda", N=5_000_011), target="cuda")
    x = RNG.standard_normal(5_000_011).astype(np.float32)
    assert np.array_equal(kernel(x), 2 * x)


def test_memory_that_is_not_there_is_named(real: Driver) -> None:
    with real.entered(), pytest.raises(Exception, match="CUDA_ERROR_OUT_OF_MEMORY"):
        DeviceArray(real, (1 << 45,), np.dtype(np.uint8))


def test_an_illegal_address_is_named_and_costs_only_its_process(real: Driver) -> None:
    kernel = wb.generate(staged(), "cuda")
    crash = re.sub(r"(matmul_C\([^)]*\)\n\{\n)", r"\1    *(volatile int *)16 = 1;\n", kernel.source)
    assert crash != kernel.source
    crashing = wb.build(replace(kernel, source=crash, schedule=None), target="cuda")
    with pytest.raises(KernelError, match=r"outside of every array .*CUDA_ERROR_ILLEGAL_ADDRESS"):
        crashing(A, B)
    assert close(wb.build(staged(), target="cuda")(A, B))
