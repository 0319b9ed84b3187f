"""The vocabulary: each module holds one step and the function that makes it.

A name is loaded from its module on first use; `load` loads all of them (for `Transform.known`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.schedules.steps.execution.atomic import Atomic, atomic
    from workbench.schedules.steps.execution.barrier import Barrier, barrier
    from workbench.schedules.steps.execution.bind import Bind, bind
    from workbench.schedules.steps.execution.loops import Parallelize, Unroll, Vectorize, parallelize, unroll, vectorize
    from workbench.schedules.steps.execution.nontemporal import Nontemporal, nontemporal
    from workbench.schedules.steps.execution.prefetch import Prefetch, prefetch
    from workbench.schedules.steps.execution.replace import Replace, replace
    from workbench.schedules.steps.execution.unroll_jam import UnrollJam, unroll_jam
    from workbench.schedules.steps.instances.compute_at import ComputeAt, compute_at
    from workbench.schedules.steps.instances.inline import Inline, inline
    from workbench.schedules.steps.instances.isolate import Isolate, isolate
    from workbench.schedules.steps.instances.partition import Partition, partition
    from workbench.schedules.steps.instances.reverse_compute_at import ReverseComputeAt, reverse_compute_at
    from workbench.schedules.steps.instances.root import Root, root
    from workbench.schedules.steps.instances.split_reduction import SplitReduction, split_reduction
    from workbench.schedules.steps.order.add_unit_loop import AddUnitLoop, add_unit_loop
    from workbench.schedules.steps.order.affine import Affine, affine
    from workbench.schedules.steps.order.affine_rows import AffineRows
    from workbench.schedules.steps.order.arrange import Arrange, arrange
    from workbench.schedules.steps.order.decompose_reduction import DecomposeReduction, decompose_reduction
    from workbench.schedules.steps.order.distribute import Distribute, distribute
    from workbench.schedules.steps.order.fuse import Fuse, fuse
    from workbench.schedules.steps.order.interchange import Interchange, interchange
    from workbench.schedules.steps.order.merge import Merge, merge
    from workbench.schedules.steps.order.skew import Reverse, Shift, Skew, reverse, shift, skew
    from workbench.schedules.steps.order.split import Split, split
    from workbench.schedules.steps.order.tile import Tile, tile
    from workbench.schedules.steps.storage.double_buffer import DoubleBuffer, double_buffer
    from workbench.schedules.steps.storage.fold_storage import FoldStorage, fold_storage
    from workbench.schedules.steps.storage.pad import Pad, pad
    from workbench.schedules.steps.storage.pipeline import Pipeline, pipeline
    from workbench.schedules.steps.storage.stage import Stage, stage
    from workbench.schedules.steps.storage.storage_align import StorageAlign, storage_align
    from workbench.schedules.steps.storage.transform_layout import TransformLayout, transform_layout

# Public name → module.
NAMES = {
    "AddUnitLoop": "order.add_unit_loop",
    "Affine": "order.affine",
    "AffineRows": "order.affine_rows",
    "Arrange": "order.arrange",
    "Atomic": "execution.atomic",
    "Barrier": "execution.barrier",
    "Bind": "execution.bind",
    "ComputeAt": "instances.compute_at",
    "DecomposeReduction": "order.decompose_reduction",
    "Distribute": "order.distribute",
    "DoubleBuffer": "storage.double_buffer",
    "FoldStorage": "storage.fold_storage",
    "Fuse": "order.fuse",
    "Inline": "instances.inline",
    "Interchange": "order.interchange",
    "Isolate": "instances.isolate",
    "Merge": "order.merge",
    "Nontemporal": "execution.nontemporal",
    "Pad": "storage.pad",
    "Parallelize": "execution.loops",
    "Partition": "instances.partition",
    "Pipeline": "storage.pipeline",
    "Prefetch": "execution.prefetch",
    "Replace": "execution.replace",
    "Reverse": "order.skew",
    "ReverseComputeAt": "instances.reverse_compute_at",
    "Root": "instances.root",
    "Shift": "order.skew",
    "Skew": "order.skew",
    "Split": "order.split",
    "SplitReduction": "instances.split_reduction",
    "Stage": "storage.stage",
    "StorageAlign": "storage.storage_align",
    "Tile": "order.tile",
    "TransformLayout": "storage.transform_layout",
    "Unroll": "execution.loops",
    "UnrollJam": "execution.unroll_jam",
    "Vectorize": "execution.loops",
    "add_unit_loop": "order.add_unit_loop",
    "affine": "order.affine",
    "arrange": "order.arrange",
    "atomic": "execution.atomic",
    "barrier": "execution.barrier",
    "bind": "execution.bind",
    "compute_at": "instances.compute_at",
    "decompose_reduction": "order.decompose_reduction",
    "distribute": "order.distribute",
    "double_buffer": "storage.double_buffer",
    "fold_storage": "storage.fold_storage",
    "fuse": "order.fuse",
    "inline": "instances.inline",
    "interchange": "order.interchange",
    "isolate": "instances.isolate",
    "merge": "order.merge",
    "nontemporal": "execution.nontemporal",
    "pad": "storage.pad",
    "parallelize": "execution.loops",
    "partition": "instances.partition",
    "pipeline": "storage.pipeline",
    "prefetch": "execution.prefetch",
    "replace": "execution.replace",
    "reverse": "order.skew",
    "reverse_compute_at": "instances.reverse_compute_at",
    "root": "instances.root",
    "shift": "order.skew",
    "skew": "order.skew",
    "split": "order.split",
    "split_reduction": "instances.split_reduction",
    "stage": "storage.stage",
    "storage_align": "storage.storage_align",
    "tile": "order.tile",
    "transform_layout": "storage.transform_layout",
    "unroll": "execution.loops",
    "unroll_jam": "execution.unroll_jam",
    "vectorize": "execution.loops",
}

__all__ = [
    "AddUnitLoop", "Affine", "AffineRows", "Arrange", "Atomic", "Barrier", "Bind", "ComputeAt",
    "DecomposeReduction", "Distribute", "DoubleBuffer", "FoldStorage", "Fuse", "Inline", "Interchange", "Isolate",
    "Merge", "Nontemporal", "Pad", "Parallelize", "Partition", "Pipeline", "Prefetch", "Replace", "Reverse",
    "ReverseComputeAt", "Root", "Shift", "Skew", "Split", "SplitReduction", "Stage", "StorageAlign", "Tile",
    "TransformLayout", "Unroll", "UnrollJam", "Vectorize", "add_unit_loop", "affine", "arrange", "atomic",
    "barrier", "bind", "compute_at", "decompose_reduction", "distribute", "double_buffer", "fold_storage", "fuse",
    "inline", "interchange", "isolate", "merge", "nontemporal", "pad", "parallelize", "partition", "pipeline",
    "prefetch", "replace", "reverse", "reverse_compute_at", "root", "shift", "skew", "split", "split_reduction",
    "stage", "storage_align", "tile", "transform_layout", "unroll", "unroll_jam", "vectorize",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)


def load() -> None:
    """Load every step."""
    for module in dict.fromkeys(NAMES.values()):
        import_module(f"{__name__}.{module}")
