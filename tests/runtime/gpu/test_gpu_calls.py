"""Calls of GPU kernels: arrays of NumPy through page-locked memory, arrays of the device where they lie."""

from __future__ import annotations

import ctypes
import gc
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.gpu_schedules import HAND_MADE, bound, staged_matmul, symbolic_matmul
from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.codegen.cuda.grid.launches import each_launch
from workbench.errors import BuildError, CallError, KernelError
from workbench.runtime.gpu import staging
from workbench.runtime.gpu.memory import DeviceArray, on_device
from workbench.runtime.kernels.launch_values import scalar_value
from workbench.schedules import Schedule

RNG = np.random.default_rng(3)


@cache
def staged() -> Schedule:
    return staged_matmul()


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.fixture
def product() -> tuple[np.ndarray, np.ndarray]:
    return normal(100, 80), normal(80, 96)


@pytest.mark.parametrize("name", ["staged matmul", "staying jacobi", "atomic histogram", "register tiles"])
def test_a_kernel_on_the_device_agrees_with_the_oracle(driver: FakeDriver, name: str) -> None:
    schedule = HAND_MADE[name]()
    kernel = wb.build(schedule, target="cuda")
    arrays = []
    op = schedule.program.definition
    for parameter in kernel.signature.inputs:
        shape = tuple(wb.lang.fold(e, kernel.kernel.sizes) for e in parameter.shape)
        arrays.append(RNG.uniform(0.1, 0.9, shape).astype(parameter.dtype.numpy) if shape else np.float32(0.3))
    assert op is not None
    assert wb.verify(kernel, *arrays), kernel.source


def test_a_result_of_numpy_is_numpys(driver: FakeDriver, product: tuple[np.ndarray, np.ndarray]) -> None:
    kernel = wb.build(staged(), target="cuda")
    assert isinstance(kernel(*product), np.ndarray)
    out = np.empty((100, 96), np.float32)
    assert kernel(*product, out=out) is out
    assert "a fake" in repr(kernel)
    assert any("Fake H200" in note and "a fake" in note for note in kernel.notes)


def test_copies_come_in_pieces_through_two_buffers(
    driver: FakeDriver, product: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "PIECE_BYTES", 4000)
    kernel = wb.build(staged(), target="cuda")
    assert wb.verify(kernel, *product)
    assert driver.calls.count("upload") >= 2 * 80 * 96 * 4 // 4000
    assert len(driver.pages) == 2


def test_arrays_of_the_device_are_not_copied(driver: FakeDriver, product: tuple[np.ndarray, np.ndarray]) -> None:
    kernel = wb.build(staged(), target="cuda")
    a, b = (on_device(x, driver) for x in product)
    driver.calls.clear()
    c = kernel(a, b)
    assert isinstance(c, DeviceArray)
    assert not {"upload", "download", "copy", "synchronize_all"} & {*driver.calls}
    assert np.allclose(c.numpy(), product[0] @ product[1], atol=1e-3)


def test_tensors_of_torch_are_used_where_they_lie(driver: FakeDriver, product: tuple[np.ndarray, np.ndarray]) -> None:
    torch = pytest.importorskip("torch", reason="install torch: its tensors are used where they lie")
    kernel = wb.build(staged(), target="cuda")
    a, b = map(torch.from_numpy, product)
    driver.calls.clear()
    c = kernel(a, b)
    assert not {"upload", "download"} & {*driver.calls}
    assert isinstance(c, torch.Tensor)
    assert torch.allclose(c, a @ b, atol=1e-3)
    out = torch.empty(100, 96)
    assert kernel(a, b.T.contiguous().T, out=out) is out, "strides that are not those of C order are copied"
    assert torch.allclose(out, a @ b, atol=1e-3)


def test_torch_takes_a_result_without_a_copy(driver: FakeDriver, product: tuple[np.ndarray, np.ndarray]) -> None:
    torch = pytest.importorskip("torch", reason="install torch: it takes results through DLPack")
    kernel = wb.build(staged(), target="cuda")
    c = kernel(*(on_device(x, driver) for x in product))
    taken = torch.from_dlpack(c)
    assert taken.data_ptr() == c.address
    expected = c.numpy()
    del c
    gc.collect()
    kernel(*(on_device(x, driver) for x in product))
    assert np.array_equal(taken.numpy(), expected), "the memory is not used again while torch has it"


def test_an_output_that_is_an_input_is_computed_apart(driver: FakeDriver) -> None:
    op = wb.operator("def blur(float(N) x) -> (y) { y(i) = x(i) + x(N - 1 - i) }")
    kernel = wb.build(bound(wb.schedule(op, N=50)), target="cuda")
    values = normal(50)
    x = on_device(values, driver)
    assert kernel(x, out=x) is x
    assert np.array_equal(x.numpy(), values + values[::-1])


def test_an_output_that_is_updated_starts_with_what_it_holds(driver: FakeDriver) -> None:
    op = wb.operator("def add(float(N) x) -> (y) { y(i) += x(i) }")
    kernel = wb.build(bound(wb.schedule(op, N=50)), target="cuda")
    x, y = normal(50), normal(50)
    there = on_device(y, driver)
    kernel(on_device(x, driver), out=there)
    assert np.array_equal(there.numpy(), y + x)
    assert np.array_equal(kernel(x, out=y.copy()), y + x)
    with pytest.raises(CallError, match=r"reads and updates y: give the array as out="):
        kernel(on_device(x, driver))


def test_sizes_that_the_arrays_tell_are_found_on_the_device(driver: FakeDriver) -> None:
    kernel = wb.build(symbolic_matmul(), target="cuda")
    for m, n, k in ((5, 7, 3), (1, 1, 1), (17, 33, 9)):
        a, b = normal(m, k), normal(k, n)
        assert np.allclose(kernel(on_device(a, driver), on_device(b, driver)).numpy(), a @ b, atol=1e-4)
        assert np.allclose(kernel(a, b), a @ b, atol=1e-4)


def test_an_index_out_of_range_is_reported_from_the_device(driver: FakeDriver) -> None:
    op = wb.operator("def pick(float(N) x, int32(M) j) -> (y) { y(i) = x(j(i)) where i in 0:M }")
    kernel = wb.build(bound(wb.schedule(op, N=9, M=20)), target="cuda")
    x, good = normal(9), RNG.integers(0, 9, 20).astype(np.int32)
    bad = np.where(np.arange(20) == 13, 9, good).astype(np.int32)
    assert np.array_equal(kernel(on_device(x, driver), on_device(good, driver)).numpy(), x[good])
    for arrays in ((x, bad), (on_device(x, driver), on_device(bad, driver))):
        with pytest.raises(KernelError, match="out of range"):
            kernel(*arrays)
    out = np.full(20, 7, np.float32)
    with pytest.raises(KernelError, match="nothing was written"):
        kernel(x, bad, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda a, b, d: (a, b.numpy()[:, :5]), r"B has shape \(80, 5\), expected \(80, 96\)"),
        (lambda a, b, d: (a, on_device(b.numpy().astype(np.float64), d)), "B has element type float64"),
        (lambda a, b, d: (a,), "missing B"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(driver: FakeDriver, product: tuple, wrong: object, said: str) -> None:
    kernel = wb.build(staged(), target="cuda")
    arrays = wrong(*(on_device(x, driver) for x in product), driver)  # type: ignore[operator]
    with pytest.raises(CallError, match=said):
        kernel(*arrays)


def test_an_output_of_the_host_does_not_fit_inputs_of_the_device(driver: FakeDriver, product: tuple) -> None:
    kernel = wb.build(staged(), target="cuda")
    with pytest.raises(CallError, match="the inputs lie on the GPU, out C does not"):
        kernel(*(on_device(x, driver) for x in product), out=np.empty((100, 96), np.float32))


def test_time_on_the_device_is_told_apart_from_that_of_the_call(driver: FakeDriver, product: tuple) -> None:
    kernel = wb.build(staged(), target="cuda")
    found = wb.measure(kernel, *product, seconds=0.02)
    assert found.device_seconds is not None
    assert "on the device" in str(found)
    assert found.gflops == pytest.approx(2e-9 * 100 * 96 * 80 / found.device_seconds)


def test_memory_is_used_again(driver: FakeDriver, product: tuple) -> None:
    kernel = wb.build(staged(), target="cuda")
    for _ in range(5):
        kernel(*product)
    blocks = len(driver.blocks)
    for _ in range(20):
        kernel(*product)
    assert len(driver.blocks) == blocks


def test_memory_that_nobody_uses_makes_room(product: tuple, compilers: object) -> None:
    small = FakeDriver(memory_bytes=200_000)
    first = DeviceArray(small, (150_000,), np.dtype(np.uint8))
    del first
    gc.collect()
    assert DeviceArray(small, (180_000,), np.dtype(np.uint8)).nbytes == 180_000
    assert "free" in small.calls


def test_a_driver_that_cannot_adopt_streams_waits(product: tuple, compilers: object) -> None:
    from workbench.runtime.gpu.building import build_on_gpu
    from workbench.runtime.gpu.device_call import DeviceCall
    from workbench.runtime.gpu.views import Library, library_of

    fake = FakeDriver(adopts=False)
    kernel = build_on_gpu(wb.generate(staged(), "cuda"), fake)
    arrays = tuple(on_device(x, fake) for x in product)
    theirs = library_of(arrays[0], fake)
    foreign = Library("other", lambda: 4711, theirs.empty)
    call = DeviceCall.__new__(DeviceCall)
    call._library = lambda values: foreign  # type: ignore[method-assign]
    with fake.entered():
        call.__init__(kernel, arrays, None, {})
        fake.calls.clear()
        assert np.allclose(call().numpy(), product[0] @ product[1], atol=1e-3)
    assert "synchronize" in fake.calls[fake.calls.index("launch") :]


@pytest.mark.parametrize(
    ("dtype", "bits", "stored"),
    [("float32", 0x3FF8000000000000, 1.5), ("float64", 0x3FF8000000000000, 1.5), ("int8", 2**64 - 3, 253),
     ("uint16", 65535, 65535), ("float16", 0x3C00, 0x3C00), ("bool", 1, 1), ("int64", 5, 5)],
)  # fmt: skip
def test_a_scalar_has_the_size_that_the_kernel_declares(dtype: str, bits: int, stored: float) -> None:
    found = scalar_value(wb.lang.dtypes.DTYPES[dtype], bits)
    assert (found.value, ctypes.sizeof(found)) == (stored, wb.lang.dtypes.DTYPES[dtype].bytes)


def test_a_kernel_that_does_not_fit_the_gpu_names_both(driver: FakeDriver) -> None:
    wide = wb.Target("h200")
    kernel = wb.generate(staged(), wide)
    assert wb.build(kernel).name == "matmul"
    small = FakeDriver(type(driver.device)("Fake T4", "7.5", 0, 40, 1024, 1024, 1 << 34, "13.0"))
    from workbench.runtime.gpu.building import build_on_gpu

    with pytest.raises(BuildError, match=r"made for cuda, needs [\d,]+ bytes of shared memory.*Fake T4 gives one"):
        build_on_gpu(wb.generate(staged(), "cuda"), small)
    small = FakeDriver(type(driver.device)("Fake T4", "7.5", 0, 40, 1024, 1 << 17, 1 << 34, "13.0"))
    with pytest.raises(BuildError, match=r"made for h200 \(sm_90\); this machine has Fake T4 \(sm_75"):
        build_on_gpu(kernel, small)
    assert build_on_gpu(wb.generate(staged(), "cuda"), small).loaded.architecture == "sm_75"
    assert max(launch.threads for launch in each_launch(kernel.launches)) == 256
