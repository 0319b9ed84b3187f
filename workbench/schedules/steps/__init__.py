"""The vocabulary: each module holds one step and the function that makes it, and both are named like the file.

A name is loaded from its module on first use; `load` loads all of them (for `Transform.known`).  What type checkers
read stands in `__init__.pyi`, which `tools/stubs.py` writes.  The function of a step says what its class says, the law
among it: `help(wb.tile)`, and `wb.tile?` in a notebook.
"""

from __future__ import annotations

from importlib import import_module
from inspect import getdoc
from typing import Any

from workbench.face import STEPS, class_of, deferred

# Public name → module.
NAMES: dict[str, str] = {name: module for step, module in STEPS.items() for name in (class_of(step), step)}

__all__ = sorted(NAMES)  # pyright: ignore[reportUnsupportedDunderAll]

_loaded = deferred(__name__, NAMES)


def __getattr__(name: str) -> Any:
    value = _loaded(name)
    if name in STEPS:
        value.__doc__ = f"{getdoc(value)}\n\n{getdoc(_loaded(class_of(name)))}"
    return value


def load() -> None:
    """Load every step."""
    for module in STEPS.values():
        import_module(f"{__name__}.{module}")
