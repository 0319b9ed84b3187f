"""The vocabulary: each module holds one step and the function that makes it.

A name is loaded from its module on first use; `load` loads all of them (for `Transform.known`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.schedules.steps.affine_map import Affine, affine
    from workbench.schedules.steps.affine_rows import AffineRows
    from workbench.schedules.steps.aligning import StorageAlign, storage_align
    from workbench.schedules.steps.arranging import Arrange, arrange
    from workbench.schedules.steps.atomics import Atomic, atomic
    from workbench.schedules.steps.binding import Bind, bind
    from workbench.schedules.steps.bypassing import Nontemporal, nontemporal
    from workbench.schedules.steps.computing_at import ComputeAt, compute_at
    from workbench.schedules.steps.decomposition import DecomposeReduction, decompose_reduction
    from workbench.schedules.steps.distributing import Distribute, distribute
    from workbench.schedules.steps.double_buffering import DoubleBuffer, double_buffer
    from workbench.schedules.steps.execution import Parallelize, Unroll, Vectorize, parallelize, unroll, vectorize
    from workbench.schedules.steps.filling_tiles import Pad, pad
    from workbench.schedules.steps.folding import FoldStorage, fold_storage
    from workbench.schedules.steps.fusing import Fuse, fuse
    from workbench.schedules.steps.inlining import Inline, inline
    from workbench.schedules.steps.interchanging import Interchange, interchange
    from workbench.schedules.steps.isolating import Isolate, isolate
    from workbench.schedules.steps.jamming import UnrollJam, unroll_jam
    from workbench.schedules.steps.laying_out import TransformLayout, transform_layout
    from workbench.schedules.steps.merging import Merge, merge
    from workbench.schedules.steps.partitioning import Partition, partition
    from workbench.schedules.steps.pipelining import Pipeline, pipeline
    from workbench.schedules.steps.prefetching import Prefetch, prefetch
    from workbench.schedules.steps.replacing import Replace, replace
    from workbench.schedules.steps.reverse_computing import ReverseComputeAt, reverse_compute_at
    from workbench.schedules.steps.rooting import Root, root
    from workbench.schedules.steps.skewing import Reverse, Shift, Skew, reverse, shift, skew
    from workbench.schedules.steps.splitting import Split, split
    from workbench.schedules.steps.splitting_reductions import SplitReduction, split_reduction
    from workbench.schedules.steps.staging import Stage, stage
    from workbench.schedules.steps.tiling import Tile, tile
    from workbench.schedules.steps.unit_loops import AddUnitLoop, add_unit_loop
    from workbench.schedules.steps.waiting import Barrier, barrier

# Public name → module.
NAMES = {
    "AddUnitLoop": "unit_loops",
    "Affine": "affine_map",
    "AffineRows": "affine_rows",
    "Arrange": "arranging",
    "Atomic": "atomics",
    "Barrier": "waiting",
    "Bind": "binding",
    "ComputeAt": "computing_at",
    "DecomposeReduction": "decomposition",
    "Distribute": "distributing",
    "DoubleBuffer": "double_buffering",
    "FoldStorage": "folding",
    "Fuse": "fusing",
    "Inline": "inlining",
    "Interchange": "interchanging",
    "Isolate": "isolating",
    "Merge": "merging",
    "Nontemporal": "bypassing",
    "Pad": "filling_tiles",
    "Parallelize": "execution",
    "Partition": "partitioning",
    "Pipeline": "pipelining",
    "Prefetch": "prefetching",
    "Replace": "replacing",
    "Reverse": "skewing",
    "ReverseComputeAt": "reverse_computing",
    "Root": "rooting",
    "Shift": "skewing",
    "Skew": "skewing",
    "Split": "splitting",
    "SplitReduction": "splitting_reductions",
    "Stage": "staging",
    "StorageAlign": "aligning",
    "Tile": "tiling",
    "TransformLayout": "laying_out",
    "Unroll": "execution",
    "UnrollJam": "jamming",
    "Vectorize": "execution",
    "add_unit_loop": "unit_loops",
    "affine": "affine_map",
    "arrange": "arranging",
    "atomic": "atomics",
    "barrier": "waiting",
    "bind": "binding",
    "compute_at": "computing_at",
    "decompose_reduction": "decomposition",
    "distribute": "distributing",
    "double_buffer": "double_buffering",
    "fold_storage": "folding",
    "fuse": "fusing",
    "inline": "inlining",
    "interchange": "interchanging",
    "isolate": "isolating",
    "merge": "merging",
    "nontemporal": "bypassing",
    "pad": "filling_tiles",
    "parallelize": "execution",
    "partition": "partitioning",
    "pipeline": "pipelining",
    "prefetch": "prefetching",
    "replace": "replacing",
    "reverse": "skewing",
    "reverse_compute_at": "reverse_computing",
    "root": "rooting",
    "shift": "skewing",
    "skew": "skewing",
    "split": "splitting",
    "split_reduction": "splitting_reductions",
    "stage": "staging",
    "storage_align": "aligning",
    "tile": "tiling",
    "transform_layout": "laying_out",
    "unroll": "execution",
    "unroll_jam": "jamming",
    "vectorize": "execution",
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
