"""What exports to frameworks are tested with: operators of the library at small sizes, and one that everybody knows."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.small_sizes import small_sizes
from workbench.errors import LoweringError
from workbench.export.dispatch import family_of

MATMUL = "def {name}(float(M,K) A, float(K,N) B) -> (C) {{ C(m,n) +=! A(m,k) * B(k,n) }}"
SAMPLED = (
    "matmul", "gemm", "dot", "outer", "three_matmuls", "lu", "conv1d", "conv2d", "conv_transpose2d", "max_pool2d",
    "softmax", "online_softmax", "layer_norm", "batch_norm", "bias_gelu", "adam", "cross_entropy", "attention",
    "lstm_cell", "cumsum", "embedding", "permute_rows", "segment_sum", "argmax", "top_k", "matmul_bf16", "quantise",
    "seidel_2d", "concat", "roll",
)  # fmt: skip


def small(name: str) -> tuple[wb.Operator, dict[str, int]]:
    """An operator of the library, and its small sizes."""
    op = wb.ops.load(name)
    return op, small_sizes(op)


def with_scalars(op: wb.Operator, sizes: dict[str, int]) -> Any:
    """What is exported of an operator: scalars that have to be known are those of the sizes."""
    try:
        family_of(op)
    except LoweringError:
        return wb.schedule(op, {n: sizes[n] for n in op.scalars})
    return op


def whole(*shape: int) -> np.ndarray[Any, Any]:
    """Floats that are whole numbers: sums of their products have no error."""
    return np.random.default_rng(sum(shape)).integers(-4, 5, shape).astype(np.float32)
