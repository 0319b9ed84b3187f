"""What goes wrong on a GPU has a name; without a GPU the message says what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.gpu_schedules import staged_matmul
from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.errors import BuildError, KernelError
from workbench.runtime.gpu.building import build_on_gpu
from workbench.runtime.gpu.drivers import choosing
from workbench.runtime.gpu.drivers.driver import DriverError
from workbench.runtime.gpu.drivers.failures import FAILURES, LOSING, driver_failure, error_code, lost
from workbench.schedules import Schedule


@cache
def staged() -> Schedule:
    return staged_matmul()


PRODUCT = np.ones((100, 80), np.float32), np.ones((80, 96), np.float32)


@pytest.mark.parametrize(
    ("where", "code", "said"),
    [
        ("launch", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", r"blocks of .* threads .* more registers .*kernel\.resources"),
        (
            "synchronize_all",
            "CUDA_ERROR_ILLEGAL_ADDRESS",
            r"outside of every array .*wb\.sanitize.* process of its own",
        ),
        ("allocate", "CUDA_ERROR_OUT_OF_MEMORY", "not enough free memory .*Compute less"),
    ],
)
def test_what_cuda_refuses_is_named(driver: FakeDriver, where: str, code: str, said: str) -> None:
    kernel = wb.build(staged(), target="cuda")
    driver.fails[where] = code
    with pytest.raises(KernelError, match=said) as caught:
        kernel.prepared(*PRODUCT)() if where == "launch" else wb.measure(kernel, *PRODUCT)  # type: ignore[attr-defined]
    assert code in str(caught.value)
    assert lost(caught.value) == (code in LOSING)


def test_machine_code_that_the_driver_refuses_is_an_error_of_the_build(driver: FakeDriver) -> None:
    driver.fails["module"] = "CUDA_ERROR_NO_BINARY_FOR_GPU"
    from workbench.runtime.gpu import loading

    loading._loaded.clear()
    with pytest.raises(BuildError, match="another architecture"):
        wb.build(staged(), target="cuda")


def test_every_failure_says_what_happened_and_what_to_do() -> None:
    for code, (words, happened, advice) in FAILURES.items():
        assert error_code(words) == code, "PyCUDA's messages have the words alone"
        text = str(driver_failure(DriverError(code, words, "cuLaunchKernel"), "matmul"))
        assert text.startswith("matmul: ")
        assert happened in text
        assert advice[1:] in text
    assert {*LOSING} <= {*FAILURES}


def test_without_a_driver_the_message_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "LIBRARY", "libcuda-that-is-not-there.so.1")
    monkeypatch.delenv(choosing.VARIABLE, raising=False)
    before = choosing.use_driver(None)
    try:
        with pytest.raises(BuildError, match=r"no NVIDIA driver is found .* install the driver .*cuda-on-cpu"):
            wb.build(staged(), target="cuda")
        assert not wb.doctor()["GPU runtime"]
    finally:
        choosing.use_driver(before)


def test_without_a_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "_library", lambda: None)
    monkeypatch.setattr(choosing, "available", lambda: ())
    monkeypatch.delenv(choosing.VARIABLE, raising=False)
    with pytest.raises(BuildError, match=r"no package .* pip install 'tensor-workbench.cuda.' .*cuda-bindings"):
        choosing._opened()


def test_an_unknown_package_is_refused_with_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(choosing.VARIABLE, "pycudo")
    with pytest.raises(BuildError, match=r"did you mean 'pycuda'.* known: pycuda, cuda\.bindings"):
        choosing._opened()


def test_the_package_in_use_is_said(driver: FakeDriver) -> None:
    assert str(wb.doctor()["GPU runtime"].found) == f"a fake on {driver.device}"


@pytest.fixture
def fake_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other processes have the driver of these tests too."""
    monkeypatch.setenv(choosing.VARIABLE, "tests.runtime.gpu.fake_driver:FakeDriver")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))


def test_a_process_of_its_own_gives_the_same(driver: FakeDriver, fake_there: None) -> None:
    kernel = wb.build(staged(), target="cuda")
    out = np.empty((100, 96), np.float32)
    assert kernel.apart(*PRODUCT, out=out) is out  # type: ignore[attr-defined]
    assert np.array_equal(out, PRODUCT[0] @ PRODUCT[1])
    with pytest.raises(wb.errors.CallError, match="missing B"):
        kernel.apart(PRODUCT[0])  # type: ignore[attr-defined]


def test_a_kernel_that_crashes_does_so_in_a_process_of_its_own(driver: FakeDriver, fake_there: None) -> None:
    kernel = wb.generate(staged(), "cuda")
    crash = re.sub(r"(matmul_C\([^)]*\)\n\{\n)", r"\1    *(volatile int *)16 = 1;\n", kernel.source)
    assert crash != kernel.source
    crashing = wb.build(replace(kernel, source=crash, schedule=None), target="cuda")
    assert any("process of its own" in note for note in crashing.notes)
    with pytest.raises(KernelError, match=r"matmul: the process that ran it was killed by SIG.* wb\.sanitize"):
        crashing(*PRODUCT)


def test_what_is_not_legal_runs_in_a_process_of_its_own(driver: FakeDriver) -> None:
    racing = wb.preview(wb.schedule(wb.ops.matmul, M=2, N=2, K=3), wb.bind("k", "thread.x"))
    assert wb.build(racing, target="cuda", unsafe=True).isolated  # type: ignore[attr-defined]


def test_a_hip_kernel_is_not_run(driver: FakeDriver) -> None:
    kernel = wb.generate(staged(), "hip")
    with pytest.raises(BuildError, match="is in hip; a GPU runs CUDA"):
        build_on_gpu(kernel)
