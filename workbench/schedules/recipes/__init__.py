"""Recipes: functions from a program to a schedule, composed of the vocabulary."""

from workbench.schedules.recipes.default_recipe import default_schedule
from workbench.schedules.recipes.step_reasons import reasons

__all__ = ["default_schedule", "reasons"]
