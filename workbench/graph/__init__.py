"""Models: a typed functional language above operators; text to `Model`, and what a model means.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.graph.building import Builder
    from workbench.graph.evaluation.values import Data, data, to_list
    from workbench.graph.fusion.fusing import fused
    from workbench.graph.fusion.results import FusionResult, side_by_side
    from workbench.graph.models import Model, model
    from workbench.graph.running.built_models import BuiltModel, build_model
    from workbench.graph.running.model_plans import plan_memory
    from workbench.graph.running.profiling.profiles import Profile
    from workbench.graph.saving import load, save

# Public name → the submodule that has it.
NAMES = {
    "Builder": "building",
    "BuiltModel": "running.built_models",
    "Data": "evaluation.values",
    "FusionResult": "fusion.results",
    "Model": "models",
    "Profile": "running.profiling.profiles",
    "build_model": "running.built_models",
    "data": "evaluation.values",
    "fused": "fusion.fusing",
    "load": "saving",
    "model": "models",
    "plan_memory": "running.model_plans",
    "save": "saving",
    "side_by_side": "fusion.results",
    "to_list": "evaluation.values",
}

__all__ = [
    "Builder", "BuiltModel", "Data", "FusionResult", "Model", "Profile", "build_model", "data", "fused", "load",
    "model", "plan_memory", "save", "side_by_side", "to_list",
]  # fmt: skip

__getattr__ = deferred(__name__, NAMES)
