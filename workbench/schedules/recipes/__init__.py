"""Recipes: functions from a program to a schedule, composed of the vocabulary."""

from workbench.schedules.recipes.default_recipe import default_schedule

__all__ = ["default_schedule"]
