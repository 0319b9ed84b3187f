"""Thirteen operators, each scheduled by a recipe for GPUs, at sizes that a watched run takes no time for."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

import workbench as wb
from workbench.schedules import Schedule
from workbench.schedules.recipes.gpu import products as gpu_products

PAIRS: dict[str, dict[str, int]] = {
    "matmul": {"M": 64, "N": 64, "K": 64},
    "matmul_bf16": {"M": 64, "N": 64, "K": 128},
    "batched_matmul": {"B": 2, "M": 32, "N": 40, "K": 24},
    "conv2d": {"N": 1, "C": 4, "H": 6, "W": 34, "F": 32, "KH": 3, "KW": 3, "stride": 1, "pad": 0, "dilation": 1},
    "transpose": {"M": 50, "N": 70},
    "softmax": {"M": 33, "N": 300},
    "layer_norm": {"M": 33, "N": 300},
    "dot": {"N": 9000},
    "argmax": {"M": 40, "N": 60},
    "bias_relu": {"M": 5, "N": 300},
    "cumsum": {"M": 300, "N": 9},
    "jacobi_2d": {"N": 20, "M": 140, "steps": 3},
    "embedding_gradient": {"N": 50, "D": 20, "V": 9},
}
"""Operator → sizes: products, one of them on tensor cores, a transposition, rows, grids, a scan, time steps, updates
where data say."""


@cache
def recipe_schedule(name: str) -> Schedule:
    """The schedule that a recipe gives to an operator of the table; products are blocked though they are small."""
    with patch.object(gpu_products, "WORK", 1):
        return wb.autoschedule(wb.ops.load(name), "h200", sizes=PAIRS[name])
