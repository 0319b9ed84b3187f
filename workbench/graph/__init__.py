"""Models: a typed functional language above operators; text to `Model`, and what a model means.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.graph.building import Builder
    from workbench.graph.evaluation.values import Data, data, to_list
    from workbench.graph.fusion.fusing import fused
    from workbench.graph.fusion.results import FusionResult, side_by_side
    from workbench.graph.models import Model, model
    from workbench.graph.saving import load, save

# Public name → the submodule that has it.
NAMES = {
    "Builder": "building",
    "Data": "evaluation.values",
    "FusionResult": "fusion.results",
    "Model": "models",
    "data": "evaluation.values",
    "fused": "fusion.fusing",
    "load": "saving",
    "model": "models",
    "save": "saving",
    "side_by_side": "fusion.results",
    "to_list": "evaluation.values",
}

__all__ = [
    "Builder", "Data", "FusionResult", "Model", "data", "fused", "load", "model", "save", "side_by_side", "to_list",
]  # fmt: skip

__getattr__ = deferred(__name__, NAMES)
