"""What every export shares: the kernels of one operator, and the C that chooses one of them at a call."""

from __future__ import annotations

from workbench.export.dispatch.family import (
    Family,
    Gpu,
    Variant,
    checked_name,
    families_for,
    families_of,
    family_like,
    family_of,
    for_gpu,
    gpu_target,
    with_gpu,
)
from workbench.export.dispatch.front import front_text
from workbench.export.dispatch.levels import LEVELS, Level, here
from workbench.export.dispatch.objects import Source, linked
from workbench.export.dispatch.units import RUNTIME_FILES, Unit, runtime_file, units_of

__all__ = [
    "LEVELS", "RUNTIME_FILES", "Family", "Gpu", "Level", "Source", "Unit", "Variant", "checked_name", "families_for",
    "families_of", "family_like", "family_of", "for_gpu", "front_text", "gpu_target", "here",
    "linked", "runtime_file", "units_of", "with_gpu",
]  # fmt: skip
