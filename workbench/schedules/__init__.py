"""Schedules: the order of a program's instances, the steps that change it, and whether they may.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.schedules.automatic import autoschedule
    from workbench.schedules.choices import Choice, choose
    from workbench.schedules.kernels.micro_kernels import MicroKernel, register
    from workbench.schedules.legality import Verdict
    from workbench.schedules.offers import NextSteps, next_steps
    from workbench.schedules.recipes import default_schedule, reasons
    from workbench.schedules.replaying import replay
    from workbench.schedules.scheduled_program import Schedule, check, preview, schedule
    from workbench.schedules.sketches.recipe_sketch import recipe_sketch
    from workbench.schedules.sketches.sketch import Sketch, where
    from workbench.schedules.steps import (
        add_unit_loop,
        affine,
        arrange,
        atomic,
        barrier,
        bind,
        compute_at,
        decompose_reduction,
        distribute,
        double_buffer,
        fold_storage,
        fuse,
        inline,
        interchange,
        isolate,
        merge,
        nontemporal,
        pad,
        parallelize,
        partition,
        pipeline,
        prefetch,
        replace,
        reverse,
        reverse_compute_at,
        root,
        shift,
        skew,
        split,
        split_reduction,
        stage,
        storage_align,
        tile,
        transform_layout,
        unroll,
        unroll_jam,
        vectorize,
    )
    from workbench.schedules.transform import Recipe, Transform, from_json, together

# Public name → module.
NAMES = {
    "MicroKernel": "kernels.micro_kernels",
    "NextSteps": "offers",
    "Recipe": "transform",
    "Schedule": "scheduled_program",
    "Transform": "transform",
    "Verdict": "legality",
    "add_unit_loop": "steps",
    "affine": "steps",
    "arrange": "steps",
    "atomic": "steps",
    "autoschedule": "automatic",
    "barrier": "steps",
    "bind": "steps",
    "Choice": "choices",
    "check": "scheduled_program",
    "choose": "choices",
    "Sketch": "sketches.sketch",
    "recipe_sketch": "sketches.recipe_sketch",
    "where": "sketches.sketch",
    "compute_at": "steps",
    "decompose_reduction": "steps",
    "default_schedule": "recipes",
    "distribute": "steps",
    "double_buffer": "steps",
    "fold_storage": "steps",
    "from_json": "transform",
    "fuse": "steps",
    "inline": "steps",
    "interchange": "steps",
    "isolate": "steps",
    "merge": "steps",
    "nontemporal": "steps",
    "next_steps": "offers",
    "pad": "steps",
    "parallelize": "steps",
    "partition": "steps",
    "pipeline": "steps",
    "prefetch": "steps",
    "preview": "scheduled_program",
    "reasons": "recipes",
    "register": "kernels.micro_kernels",
    "replace": "steps",
    "replay": "replaying",
    "reverse": "steps",
    "reverse_compute_at": "steps",
    "root": "steps",
    "schedule": "scheduled_program",
    "shift": "steps",
    "skew": "steps",
    "split": "steps",
    "split_reduction": "steps",
    "stage": "steps",
    "storage_align": "steps",
    "tile": "steps",
    "together": "transform",
    "transform_layout": "steps",
    "unroll": "steps",
    "unroll_jam": "steps",
    "vectorize": "steps",
}

__all__ = [
    "Choice", "MicroKernel", "NextSteps", "Recipe", "Schedule", "Sketch", "Transform", "Verdict",
    "add_unit_loop", "affine", "arrange", "atomic", "autoschedule", "barrier", "bind", "check", "choose",
    "compute_at", "decompose_reduction", "default_schedule", "distribute", "double_buffer", "fold_storage",
    "from_json", "fuse", "inline", "interchange", "isolate", "merge", "next_steps", "nontemporal", "pad",
    "parallelize", "partition", "pipeline", "prefetch", "preview", "reasons", "recipe_sketch", "register",
    "replace", "replay",
    "reverse", "reverse_compute_at", "root", "schedule", "shift", "skew", "split", "split_reduction", "stage",
    "storage_align", "tile", "together", "transform_layout", "unroll", "unroll_jam", "vectorize", "where",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)
