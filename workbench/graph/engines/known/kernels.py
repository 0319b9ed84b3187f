"""The engine `workbench`: a region as a model of its own: fused, on one planned arena, constants packed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.graph.engines.engine_records import engine
from workbench.graph.engines.subgraphs import Subgraph
from workbench.graph.optimizing import optimize
from workbench.graph.running.built_models import build_model


@engine("workbench")
def workbench(region: Subgraph) -> Callable[..., Any]:
    """What `wb.build(wb.optimize(model))` makes of it: one program in C."""
    return build_model(optimize(region.model))
