"""Operands that are known before a kernel runs: their panels are packed once, not in every call.

Inside `known_operands({"w"})` a recipe that packs panels of `w` packs all of them before everything else, where whoever
builds the kernel can take the copy out (`workbench.codegen.packed_inputs`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_KNOWN: ContextVar[frozenset[str]] = ContextVar("workbench_known_operands", default=frozenset())


def is_known(array: str) -> bool:
    """Whether an input holds the same in every call."""
    return array in _KNOWN.get()


@contextmanager
def known_operands(names: Collection[str]) -> Iterator[None]:
    """Recipes called inside take these inputs for known."""
    token = _KNOWN.set(frozenset(names))
    try:
        yield
    finally:
        _KNOWN.reset(token)
