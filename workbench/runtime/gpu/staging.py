"""Copies between NumPy's memory and the GPU's through page-locked buffers, two in turn.

While one buffer is on its way, the other is filled: the copy in the host's memory hides behind the one over the bus.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from workbench.runtime.gpu.drivers.driver import Bytes, Driver
from workbench.runtime.host.locks import Lock

PIECE_BYTES = 4 << 20


class Staging:
    """Two page-locked buffers of a driver, and for each the event after which it may be used again."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.buffers = tuple(driver.pinned(PIECE_BYTES) for _ in range(2))
        self.events: tuple[Any, ...] = tuple(driver.event() for _ in range(2))
        self.busy = [False, False]
        self.lock = Lock()

    def begun(self, which: int) -> None:
        """A copy from or to a buffer is under way on the driver's stream."""
        self.driver.record(self.events[which], self.driver.stream)
        self.busy[which] = True

    def ended(self, which: int) -> Bytes:
        """The buffer, once its copy has ended."""
        if self.busy[which]:
            self.driver.reached(self.events[which])
            self.busy[which] = False
        return self.buffers[which]


_stagings: WeakKeyDictionary[Driver, Staging] = WeakKeyDictionary()
_making = Lock()


def _staging(driver: Driver) -> Staging:
    with _making:
        if driver not in _stagings:
            _stagings[driver] = Staging(driver)
        return _stagings[driver]


def upload(driver: Driver, to: int, source: Bytes) -> None:
    """Copy bytes of the host to the device, in order with the driver's own stream; `source` may change afterwards."""
    staging = _staging(driver)
    with staging.lock:
        for turn, start in enumerate(range(0, source.nbytes, PIECE_BYTES)):
            piece = source[start : start + PIECE_BYTES]
            buffer = staging.ended(turn % 2)[: piece.nbytes]
            buffer[...] = piece
            driver.upload(to + start, buffer, driver.stream)
            staging.begun(turn % 2)


def download(driver: Driver, to: Bytes, source: int) -> None:
    """Copy bytes of the device to the host, after all work of the driver's own stream; they are there at the end."""
    staging = _staging(driver)
    starts = [*range(0, to.nbytes, PIECE_BYTES)]
    with staging.lock:
        for turn, start in enumerate(starts):
            buffer = staging.ended(turn % 2)[: to.nbytes - start]
            driver.download(buffer, source + start, driver.stream)
            staging.begun(turn % 2)
            if turn:
                _take(staging, to, starts[turn - 1], (turn - 1) % 2)
        if starts:
            _take(staging, to, starts[-1], (len(starts) - 1) % 2)


def _take(staging: Staging, to: Bytes, start: int, which: int) -> None:
    piece = to[start : start + PIECE_BYTES]
    piece[...] = staging.ended(which)[: piece.nbytes]
