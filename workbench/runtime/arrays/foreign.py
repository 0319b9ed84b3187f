"""Anything that holds an array, as a NumPy array without a copy where that is possible."""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.binding.types import refuse_masked
from workbench.lang.dtypes import BFLOAT16, DType

Array = np.ndarray[Any, Any]


def as_array(value: object, dtype: DType, name: str) -> Array:
    """`value` as a NumPy array: arrays of any library (`__array__`, buffers, DLPack), numbers and lists.

    Python numbers and lists take the element type `dtype` if no fraction is lost to an integer; arrays keep
    theirs.  Raises CallError naming the argument `name`.
    """
    if isinstance(value, np.ndarray):
        refuse_masked(value, f"argument {name}")
        return value
    if isinstance(value, bool | int | float | list | tuple):
        return _from_python(value, dtype, name)
    if is_tensor(value) and getattr(value, "requires_grad", False):
        raise CallError(
            f"argument {name} requires a gradient, which a kernel does not know of: give {name}.detach(), "
            "or call wb.export.torch(operator), an operator of PyTorch that has its gradient"
        )
    try:
        array = _converted(value)
    except Exception as reason:  # whatever another library's conversion raises
        raise CallError(_unreadable(value, name, reason)) from reason
    if array.dtype.kind not in "biufcV":
        raise CallError(_unreadable(value, name, f"{array.dtype} is no type of numbers"))
    return array


def as_output(value: object, name: str) -> Array:
    """The memory of `value` as a writable NumPy array; CallError if writing would go to a copy."""
    if not isinstance(value, np.ndarray):
        if isinstance(value, bool | int | float | list | tuple | np.generic):
            raise CallError(f"out {name}: {_kind(value)} cannot be written to; give an array")
        array, again = as_array(value, BFLOAT16, name), as_array(value, BFLOAT16, name)
        if array.__array_interface__["data"][0] != again.__array_interface__["data"][0]:
            raise CallError(f"out {name}: {_kind(value)} only gives copies of its memory; give a NumPy array")
        value = array
    refuse_masked(value, f"out {name}")
    if not value.flags.writeable:
        raise CallError(f"out {name} is read-only; give a writable array")
    return value


def _converted(value: Any) -> Array:
    """Through whatever protocol the object has; PyTorch has none for bfloat16, whose bits are viewed."""
    if is_tensor(value):
        torch = sys.modules["torch"]
        if value.dtype == torch.bfloat16:
            return value.view(torch.int16).numpy().view(BFLOAT16.numpy)
        return value.numpy()
    readable = hasattr(value, "__array__") or hasattr(value, "__array_interface__")
    if hasattr(value, "__dlpack__") and not readable:
        return np.from_dlpack(value)
    return np.asarray(value)


def is_tensor(value: object) -> bool:
    """Whether it is a tensor of PyTorch, which is asked only where PyTorch is loaded."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def like_given(results: Any, arrays: Iterable[object]) -> Any:
    """Results as tensors of PyTorch over the same memory where an argument is one, else as they are."""
    if not any(map(is_tensor, arrays)):
        return results
    if isinstance(results, tuple):
        return tuple(map(_as_tensor, results))
    return _as_tensor(results)


def _as_tensor(array: Any) -> Any:
    """A NumPy array as a tensor; PyTorch knows no bfloat16 of NumPy, whose bits are viewed."""
    if not isinstance(array, np.ndarray):
        return array
    torch = sys.modules["torch"]
    if array.dtype == BFLOAT16.numpy:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _from_python(value: object, dtype: DType, name: str) -> Array:
    """A Python number or nested list in the element type."""
    try:
        found = np.asarray(value)
    except ValueError as reason:
        raise CallError(f"argument {name}: the lists are not of equal lengths") from reason
    wanted = dtype.numpy
    if found.size == 0:
        return found.astype(wanted)
    kinds = {"bool": "b", "uint": "iu", "int": "iu", "float": "iufb"}[dtype.kind]
    if found.dtype.kind not in kinds:
        raise CallError(f"argument {name}: {reprlib.repr(value)} is not {dtype.name}")
    if dtype.is_integral and (found.min() < np.iinfo(wanted).min or found.max() > np.iinfo(wanted).max):
        raise CallError(f"argument {name}: {reprlib.repr(value)} is outside the range of {dtype.name}")
    return found.astype(wanted)


def _unreadable(value: object, name: str, reason: object) -> str:
    return f"argument {name}: {_kind(value)} cannot be read as an array: {reason}"


def _kind(value: object) -> str:
    return f"a {type(value).__module__}.{type(value).__qualname__}".replace("builtins.", "")


def several(out: Any) -> tuple[Any, ...]:
    """What stands for several results, or for the only one, as a tuple."""
    return tuple(out) if isinstance(out, tuple | list) else (out,)


def is_readable_by_c(array: Array) -> bool:
    """Whether C can read it where it lies: native byte order, aligned, strides of whole elements."""
    if not (array.dtype.isnative and array.flags.aligned):
        return False
    return array.flags.c_contiguous or not any(step % array.itemsize for step in array.strides)


def plain_copy(array: Array) -> Array:
    """A copy that is plain."""
    return np.array(array, array.dtype.newbyteorder("="), order="C")
