"""Tensors of PyTorch as arrays and back, over the same memory; PyTorch is not imported for it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.dtypes import BFLOAT16


def from_torch(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
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
