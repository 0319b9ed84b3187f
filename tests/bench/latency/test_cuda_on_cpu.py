"""What is measured of CUDA text on the processor is a right product in shared memory."""

from __future__ import annotations

import workbench as wb
from bench.latency.cuda_on_cpu import arrays, double_buffered


def test_the_measured_kernel_is_staged_double_buffered_and_right():
    kernel = wb.build(double_buffered(48), target="cuda-on-cpu")
    assert "__shared__ float A_local[512]" in kernel.source
    assert wb.verify(kernel, *arrays(48))
