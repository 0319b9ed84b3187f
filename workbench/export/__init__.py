"""Out into plain C and the frameworks: an operator with its schedules becomes theirs.

`c` writes a library that needs neither Python nor a framework, `torch` registers an operator of PyTorch, `jax` gives
a function of JAX.  Each takes an operator, a schedule, a study, or a list of schedules and studies of one operator.  A
name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.export.to_c import CLibrary, c
    from workbench.export.to_jax import jax
    from workbench.export.to_torch import torch

# Public name → module.
NAMES = {
    "CLibrary": "to_c",
    "c": "to_c",
    "jax": "to_jax",
    "torch": "to_torch",
}

__all__ = ["CLibrary", "c", "jax", "torch"]


__getattr__ = deferred(__name__, NAMES)
