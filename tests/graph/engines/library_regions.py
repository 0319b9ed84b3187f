"""Each operator of the library as a model of one call, with arguments of small sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.small_sizes import small_sizes
from workbench.graph.evaluation.operators import inputs_of
from workbench.lang.oracle.exact import exact


def one_call(name: str, element: str = "float32") -> tuple[wb.Model, tuple[Any, ...]]:
    """A model that calls an operator of the library once, and arguments; whole numbers are subscripts in range."""
    op = wb.ops.load(name)
    if op.generic:
        op = op.astype(element)
    sizes = small_sizes(op)
    random = np.random.default_rng(0)
    builder = wb.graph.Builder()
    parameters, arrays = [], []
    names = [*inputs_of(op), *(o for o in op.outputs if op.tensors[o].role == "inout")]
    for each in names:
        tensor = op.tensors[each]
        shape = tuple(max(0, int(exact(extent, sizes))) for extent in tensor.extent)
        array = random.uniform(0.2, 1.0, shape) if tensor.dtype.is_float else random.integers(0, 2, shape)
        arrays.append(np.asarray(array).astype(tensor.dtype.numpy))
        dims = f"[{', '.join(map(str, shape))}]" if shape else ""
        parameters.append(builder.parameter(each, f"{tensor.dtype.name}{dims}"))
    given = {n: sizes[n] for n in (*op.scalars, *op.size_names) if n in op.scalars or not _told(op, n)}
    return builder.model(builder.call(op, *parameters, **given)), tuple(arrays)


def _told(op: wb.Operator, size: str) -> bool:
    """Whether the shape of an argument tells a size by itself."""
    from workbench.graph.typing.signatures import signature

    return size in signature(op).told
