"""Arrays of other libraries go into a call and come out of it where they lie: no copies in either direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError
from workbench.export.wheel.front import _unpacked
from workbench.lang.dtypes import FLOAT32
from workbench.runtime.arrays.foreign import as_array

ADD = wb.operator("def add(float(N) A, float(N) B) -> (C) { C(i) = A(i) + B(i) }")


def address(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]


class Owner:
    """Somebody's array that has DLPack and nothing else."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array

    def __dlpack__(self, **asked: Any) -> Any:
        return self.array.__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OwnerWithoutVersions(Owner):
    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()


@pytest.mark.parametrize("kind", [Owner, OwnerWithoutVersions])
def test_an_object_with_dlpack_alone_is_read_and_written_where_it_lies(kind):
    A, B, C = np.arange(5, dtype=np.float32), np.ones(5, np.float32), np.zeros(5, np.float32)
    assert address(as_array(kind(A), FLOAT32, "A")) == address(A)
    np.testing.assert_array_equal(ADD(kind(A), kind(B), out=C), A + B)


def test_memory_that_may_be_written_to_is_said_so_by_versions_of_dlpack():
    A, C = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    out = Owner(C)
    assert ADD(A, A, out=out) is out
    np.testing.assert_array_equal(C, A + A)
    with pytest.raises(CallError, match="out C is read-only"):
        ADD(A, A, out=OwnerWithoutVersions(C))


def test_results_go_to_others_without_a_copy():
    C = ADD(np.arange(5, dtype=np.float32), np.ones(5, np.float32))
    again = np.from_dlpack(Owner(C))
    assert address(again) == address(C)
    assert C.__dlpack__(max_version=(1, 0)) is not None


def test_tensors_of_pytorch_are_read_and_written_where_they_lie():
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
    A, B = torch.arange(5.0), torch.ones(5)
    assert address(as_array(A, FLOAT32, "A")) == A.data_ptr()
    out = torch.zeros(5)
    assert ADD(A, B, out=out) is out
    assert torch.equal(out, A + B)
    C = ADD(A.numpy(), B.numpy())
    assert torch.from_dlpack(C).data_ptr() == address(C)
    assert torch.equal(ADD(A, B), A + B)


def test_arrays_of_jax_are_read_where_they_lie_and_may_take_the_result():
    jax = pytest.importorskip("jax", reason="install jax: JAX is not here")
    A, B = jax.numpy.arange(5.0), jax.numpy.ones(5)
    assert address(as_array(A, FLOAT32, "A")) == A.unsafe_buffer_pointer()
    C = ADD(A, B)
    np.testing.assert_array_equal(C, np.arange(5) + 1)
    np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(C)), C)
    with pytest.raises(CallError, match="out C is read-only"):
        ADD(A, B, out=jax.numpy.zeros(5))


def test_an_array_of_another_device_is_refused_in_words():
    class Elsewhere(Owner):
        def __dlpack__(self, **asked: Any) -> Any:
            capsule = self.array.__dlpack__(**asked)
            _unpacked(capsule)[0].device_type = 2
            return capsule

    with pytest.raises(CallError, match=r"argument A: a .*Elsewhere cannot be read as an array"):
        ADD(Elsewhere(np.ones(3, np.float32)), np.ones(3, np.float32))
