"""Four programs of different shapes that the tests of the panel look at."""

from __future__ import annotations

import workbench as wb

SCHEDULES = {
    "matmul": "wb.schedule(wb.ops.matmul, M=96, N=80, K=64)",
    "triangular": "wb.schedule(wb.ops.trmm)",
    "stencil": "wb.schedule(wb.ops.seidel_2d)",
    "convolution": "wb.schedule(wb.ops.conv2d, stride=1, pad=1, dilation=1)",
}


def schedule(name: str) -> wb.Schedule:
    """One of the four."""
    return eval(SCHEDULES[name], {"wb": wb})
