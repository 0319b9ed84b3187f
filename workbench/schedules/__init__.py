"""Schedules: the order of a program's instances, the steps that change it, and whether they may."""

from workbench.schedules.automatic import autoschedule
from workbench.schedules.legality import Verdict
from workbench.schedules.micro_kernels import MicroKernel, register
from workbench.schedules.offers import NextSteps, next_steps
from workbench.schedules.recipes import default_schedule, reasons
from workbench.schedules.replaying import replay
from workbench.schedules.scheduled_program import Schedule, check, preview, schedule
from workbench.schedules.steps import (
    add_unit_loop,
    affine,
    arrange,
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

__all__ = [
    "MicroKernel", "NextSteps", "Recipe", "Schedule", "Transform", "Verdict", "add_unit_loop", "affine", "arrange",
    "autoschedule", "check", "compute_at", "decompose_reduction", "default_schedule", "distribute", "double_buffer",
    "fold_storage", "from_json", "fuse", "inline", "interchange", "isolate", "merge", "next_steps", "pad",
    "parallelize", "partition", "pipeline", "prefetch", "preview", "reasons", "register", "replace", "replay",
    "reverse", "reverse_compute_at", "root", "schedule", "shift", "skew", "split", "split_reduction", "stage",
    "storage_align", "tile", "together", "transform_layout", "unroll", "unroll_jam", "vectorize",
]  # fmt: skip
