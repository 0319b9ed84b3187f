# Written by tools/stubs.py.

from collections.abc import Mapping
from typing import Any
from workbench import certificates as certificates
from workbench import codegen as codegen
from workbench import errors as errors
from workbench import export as export
from workbench import graph as graph
from workbench import lang as lang
from workbench import ops as ops
from workbench import poly as poly
from workbench import runtime as runtime
from workbench import schedules as schedules
from workbench import tune as tune
from workbench import viz as viz
from workbench.certificates.certificate import Certificate
from workbench.codegen import trace_touches as trace_touches
from workbench.codegen.comparing import Comparison
from workbench.codegen.inspection import Rewritings
from workbench.codegen.kernel import Kernel
from workbench.fromc.program import from_c as from_c
from workbench.graph import Model as Model
from workbench.graph import model as model
from workbench.graph import plan_memory as plan_memory
from workbench.graph.engines import engine as engine
from workbench.graph.importing.from_onnx_models import from_onnx as from_onnx
from workbench.graph.importing.from_torch_modules import from_torch as from_torch
from workbench.graph.optimizing import optimize as optimize
from workbench.graph.partition_by_argument import partition as partition
from workbench.graph.passes.support.vocabulary import passes as passes
from workbench.graph.running.building import build as build
from workbench.lang import einsum as einsum
from workbench.lang import grad as grad
from workbench.lang import jvp as jvp
from workbench.lang import operator as operator
from workbench.lang import operators as operators
from workbench.lang import saving as saving
from workbench.lang import tape as tape
from workbench.lang import vmap as vmap
from workbench.lang.operator import Operator as Operator
from workbench.poly.programs.program import Program
from workbench.runtime import Ceilings as Ceilings
from workbench.runtime import calibrate as calibrate
from workbench.runtime import ceilings as ceilings
from workbench.runtime import doctor as doctor
from workbench.runtime import evaluate_c as evaluate_c
from workbench.runtime import measure as measure
from workbench.runtime import verify as verify
from workbench.runtime.emulation import sanitize as sanitize
from workbench.schedules import MicroKernel as MicroKernel
from workbench.schedules import Schedule as Schedule
from workbench.schedules import Sketch as Sketch
from workbench.schedules import Verdict as Verdict
from workbench.schedules import add_unit_loop as add_unit_loop
from workbench.schedules import affine as affine
from workbench.schedules import arrange as arrange
from workbench.schedules import atomic as atomic
from workbench.schedules import barrier as barrier
from workbench.schedules import bind as bind
from workbench.schedules import check as check
from workbench.schedules import choose as choose
from workbench.schedules import compute_at as compute_at
from workbench.schedules import decompose_reduction as decompose_reduction
from workbench.schedules import distribute as distribute
from workbench.schedules import double_buffer as double_buffer
from workbench.schedules import fold_storage as fold_storage
from workbench.schedules import fuse as fuse
from workbench.schedules import inline as inline
from workbench.schedules import interchange as interchange
from workbench.schedules import isolate as isolate
from workbench.schedules import merge as merge
from workbench.schedules import next_steps as next_steps
from workbench.schedules import nontemporal as nontemporal
from workbench.schedules import pad as pad
from workbench.schedules import parallelize as parallelize
from workbench.schedules import pipeline as pipeline
from workbench.schedules import prefetch as prefetch
from workbench.schedules import preview as preview
from workbench.schedules import register as register
from workbench.schedules import reorder as reorder
from workbench.schedules import replace as replace
from workbench.schedules import replay as replay
from workbench.schedules import reverse as reverse
from workbench.schedules import reverse_compute_at as reverse_compute_at
from workbench.schedules import root as root
from workbench.schedules import schedule as schedule
from workbench.schedules import serial as serial
from workbench.schedules import shift as shift
from workbench.schedules import skew as skew
from workbench.schedules import split as split
from workbench.schedules import split_reduction as split_reduction
from workbench.schedules import stage as stage
from workbench.schedules import storage_align as storage_align
from workbench.schedules import tile as tile
from workbench.schedules import together as together
from workbench.schedules import transform_layout as transform_layout
from workbench.schedules import unroll as unroll
from workbench.schedules import unroll_jam as unroll_jam
from workbench.schedules import vectorize as vectorize
from workbench.schedules import where as where
from workbench.schedules import widen as widen
from workbench.schedules.analysis.gpu_reports import bank_conflicts as bank_conflicts
from workbench.schedules.analysis.gpu_reports import coalescing as coalescing
from workbench.schedules.analysis.gpu_reports import occupancy as occupancy
from workbench.schedules.explanation.vocabulary import steps as steps
from workbench.settings import settings as settings
from workbench.target import Target as Target
from workbench.target_costs import Costs as Costs
from workbench.tune import autotune as autotune
from workbench.viz.notebook.figures import figure as figure
from workbench.viz.panels import panel as panel
from workbench.viz.views.performance.explanation_view import explain as explain

__version__: str
ROOMS: tuple[str, ...]
__all__: list[str]

def lower(operator: Operator | Program, /, sizes: Mapping[str, int] | None = None, **symbols: int) -> Program:
    ...

def autoschedule(
    operator: Operator | Program, /, target: str | Target = "c", *, fusion: str | None = None,
    sizes: Mapping[str, int] | None = None, **symbols: int,
) -> Schedule:  # fmt: skip
    ...

def sketch(
    operator: Operator | Program, /, sizes: Mapping[str, int] | None = None, target: str | Target = "c", **symbols: int
) -> Sketch:
    ...

def generate(
    schedule: Schedule, /, target: str | Target = "c", *, unchecked: bool = False, unsafe: bool = False
) -> Kernel:
    ...

def certify(schedule: Schedule, /, target: str | Target = "c") -> Certificate:
    ...

def rewrites(schedule: Schedule, /, target: str | Target = "c") -> Rewritings:
    ...

def compare(a: Schedule, b: Schedule, /, target: str | Target = "c") -> Comparison:
    ...

def load_ipython_extension(shell: Any) -> None:
    ...
