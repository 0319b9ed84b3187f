"""Schedules: the order of a program's instances, the steps that change it, and whether they may."""

from workbench.schedules.automatic import autoschedule
from workbench.schedules.legality import Verdict
from workbench.schedules.recipes import default_schedule, reasons
from workbench.schedules.replaying import replay
from workbench.schedules.scheduled_program import Schedule, check, preview, schedule
from workbench.schedules.steps import (
    affine,
    decompose_reduction,
    distribute,
    interchange,
    merge,
    parallelize,
    split,
    stage,
    tile,
    unroll,
    vectorize,
)
from workbench.schedules.transform import Recipe, Transform, from_json, together

__all__ = [
    "Recipe", "Schedule", "Transform", "Verdict", "affine", "autoschedule", "check", "decompose_reduction",
    "default_schedule", "distribute", "from_json", "interchange", "merge", "parallelize", "preview", "reasons",
    "replay", "schedule", "split", "stage", "tile", "together", "unroll", "vectorize",
]  # fmt: skip
