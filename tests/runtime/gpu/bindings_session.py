"""What `test_bindings.py` runs where `libcuda.so.1` is the one of fake_libcuda.c: cuda.bindings itself, end to end."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

import workbench as wb
from tests.gpu_schedules import bound, staged_matmul, symbolic_matmul
from tests.runtime.gpu.fake_driver import emulated
from workbench.codegen.cuda.grid.launches import each_launch
from workbench.codegen.kernel import Kernel
from workbench.errors import KernelError
from workbench.runtime.gpu.building import build_on_gpu
from workbench.runtime.gpu.drivers.bindings_driver import BindingsDriver
from workbench.runtime.gpu.drivers.driver import DriverError
from workbench.runtime.gpu.gpu_kernel import GpuKernel
from workbench.runtime.gpu.launching import Start, sequence
from workbench.runtime.gpu.memory import on_device

RNG = np.random.default_rng(1)
SCALED = "def scaled(float(N) x, float a, int8 b, double c) -> (y) { y(i) = a * x(i) + b + float(c) }"


class Pretended(BindingsDriver):
    """Takes the path of an emulated kernel for machine code."""

    def image(self, kernel: Kernel) -> bytes:
        names = [launch.name for launch in each_launch(kernel.launches)]
        return str(emulated(kernel.source, names).path).encode() + b"\0"


def session() -> dict[str, object]:
    """What the test looks at."""
    driver = Pretended()
    a, b = (RNG.standard_normal(shape).astype(np.float32) for shape in ((100, 80), (80, 96)))
    kernel = build_on_gpu(wb.generate(staged_matmul(), "cuda"), driver)
    said: dict[str, object] = {"name": driver.name, "device": str(driver.device)}
    said["host"] = bool(wb.verify(kernel, a, b))
    said["device arrays"] = bool(
        np.allclose(kernel(on_device(a, driver), on_device(b, driver)).numpy(), a @ b, atol=1e-3)
    )
    said["sizes"] = bool(wb.verify(build_on_gpu(wb.generate(symbolic_matmul(), "cuda"), driver), a, b))
    scaled = build_on_gpu(wb.generate(bound(wb.schedule(wb.operator(SCALED), N=50)), "cuda"), driver)
    found = scaled(a[0, :50].copy(), np.float32(2.5), np.int8(-3), np.float64(0.25))
    said["scalars"] = bool(np.allclose(found, 2.5 * a[0, :50] - 2.75, atol=1e-5))
    timed = wb.measure(kernel, a, b, seconds=0.02)
    said["times"] = 0 < (timed.device_seconds or 0) < 10
    function = kernel.loaded.functions["matmul_C"]
    with driver.entered():
        said["facts"] = driver.facts(function)
        said["blocks"] = driver.resident_blocks(function, 256, 0)
        driver.allow_shared(function, 100_000)
        page = driver.pinned(1000)
        page[:] = 7
    del page
    said |= directly(driver, kernel, a, b)
    for name, refused in {"memory": lambda: driver.allocate(1 << 40), "context": lambda: driver.allocate(8)}.items():
        try:
            if name == "context":
                refused()
            else:
                with driver.entered():
                    refused()
        except DriverError as error:
            said[name] = [error.code, error.said, error.doing]
    return said


def directly(driver: Pretended, kernel: GpuKernel, a: np.ndarray, b: np.ndarray) -> dict[str, object]:
    """Launches through the library itself, and what it says of one that is too large."""
    out = on_device(np.zeros((100, 96), np.float32), driver)
    call = kernel.prepared(on_device(a, driver), on_device(b, driver), out=out)
    zeros = Start("zeros", None, (0, 0, 0), (0, 0, 0), 0, (), out.address, out.nbytes)
    sequence(driver, [*call.starts, zeros])(0)
    cleared = not out.numpy().any()
    sequence(driver, [zeros, *call.starts])(0)
    said: dict[str, object] = {"directly": bool(cleared and np.allclose(out.numpy(), a @ b, atol=1e-3))}
    large = replace(call.starts[-1], block=(2048, 1, 1))
    try:
        sequence(driver, [zeros, large])(0)
    except KernelError as error:
        said["large"] = str(error).partition(" on ")[0]
    return said


if __name__ == "__main__":
    print(json.dumps(session()))
