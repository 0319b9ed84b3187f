"""What a call has to give, and how far what a kernel gave is from it: the process that times kernels loads no more."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench.records import record
from workbench.runtime.host.machine import thread_count

Array = np.ndarray[Any, Any]

PIECE, SEVERAL = 1 << 15, 64
"""Cells that are compared at a time, so that all that is computed of them stays in a cache, and pieces that threads
share.
"""


@record(slots=True, repr=False)
class Verification:
    """The largest difference between a kernel and the oracle, beside the bound at that cell.

    `error` and `bound` belong to the cell `place` of `output`, where the error is the largest part of its
    bound. `derived` says that the bound was derived from the operator's text; else it is an estimate.
    """

    error: float
    bound: float
    ok: bool
    output: str
    place: tuple[int, ...]
    derived: bool

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        kind = "bound" if self.derived else "estimated bound"
        verdict = "agrees with the oracle" if self.ok else "DIFFERS from the oracle"
        where = f"{self.output}{list(self.place)}" if self.output else "no cell"
        return f"{verdict}: error {self.error:.3g}, {kind} {self.bound:.3g} (largest share at {where})"

    def __repr__(self) -> str:
        return str(self)


@record(slots=True, eq=False)
class Expected:
    """What a call has to give: the oracle's results for each output, and how far off each of their cells may be."""

    names: tuple[str, ...]
    results: tuple[Array, ...]
    bounds: tuple[Array, ...]
    derived: bool

    def judged(self, computed: Iterable[Array]) -> Verification:
        """The largest difference of results that a kernel computed."""
        triples = zip(computed, self.results, self.bounds, strict=True)
        shares = [_compare(*triple) for triple in triples]
        worst = max(range(len(shares)), key=lambda n: shares[n][0])
        share, error, bound, place = shares[worst]
        return Verification(error, bound, share <= 1, self.names[worst], place, self.derived)


def _compare(computed: Array, exact: Array, bound: Array) -> tuple[float, float, float, tuple[int, ...]]:
    """(share of the bound, error, bound, place) at the cell where the error is the largest share of its bound."""
    if exact.size == 0:
        return 0.0, 0.0, 0.0, ()
    flat = [np.ascontiguousarray(x).reshape(-1) for x in (computed, exact, np.broadcast_to(bound, exact.shape))]
    parts = [slice(start, start + PIECE) for start in range(0, exact.size, PIECE)]

    def worst(part: slice) -> tuple[float, float, int]:
        share, error, place = _worst(*(x[part] for x in flat))
        return share, error, part.start + place

    if len(parts) < SEVERAL:
        found = list(map(worst, parts))
    else:
        with ThreadPoolExecutor(thread_count()) as pool:
            found = list(pool.map(worst, parts))
    share, error, place = max(found, key=lambda one: one[0])
    return share, error, float(flat[2][place]), tuple(map(int, np.unravel_index(place, exact.shape)))


def _worst(computed: Array, exact: Array, bound: Array) -> tuple[float, float, int]:
    """(share of the bound, error, place) in a piece."""
    wide = np.int64 if exact.dtype.kind in "biu" else np.float64
    with np.errstate(all="ignore"):
        a, b = computed.astype(wide), exact.astype(wide)
        error = abs((a - b).astype(np.float64))
        same = (a == b) | ((a != a) & (b != b))
        error = np.where(same, 0.0, np.where(np.isnan(error), np.inf, error))
        share = np.where(same, 0.0, np.where(bound > 0, error / bound, np.inf))
        share = np.where(np.isnan(share), 0.0, share)
    place = int(np.argmax(share))
    return float(share[place]), float(error[place]), place
