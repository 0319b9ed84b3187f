"""Models: a typed functional language above operators; text to `Model`, and what a model means.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.deferred import deferred

if TYPE_CHECKING:
    from workbench.graph.building import Builder
    from workbench.graph.evaluation.values import Data, data, to_list
    from workbench.graph.models import Model, model
    from workbench.graph.saving import load, save

# Public name → the submodule that has it.
NAMES = {
    "Builder": "building",
    "Data": "evaluation.values",
    "Model": "models",
    "data": "evaluation.values",
    "load": "saving",
    "model": "models",
    "save": "saving",
    "to_list": "evaluation.values",
}

__all__ = ["Builder", "Data", "Model", "data", "load", "model", "save", "to_list"]

__getattr__ = deferred(__name__, NAMES)
