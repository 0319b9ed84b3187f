"""Tensors of PyTorch as arrays and back, over the same memory; PyTorch is not imported for it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import BFLOAT16

ALIGNMENT = 8
"""Addresses of numbers of any type are multiples of it, or the tensor is copied."""


def arrays_from_torch(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
    """Arguments with arrays in the place of tensors, and whether there was any tensor."""
    torch = sys.modules.get("torch")
    if torch is None:
        return values, False
    found = tuple(_array(torch, value) for value in values)
    return found, any(a is not b for a, b in zip(values, found, strict=True))


def _array(torch: Any, value: Any) -> Any:
    if isinstance(value, list | tuple):
        inner = [_array(torch, each) for each in value]
        return value if all(a is b for a, b in zip(value, inner, strict=True)) else type(value)(inner)
    if not isinstance(value, torch.Tensor):
        return value
    if value.device.type != "cpu":
        raise CallError(f"a tensor is on {value.device}, and the model is built for the processor: .cpu()")
    plain = value.detach().resolve_conj().resolve_neg()
    if plain.dtype == torch.bfloat16:
        return plain.view(torch.int16).numpy().view(BFLOAT16.numpy)
    return plain.numpy()


def address_of(tensor: Any) -> int:
    """Where a dense tensor in this machine's memory begins; 0 for one that an array must be made of first."""
    torch = sys.modules["torch"]
    try:
        plain = type(tensor) is torch.Tensor and tensor.is_cpu and tensor.is_contiguous()
        address = tensor.data_ptr() if plain and not (tensor.is_neg() or tensor.is_conj()) else 0
    except (RuntimeError, NotImplementedError):  # tensors without memory: sparse, wrapped, on "meta"
        return 0
    return 0 if address % ALIGNMENT else address


def to_torch(value: Any) -> Any:
    """The arrays in a result as tensors."""
    torch = sys.modules["torch"]
    if isinstance(value, tuple):
        return tuple(map(to_torch, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == BFLOAT16.numpy:
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)
