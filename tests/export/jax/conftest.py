"""Tests of what is exported to JAX: with types of 64 bits, which operators of the library take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def types_of_64_bits() -> Iterator[None]:
    jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
    with jax.enable_x64(True):
        yield
