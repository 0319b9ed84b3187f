"""Drivers without a GPU for the process that times candidates: one works, others break as a GPU may."""

from __future__ import annotations

import os
import time
from typing import Any

from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.runtime.gpu.drivers.driver import DriverError

LARGE = 128
"""Threads of a block that the bad drivers do not stand."""


class Faulting(FakeDriver):
    """Large blocks touch an illegal address, after which the context does nothing more."""

    broken = False

    def _called(self, name: str, *streams: int) -> None:
        super()._called(name, *streams)
        if self.broken:
            raise DriverError("CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered", name)

    def launch(self, function: Any, grid: Any, block: Any, shared_bytes: int, stream: int, values: Any) -> None:
        self.broken = self.broken or block[0] * block[1] * block[2] > LARGE
        super().launch(function, grid, block, shared_bytes, stream, values)


class Hanging(FakeDriver):
    """Large blocks never end."""

    def launch(self, function: Any, grid: Any, block: Any, shared_bytes: int, stream: int, values: Any) -> None:
        while block[0] * block[1] * block[2] > LARGE:
            time.sleep(0.1)
        super().launch(function, grid, block, shared_bytes, stream, values)


class Ending(FakeDriver):
    """Opening it ends the process."""

    def __init__(self) -> None:
        os._exit(3)


class Lazy(FakeDriver):
    """Large blocks compute nothing."""

    def launch(self, function: Any, grid: Any, block: Any, shared_bytes: int, stream: int, values: Any) -> None:
        if block[0] * block[1] * block[2] <= LARGE:
            super().launch(function, grid, block, shared_bytes, stream, values)
