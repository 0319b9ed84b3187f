"""Twelve operators, each scheduled by a recipe for GPUs, at sizes that leave something over."""

from __future__ import annotations

import workbench as wb
from workbench.schedules import Schedule

PAIRS: dict[str, dict[str, int]] = {
    "matmul": {"M": 128, "N": 160, "K": 64},
    "batched_matmul": {"B": 2, "M": 96, "N": 128, "K": 48},
    "conv2d": {"N": 1, "C": 8, "H": 18, "W": 34, "F": 32, "KH": 3, "KW": 3, "stride": 1, "pad": 0, "dilation": 1},
    "transpose": {"M": 50, "N": 70},
    "softmax": {"M": 40, "N": 600},
    "layer_norm": {"M": 40, "N": 300},
    "dot": {"N": 9000},
    "argmax": {"M": 40, "N": 60},
    "bias_relu": {"M": 20, "N": 132},
    "cumsum": {"M": 300, "N": 9},
    "jacobi_2d": {"N": 130, "M": 140, "steps": 3},
    "embedding_gradient": {"N": 50, "D": 20, "V": 9},
}
"""Operator → sizes: three products, a transposition, three of rows, grids, a scan, time steps, updates where data say."""


def recipe_schedule(name: str) -> Schedule:
    """The schedule that a recipe gives to an operator of the table."""
    return wb.autoschedule(wb.ops.load(name), "h200", sizes=PAIRS[name])
