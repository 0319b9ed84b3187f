"""A driver without a GPU for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.gpu.fake_driver import FakeDriver
from workbench.runtime.gpu.drivers.choosing import use_driver


@pytest.fixture
def driver(compilers: dict[str, tuple[str, ...]]) -> Iterator[FakeDriver]:
    """What `target="cuda"` builds for."""
    fake = FakeDriver()
    before = use_driver(fake)
    yield fake
    use_driver(before)
