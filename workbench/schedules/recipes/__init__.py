"""Recipes: functions from a program to a schedule, composed of the vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.schedules.recipes.default_recipe import default_schedule
    from workbench.schedules.recipes.step_reasons import reasons

# Which submodule gives a name.
NAMES = {"default_schedule": "default_recipe", "reasons": "step_reasons"}

__all__ = ["default_schedule", "reasons"]

__getattr__ = deferred(__name__, NAMES)
