"""The engine `workbench`: each call of a region by the kernel that the workbench builds for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.graph.engines.engine_records import engine
from workbench.graph.engines.subgraphs import Subgraph
from workbench.runtime.calls.calling import call


@engine("workbench")
def workbench(region: Subgraph) -> Callable[..., Any]:
    """Kernels of the default recipes, or of the database of tuned schedules, one a call."""
    return lambda *arrays: region.run(arrays, call)
