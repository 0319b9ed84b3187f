# Written by tools/stubs.py.

from workbench.schedules.steps.execution.atomic import Atomic as Atomic
from workbench.schedules.steps.execution.atomic import atomic as atomic
from workbench.schedules.steps.execution.barrier import Barrier as Barrier
from workbench.schedules.steps.execution.barrier import barrier as barrier
from workbench.schedules.steps.execution.bind import Bind as Bind
from workbench.schedules.steps.execution.bind import bind as bind
from workbench.schedules.steps.execution.nontemporal import Nontemporal as Nontemporal
from workbench.schedules.steps.execution.nontemporal import nontemporal as nontemporal
from workbench.schedules.steps.execution.parallelize import Parallelize as Parallelize
from workbench.schedules.steps.execution.parallelize import parallelize as parallelize
from workbench.schedules.steps.execution.prefetch import Prefetch as Prefetch
from workbench.schedules.steps.execution.prefetch import prefetch as prefetch
from workbench.schedules.steps.execution.replace import Replace as Replace
from workbench.schedules.steps.execution.replace import replace as replace
from workbench.schedules.steps.execution.serial import Serial as Serial
from workbench.schedules.steps.execution.serial import serial as serial
from workbench.schedules.steps.execution.unroll import Unroll as Unroll
from workbench.schedules.steps.execution.unroll import unroll as unroll
from workbench.schedules.steps.execution.unroll_jam import UnrollJam as UnrollJam
from workbench.schedules.steps.execution.unroll_jam import unroll_jam as unroll_jam
from workbench.schedules.steps.execution.vectorize import Vectorize as Vectorize
from workbench.schedules.steps.execution.vectorize import vectorize as vectorize
from workbench.schedules.steps.instances.compute_at import ComputeAt as ComputeAt
from workbench.schedules.steps.instances.compute_at import compute_at as compute_at
from workbench.schedules.steps.instances.inline import Inline as Inline
from workbench.schedules.steps.instances.inline import inline as inline
from workbench.schedules.steps.instances.isolate import Isolate as Isolate
from workbench.schedules.steps.instances.isolate import isolate as isolate
from workbench.schedules.steps.instances.partition import Partition as Partition
from workbench.schedules.steps.instances.partition import partition as partition
from workbench.schedules.steps.instances.reverse_compute_at import ReverseComputeAt as ReverseComputeAt
from workbench.schedules.steps.instances.reverse_compute_at import reverse_compute_at as reverse_compute_at
from workbench.schedules.steps.instances.root import Root as Root
from workbench.schedules.steps.instances.root import root as root
from workbench.schedules.steps.instances.split_reduction import SplitReduction as SplitReduction
from workbench.schedules.steps.instances.split_reduction import split_reduction as split_reduction
from workbench.schedules.steps.order.add_unit_loop import AddUnitLoop as AddUnitLoop
from workbench.schedules.steps.order.add_unit_loop import add_unit_loop as add_unit_loop
from workbench.schedules.steps.order.affine import Affine as Affine
from workbench.schedules.steps.order.affine import affine as affine
from workbench.schedules.steps.order.arrange import Arrange as Arrange
from workbench.schedules.steps.order.arrange import arrange as arrange
from workbench.schedules.steps.order.decompose_reduction import DecomposeReduction as DecomposeReduction
from workbench.schedules.steps.order.decompose_reduction import decompose_reduction as decompose_reduction
from workbench.schedules.steps.order.distribute import Distribute as Distribute
from workbench.schedules.steps.order.distribute import distribute as distribute
from workbench.schedules.steps.order.fuse import Fuse as Fuse
from workbench.schedules.steps.order.fuse import fuse as fuse
from workbench.schedules.steps.order.interchange import Interchange as Interchange
from workbench.schedules.steps.order.interchange import interchange as interchange
from workbench.schedules.steps.order.merge import Merge as Merge
from workbench.schedules.steps.order.merge import merge as merge
from workbench.schedules.steps.order.reorder import Reorder as Reorder
from workbench.schedules.steps.order.reorder import reorder as reorder
from workbench.schedules.steps.order.reverse import Reverse as Reverse
from workbench.schedules.steps.order.reverse import reverse as reverse
from workbench.schedules.steps.order.shift import Shift as Shift
from workbench.schedules.steps.order.shift import shift as shift
from workbench.schedules.steps.order.skew import Skew as Skew
from workbench.schedules.steps.order.skew import skew as skew
from workbench.schedules.steps.order.split import Split as Split
from workbench.schedules.steps.order.split import split as split
from workbench.schedules.steps.order.tile import Tile as Tile
from workbench.schedules.steps.order.tile import tile as tile
from workbench.schedules.steps.storage.double_buffer import DoubleBuffer as DoubleBuffer
from workbench.schedules.steps.storage.double_buffer import double_buffer as double_buffer
from workbench.schedules.steps.storage.fold_storage import FoldStorage as FoldStorage
from workbench.schedules.steps.storage.fold_storage import fold_storage as fold_storage
from workbench.schedules.steps.storage.pad import Pad as Pad
from workbench.schedules.steps.storage.pad import pad as pad
from workbench.schedules.steps.storage.pipeline import Pipeline as Pipeline
from workbench.schedules.steps.storage.pipeline import pipeline as pipeline
from workbench.schedules.steps.storage.stage import Stage as Stage
from workbench.schedules.steps.storage.stage import stage as stage
from workbench.schedules.steps.storage.storage_align import StorageAlign as StorageAlign
from workbench.schedules.steps.storage.storage_align import storage_align as storage_align
from workbench.schedules.steps.storage.transform_layout import TransformLayout as TransformLayout
from workbench.schedules.steps.storage.transform_layout import transform_layout as transform_layout
from workbench.schedules.steps.storage.widen import Widen as Widen
from workbench.schedules.steps.storage.widen import widen as widen

NAMES: dict[str, str]
__all__: list[str]

def load() -> None:
    ...
