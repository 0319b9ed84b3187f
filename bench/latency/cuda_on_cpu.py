"""CUDA text executed on the processor; run in a fresh process, prints JSON.

    python -m bench.latency.cuda_on_cpu ROUNDS

A matmul of 256³ in tiles of 16 by 16 that go through shared memory with two buffers each: seconds of a call on two
workers, and of `wb.sanitize` for 32³, which compiles once and executes three times with a look at every access.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import workbench as wb
from workbench.schedules import Schedule

TILE = 16


def double_buffered(n: int) -> Schedule:
    """The schedule: blocks and threads over tiles of C, copies by all threads, two buffers for each operand."""
    s = wb.schedule(wb.ops.matmul, M=n, N=n, K=n) | wb.decompose_reduction("C")
    s |= wb.tile({"C/m": TILE, "C/n": TILE, "C/k": TILE}) | wb.tile({"C.init/m": TILE, "C.init/n": TILE})
    s |= wb.stage("A", "C/k_o") | wb.stage("B", "C/k_o") | wb.double_buffer("A_local") | wb.double_buffer("B_local")
    for statement in ("C.init", "C"):
        for dim, axis in (("m", "y"), ("n", "x")):
            s |= wb.bind(f"{statement}/{dim}_o", f"block.{axis}") | wb.bind(f"{statement}/{dim}_i", f"thread.{axis}")
    for statement, y, x in (("A_local.load", "m", "k"), ("B_local.load", "k", "n")):
        s |= wb.bind(f"{statement}/{y}", "thread.y") | wb.bind(f"{statement}/{x}", "thread.x")
    return s


def arrays(n: int) -> list[np.ndarray]:
    """Two reproducible matrices."""
    generator = np.random.default_rng(n)
    return [generator.standard_normal((n, n)).astype(np.float32) for _ in range(2)]


def executed(rounds: int) -> list[float]:
    """Seconds of each call; the first result is compared with the oracle."""
    kernel, (a, b) = wb.build(double_buffered(256), target="cuda-on-cpu", threads=2), arrays(256)
    if not (verdict := wb.verify(kernel, a, b)):
        raise SystemExit(str(verdict))
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        kernel(a, b)
        seconds.append(time.perf_counter() - start)
    return seconds


def sanitized() -> float:
    """Seconds until nothing is found."""
    schedule, (a, b) = double_buffered(32), arrays(32)
    start = time.perf_counter()
    found = wb.sanitize(schedule, a, b)
    seconds = time.perf_counter() - start
    if not found:
        raise SystemExit(str(found))
    return seconds


if __name__ == "__main__":
    print(json.dumps({"executed": executed(int(sys.argv[1])), "sanitized": [sanitized()]}))
