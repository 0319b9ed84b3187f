"""Models that run: kernels called in order on one planned arena, and a driver for control flow around them.

`build` makes a callable of a model, `plan_memory` says where its tensors lie.  A name is loaded from its module on
first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.graph.running.built_models import BuiltModel, build_model
    from workbench.graph.running.model_plans import plan_memory
    from workbench.graph.running.profiling.profiles import Profile

# Public name → module.
NAMES = {
    "BuiltModel": "built_models",
    "Profile": "profiling.profiles",
    "build_model": "built_models",
    "plan_memory": "model_plans",
}

__all__ = ["BuiltModel", "Profile", "build_model", "plan_memory"]

__getattr__ = deferred(__name__, NAMES)
