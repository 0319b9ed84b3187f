"""What every export shares: the kernels of one operator, and the C that chooses one of them at a call."""

from __future__ import annotations

from workbench.export.dispatch.family import Family, Variant, family_like, family_of, for_gpu
from workbench.export.dispatch.front import front_text
from workbench.export.dispatch.hosting import hosted
from workbench.export.dispatch.levels import LEVELS, Level, here
from workbench.export.dispatch.objects import Source, linked
from workbench.export.dispatch.results import placeholder, result_shapes
from workbench.export.dispatch.units import RUNTIME_FILES, Unit, runtime_file, units_of

__all__ = [
    "LEVELS", "RUNTIME_FILES", "Family", "Level", "Source", "Unit", "Variant", "family_like", "family_of",
    "for_gpu", "front_text", "here", "hosted", "linked", "placeholder", "result_shapes", "runtime_file",
    "units_of",
]  # fmt: skip
