"""Register tiles of a direct convolution: some pixels of a row times some vectors of filters, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.target import Target

HIGHEST = 14
"""Pixels of a tile at most, as many as registers hold."""

EXPOSED_LATENCY = 1.375
"""Times the multiply-adds in flight that a step of the reduction takes at least: where so few sums are computed that
they wait for their own last values, no others stand by when one of them is late.  (Registers of 512 bits, on a Zen 4;
those of 256 on a Zen 3 compute as many as are in flight without a pause.)"""

TAPS = 8
"""Steps of the innermost sum that compilers write out at most: pixels that two of them share have registers."""

STEP = 1 / 3
"""The part of a loop's turn that a step of the reduction costs however much it computes: the rest of it runs beside the
multiply-adds."""

LOADS = 2
"""Loads that begin in a cycle, of a pixel for all lanes or of filters."""

STREAM = 0.3
"""The part of the second cache's rate that is left while registers compute, and read the first cache for it.  (The
same: to a Zen 3 with its narrower registers it makes no difference which cache filters come from.)"""


def slots(tile: tuple[int, int], pixels: int, panel: int, target: Target, *, taps: bool = False) -> float:
    """Slots of multiply-adds that a step of the reduction takes for a pixel and a vector of filters.

    `panel` is the memory that a vector of filters takes, in bytes; `taps`: the innermost sum is over a few.
    """
    (height, vectors), costs, size = tile, target.costs, target.vector_bits // 8
    exposed, rate = (1.0, 1.0) if _spare(target, taps) else (EXPOSED_LATENCY, STREAM)
    latency, cycle = exposed * costs.multiply_adds_in_flight, costs.multiply_adds_a_cycle
    turn = STEP * costs.loop_turn_seconds / costs.multiply_add_seconds
    stream = size / (rate * costs.l2_bytes_per_second * costs.multiply_add_seconds)
    streamed = vectors * stream if vectors * panel > target.cache_bytes[0] else 0.0

    def step(rows: int) -> float:
        return max(rows * vectors, (rows + vectors) / LOADS * cycle, latency, streamed) + turn if rows else 0.0

    # With registers of 512 bits tiles that divide the pixels are known to be good: there a rest counts one by one.
    rest = step(pixels % height) if _few(target) else pixels % height * step(1)
    return (pixels // height * step(height) + rest) / (pixels * vectors)


def tiles_of(
    pixels: int, filters: int, target: Target, most: int = HIGHEST, *, taps: bool = False
) -> Iterator[tuple[int, int]]:
    """Tiles whose sums stay in registers beside the vectors that are multiplied.

    Where there are few registers, compilers load a pixel for each row before they multiply by one vector alone, or by
    those of several taps; of four vectors they read one from memory again.
    """
    lanes, registers, few = target.lanes(32), target.vector_registers, _few(target)
    for vectors in (1, 2, 3, 4) if _spare(target, taps) else (1, 2, 3):
        for height in range(1, min(pixels, most) + 1):
            loaded = height if few and (vectors == 1 or taps) else 1
            used = height * vectors + min(vectors, 3) + loaded
            fits = used <= registers + (int(loaded > 1) if few else -3)
            if fits and (vectors == 1 or filters % (vectors * lanes) == 0):
                yield height, vectors


def _spare(target: Target, taps: bool) -> bool:
    """Whether registers of 256 bits multiply by one pixel after another: what is loaded for them costs nothing."""
    return _few(target) and not taps


def _few(target: Target) -> bool:
    return target.vector_registers <= 16
