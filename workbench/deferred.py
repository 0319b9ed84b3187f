"""Names of a package that are loaded when they are first used, so that a start loads only what it needs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

afterwards: list[Callable[[], None]] = []
"""Called after a name was loaded: what classes are given that modules further up know how to do."""


def deferred(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package: each of the names comes from the submodule that the table gives for it."""
    module = sys.modules[package]

    def load(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with uncollected():
            value = getattr(import_module(f"{package}.{names[name]}"), name)
        setattr(module, name, value)
        for give in afterwards:
            give()
        return value

    return load


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection meanwhile: what an import makes stays, and looking through it is a tenth of a start."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
