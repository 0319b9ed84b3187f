"""`plan_memory`: the arena of a whole model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.graph.memory import MemoryPlan, plan
from workbench.graph.running.memory_plans import Storage
from workbench.graph.running.specimens import recording_of

if TYPE_CHECKING:
    from workbench.graph.models import Model


def plan_memory(
    model: Model, /, sizes: Mapping[str, int] | None = None, *, planner: str = "offsets", seconds: float = 0.5,
) -> MemoryPlan:  # fmt: skip
    """Where the tensors of a model lie in one arena, at these sizes of its dimensions; results are in it as well.

    `planner` and `seconds` are those of `workbench.graph.memory.plan`.  ModelError for a model with control flow: which
    of its tensors there are only a run decides.  CallError if a dimension has no size.
    """
    found = plan(Storage(recording_of(model, sizes or {})).lifetimes("result"), planner, seconds=seconds)
    assert isinstance(found, MemoryPlan)
    return found
