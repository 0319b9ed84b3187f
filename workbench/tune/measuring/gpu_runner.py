"""Candidates on this machine's GPU: compiled by several processes at once, checked and timed by one that owns the GPU.

A candidate that crashes (an illegal address ends a context for good) or hangs ends that process, and the next one meets
a new one.  Two studies take turns: a lock of the machine is held while something is timed.
"""

from __future__ import annotations

from workbench.tune.measuring.local_runner import LocalRunner

TIMING = "workbench.tune.measuring.gpu_timing:answer"


class GpuRunner(LocalRunner):
    """Builds with `builders` processes (by default one a core of the processor) and times on the GPU."""

    timing = TIMING
    bounded = False  # CUDA reserves more addresses than a machine has memory
