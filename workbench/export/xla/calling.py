"""One call of our kernels in a traced program: shapes are checked, and XLA is told whom to call."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from workbench.export.xla.arguments import Static
from workbench.export.xla.kernels import Kernels
from workbench.export.xla.manual import made_varying, varying
from workbench.export.xla.shapes import known_results

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
        given = dict(zip(operands, arrays, strict=True))
        results = known_results(kernels, given, sizes)
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
