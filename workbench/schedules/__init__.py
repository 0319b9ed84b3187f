"""Schedules: the order of a program's instances, the steps that change it, and whether they may.

A name is loaded from its module on first use.  What type checkers read stands in `__init__.pyi`, which `tools/stubs.py`
writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbench.errors import IllegalSchedule
from workbench.face import STEPS, deferred

# Public name → module.
NAMES: dict[str, str] = {
    "MicroKernel": "kernels.micro_kernels",
    "NextSteps": "offers",
    "Recipe": "transform",
    "Repairs": "repairs.search",
    "Schedule": "scheduled_program",
    "Transform": "transform",
    "Verdict": "legality",
    "autoschedule": "automatic",
    "Choice": "choices",
    "check": "scheduled_program",
    "choose": "choices",
    "Sketch": "sketches.sketch",
    "recipe_sketch": "sketches.recipe_sketch",
    "where": "sketches.sketch",
    **dict.fromkeys(STEPS, "steps"),
    "default_schedule": "recipes",
    "from_json": "transform",
    "next_steps": "offers",
    "preview": "scheduled_program",
    "reasons": "recipes",
    "register": "kernels.micro_kernels",
    "replay": "replaying",
    "schedule": "scheduled_program",
    "together": "transform",
}

__all__ = sorted(NAMES)  # pyright: ignore[reportUnsupportedDunderAll]


__getattr__ = deferred(__name__, NAMES)


def _repairs(schedule: Any, step: Any, verdict: Any) -> Iterable[Any]:
    """See `repairs.search.Repairs`, which knows every step: it is loaded when a refusal is read."""
    return __getattr__("Repairs")(schedule, step, verdict)


IllegalSchedule.search = staticmethod(_repairs)
