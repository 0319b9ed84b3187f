"""Copies of memory: what a memory-bound operator is held against."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from bench.placing import empty_like, placed

Array = np.ndarray[Any, Any]


def copies(count: int, threads: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Two functions that copy `count` bytes with so many threads: into fresh memory, and into the same again."""
    source = placed(np.ones(count, np.uint8))
    kept = empty_like(source)
    copy_into = _copier(source, threads)
    return lambda: copy_into(empty_like(source)), lambda: copy_into(kept)


def _copier(source: Array, threads: int) -> Callable[[Array], Array]:
    """NumPy releases the interpreter's lock while it copies, so threads of Python share the work."""
    if threads == 1 or source.size < threads:
        return lambda out: np.copyto(out, source) or out
    bounds = [source.size * n // threads for n in range(threads + 1)]
    parts = [slice(a, b) for a, b in pairwise(bounds)]
    pool = ThreadPoolExecutor(threads - 1)

    def copy_into(out: Array) -> Array:
        waiting = [pool.submit(np.copyto, out[part], source[part]) for part in parts[1:]]
        np.copyto(out[parts[0]], source[parts[0]])
        for done in waiting:
            done.result()
        return out

    return copy_into
