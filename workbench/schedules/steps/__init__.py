"""The vocabulary: each module holds one step and the function that makes it, and both are named like the file.

A name is loaded from its module on first use; `load` loads all of them (for `Transform.known`).  What type checkers
read stands in `__init__.pyi`, which `tools/stubs.py` writes.
"""

from __future__ import annotations

from importlib import import_module

from workbench.deferred import deferred
from workbench.step_names import STEPS, class_of

# Public name → module.
NAMES: dict[str, str] = {name: module for step, module in STEPS.items() for name in (class_of(step), step)}

__all__ = sorted(NAMES)  # pyright: ignore[reportUnsupportedDunderAll]

__getattr__ = deferred(__name__, NAMES)


def load() -> None:
    """Load every step."""
    for module in STEPS.values():
        import_module(f"{__name__}.{module}")
