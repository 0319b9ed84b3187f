"""Sample arguments for any operator: arrays of the right shapes and types, indices in range.

Tests, benchmarks and examples draw their inputs from here, so that all of them mean the same data.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import CallError
from workbench.lang.expr import Cast, Expr, Read, reads
from workbench.lang.operator import For, Operator, Step, Tensor
from workbench.lang.oracle.exact import exact
from workbench.ops.catalogue import entry_of
from workbench.ops.entry import Sizes

Array = np.ndarray[Any, Any]
Interval = tuple[float, float]


def sample_arrays(op: Operator, /, seed: int = 0, **sizes: int) -> tuple[Any, ...]:
    """Arguments for a call, in the order of `op.parameters`: arrays, and integer scalars as ints.

    Floats are standard normal (or in the interval the library gives), integers small; an array whose
    values are subscripts stays inside what it indexes, and has distinct values if it is promised to be
    injective.
    """
    generator = np.random.default_rng(seed)
    return tuple(_argument(op, name, generator, sizes) for name in op.parameters)


def sample_out(op: Operator, /, seed: int = 1, **sizes: int) -> Any:
    """Initial contents for `out=`: an array, a tuple of them, or None when no output is read."""
    tensors = [op.tensors[name] for name in op.outputs]
    if all(tensor.role != "inout" for tensor in tensors):
        return None
    generator = np.random.default_rng(seed)
    arrays = tuple(_array(op, tensor, generator, sizes) for tensor in tensors)
    return arrays[0] if len(arrays) == 1 else arrays


def _argument(op: Operator, name: str, generator: np.random.Generator, sizes: Sizes) -> Any:
    if name not in op.scalars:
        return _array(op, op.tensors[name], generator, sizes)
    if name not in sizes:
        raise CallError(f"{op.name} needs a value for its integer scalar {name!r}: give {name}=...")
    return sizes[name]


def _array(op: Operator, tensor: Tensor, generator: np.random.Generator, sizes: Sizes) -> Array:
    shape = tuple(max(0, int(exact(e, sizes))) for e in tensor.extent)
    interval = _interval(op, tensor, sizes)
    if tensor.dtype.is_float:
        values = generator.uniform(*interval, shape) if interval else generator.standard_normal(shape)
        return np.asarray(values, np.float32 if tensor.dtype.is_half else None).astype(tensor.dtype.numpy)
    if tensor.dtype.kind == "bool":
        return generator.random(shape) < 0.5
    low, high = interval or _integers(tensor)
    if any(p.kind == "injective" and p.tensor == tensor.name for p in op.promises):
        return _distinct(generator, int(low), int(high), shape).astype(tensor.dtype.numpy)
    if high < low:
        low = high = 0
    return np.asarray(generator.integers(int(low), int(high), shape, endpoint=True)).astype(tensor.dtype.numpy)


def _integers(tensor: Tensor) -> Interval:
    """All values of an 8-bit type, small values of a wider one."""
    if tensor.dtype.bits == 8:
        info = np.iinfo(tensor.dtype.numpy)
        return info.min, info.max
    return (0, 100) if tensor.dtype.kind == "uint" else (-100, 100)


def _distinct(generator: np.random.Generator, low: int, high: int, shape: tuple[int, ...]) -> Array:
    count = int(np.prod(shape))
    if count > high - low + 1:
        raise CallError(f"{count} distinct values do not fit into {low}..{high}")
    return generator.permutation(high - low + 1)[:count].reshape(shape) + low


def _interval(op: Operator, tensor: Tensor, sizes: Sizes) -> Interval | None:
    """The interval (ends included) of a tensor's values, from the library, its promises and its uses."""
    entry = entry_of(op)
    if entry and tensor.name in entry.values:
        return entry.values[tensor.name]
    if not tensor.dtype.is_integral:
        return None
    bounds = [_promised(p.arguments, sizes) for p in op.promises if p.tensor == tensor.name and p.arguments]
    bounds += _used_as_subscript(op, tensor.name, sizes)
    return (max(low for low, _ in bounds), min(high for _, high in bounds)) if bounds else None


def _promised(arguments: tuple[Expr, ...], sizes: Sizes) -> Interval:
    low, high = (int(exact(a, sizes)) for a in arguments[-2:])
    return low, high - 1


def _used_as_subscript(op: Operator, name: str, sizes: Sizes) -> list[Interval]:
    bounds = []
    for tensor, subscripts in _accesses(op.body):
        owner = op.tensors[tensor]
        for subscript, lower, extent in zip(subscripts, owner.lower, owner.extent, strict=True):
            if _plain_read(subscript) == name:
                first = int(exact(lower, sizes))
                bounds.append((first, first + int(exact(extent, sizes)) - 1))
    return bounds


def _plain_read(subscript: Expr) -> str | None:
    match subscript:
        case Read(tensor, _, _):
            return tensor
        case Cast(operand, _):
            return _plain_read(operand)
        case _:
            return None


def _accesses(body: tuple[Step, ...]) -> list[tuple[str, tuple[Expr, ...]]]:
    found: list[tuple[str, tuple[Expr, ...]]] = []
    for step in body:
        if isinstance(step, For):
            found += _accesses(step.body)
            continue
        found += [(target.tensor, target.subscripts) for target in step.targets]
        found += [(read.tensor, read.subscripts) for read in reads(*step.values) if read.subscripts]
    return found
