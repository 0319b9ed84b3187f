"""One call of our kernels in a traced program: shapes are checked, and XLA is told whom to call."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import max_dim

from workbench.errors import CallError
from workbench.export.dispatch import placeholder, result_shapes
from workbench.export.xla.arguments import Static
from workbench.export.xla.kernels import Kernels
from workbench.export.xla.manual import made_varying, varying

Arrays = tuple[jax.Array, ...]
Traced = Callable[..., Arrays]
_LINE_BYTES = 64


def calling(kernels: Kernels, static: Static) -> Traced:
    """The function of arrays that calls the kernels; TypeError or ValueError where it is traced with wrong ones."""
    op, operands, sizes = kernels.family.op, kernels.operands, dict(static)
    aliases = {operands.index(o): n for n, o in enumerate(op.outputs) if o in kernels.family.updated}
    known = [sizes.get(n, 0) for n in kernels.family.symbols]
    attributes: dict[str, Any] = {"definition": np.int64(kernels.definition), "threads": np.int64(_processors())}
    if static:
        attributes["sizes"] = np.array(known, np.int64)

    def call(*arrays: jax.Array) -> Arrays:
        results = _results(kernels, dict(zip(operands, arrays, strict=True)), sizes)
        scratch = _scratch(kernels, arrays, results, known)
        ffi = jax.ffi.ffi_call(kernels.target, [*results, *scratch], vmap_method="sequential",
                               input_output_aliases=aliases)  # fmt: skip
        made = ffi(*arrays, **attributes)[: len(results)]
        return tuple(made_varying(made, varying(arrays)))

    return call


def _scratch(
    kernels: Kernels, arrays: Sequence[jax.Array], results: Sequence[Any], sizes: Sequence[int]
) -> list[jax.ShapeDtypeStruct]:
    """A result more that nobody reads: in programs for a processor XLA plans memory for nothing else."""
    shapes = [a.shape for a in (*arrays, *results)]
    if not all(isinstance(extent, int) for shape in shapes for extent in shape):
        return []
    bytes_taken = kernels.workspace_bytes(shapes, sizes, _processors())
    return [jax.ShapeDtypeStruct((_rounded(bytes_taken),), np.uint8)] if bytes_taken > 0 else []


def _rounded(count: int) -> int:
    """Kernels take memory that begins and ends at a cache line."""
    return -(-count // _LINE_BYTES) * _LINE_BYTES


def _processors() -> int:
    """As many threads as XLA computes with."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _results(
    kernels: Kernels, arrays: Mapping[str, jax.Array], static: Mapping[str, int]
) -> Sequence[jax.ShapeDtypeStruct]:
    op = kernels.family.op
    names = (*op.parameters, *kernels.family.updated)
    given = [static[n] if n in static else _shaped(kernels, n, arrays[n]) for n in names]
    named = {n: v for n, v in static.items() if n not in op.parameters}
    try:
        own, shapes = result_shapes(kernels.family, given, named, _non_negative)
    except CallError as error:
        alike = all(arrays[n].dtype == op.tensors[n].dtype.numpy for n in arrays)
        raise (ValueError if alike else TypeError)(str(error)) from None
    types = [own.tensors[n].dtype.numpy for n in op.outputs]
    return [jax.ShapeDtypeStruct(tuple(s), t) for s, t in zip(shapes, types, strict=True)]


def _shaped(kernels: Kernels, name: str, array: jax.Array) -> Any:
    """What is known of an argument while tracing: of a number nothing, so any stands for it."""
    tensor = kernels.family.op.tensors[name]
    if tensor.rank or name in kernels.family.updated:
        return array
    if array.ndim or array.dtype != tensor.dtype.numpy:
        found = f"{array.dtype} of shape {array.shape}" if array.ndim else array.dtype
        kind = ValueError if array.ndim else TypeError
        raise kind(f"{kernels.family.op.name}: {name} expected a number of type {tensor.dtype.name} but found {found}")
    return placeholder(tensor.dtype.kind)


def _non_negative(extent: Any) -> Any:
    return max(extent, 0) if isinstance(extent, int) else max_dim(extent, 0)
