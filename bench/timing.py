"""How long a call takes: batches long enough for the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

BATCH_SECONDS = 1e-3
LEAST_BATCHES = 3


def batches(call: Callable[[], Any], seconds: float, warm_up_seconds: float = 0.0) -> tuple[list[float], int]:
    """(seconds of one call in each batch, calls in all), during about `seconds` after a warm-up."""
    size = _batch_size(call, warm_up_seconds)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < LEAST_BATCHES or time.perf_counter() < end:
        times.append(_elapsed(call, size) / size)
    return times, size * len(times)


def _batch_size(call: Callable[[], Any], warm_up_seconds: float) -> int:
    """Warm up, doubling the batch until the clock resolves it well."""
    size, end = 1, time.perf_counter() + warm_up_seconds
    while True:
        took = _elapsed(call, size)
        if took < BATCH_SECONDS:
            size *= 2
        elif time.perf_counter() >= end:
            return size


def _elapsed(call: Callable[[], Any], size: int) -> float:
    start = time.perf_counter()
    for _ in range(size):
        call()
    return time.perf_counter() - start
