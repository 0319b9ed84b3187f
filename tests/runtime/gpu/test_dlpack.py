"""DLPack both ways, with versions and without: memory is shared, flags are kept, producers get theirs back."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.errors import CallError
from workbench.runtime.gpu.dlpack import Imported, capsule_of, exported
from workbench.runtime.gpu.memory import DeviceArray, on_device


class Old:
    """A producer that knows no versions."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack__(self, *, stream: int | None = None) -> object:
        return self.array.__dlpack__()


@pytest.fixture
def numbers(driver: FakeDriver) -> DeviceArray:
    return on_device(np.arange(6, dtype=np.int16).reshape(2, 3), driver)


@pytest.mark.parametrize("version", [None, (0, 8), (1, 0), (1, 3)])
def test_an_array_of_ours_is_anothers_without_a_copy(numbers: DeviceArray, version: tuple[int, int] | None) -> None:
    found = Imported(numbers.__dlpack__(max_version=version))
    assert (found.address, found.shape, found.strides) == (numbers.address, (2, 3), (6, 2))
    assert (found.dtype, found.read_only) == (np.int16, False)


def test_numpy_takes_it(numbers: DeviceArray) -> None:
    taken = np.from_dlpack(numbers)
    assert taken.ctypes.data == numbers.address
    assert taken.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("versioned", [False, True])
def test_what_nobody_took_is_given_back(versioned: bool) -> None:
    class Owner:
        pass

    owner = Owner()
    gone = weakref.ref(owner)
    capsule = exported(owner, 64, (3,), np.dtype(np.float32), (1, 0), versioned=versioned)
    found = Imported(capsule)
    again = exported(owner, 64, (3,), np.dtype(np.float32), (1, 0), versioned=versioned)
    del owner, capsule
    gc.collect()
    assert gone() is not None
    del found, again
    gc.collect()
    assert gone() is None


def test_an_array_that_may_not_be_written_to_says_so() -> None:
    array = np.arange(3.0)
    assert not Imported(capsule_of(array, None)).read_only
    array.flags.writeable = False
    found = Imported(capsule_of(array, None))
    assert (found.read_only, found.address) == (True, array.ctypes.data)


def test_a_producer_without_versions_serves_too() -> None:
    array = np.arange(4.0)
    assert Imported(capsule_of(Old(array), 77)).address == array.ctypes.data


def test_a_capsule_is_taken_once(numbers: DeviceArray) -> None:
    for version in (None, (1, 0)):
        capsule = numbers.__dlpack__(max_version=version)
        kept = Imported(capsule)
        with pytest.raises(CallError, match="was used before"):
            Imported(capsule)
        assert kept.shape == (2, 3)


def test_a_copy_and_another_device(numbers: DeviceArray) -> None:
    copy = Imported(numbers.__dlpack__(max_version=(1, 0), copy=True))
    assert copy.address != numbers.address
    with pytest.raises(BufferError, match=r"lies on device \(1, 0\), not \(2, 0\)"):
        numbers.__dlpack__(dl_device=(2, 0))
