"""`plan_memory`: the arena of a whole model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, overload

from workbench.graph.memory import MemoryPlan, SymbolicMemoryPlan, plan
from workbench.graph.memory.byte_counts import Span
from workbench.graph.running.memory_plans import Storage
from workbench.graph.running.specimens import recording_of
from workbench.graph.running.symbolic_plans import lifetimes_within

if TYPE_CHECKING:
    from workbench.graph.models import Model


@overload
def plan_memory(
    model: Model, /, sizes: Mapping[str, int] | None = None, *, planner: str = "offsets", seconds: float = 0.5,
) -> MemoryPlan: ...  # fmt: skip
@overload
def plan_memory(
    model: Model, /, sizes: Mapping[str, int] | None = None, *, bounds: Mapping[str, Span], planner: str = "offsets",
    seconds: float = 0.5,
) -> MemoryPlan | SymbolicMemoryPlan: ...  # fmt: skip
def plan_memory(
    model: Model, /, sizes: Mapping[str, int] | None = None, *, bounds: Mapping[str, Span] | None = None,
    planner: str = "offsets", seconds: float = 0.5,
) -> MemoryPlan | SymbolicMemoryPlan:  # fmt: skip
    """Where the tensors of a model lie in one arena, at these sizes of its dimensions; results are in it as well.

    With `bounds`, the least and the greatest size of dimensions by name, the plan is one for all sizes between them:
    `found.at({"batch": 7})` is that for some.  `planner` and `seconds` are those of `workbench.graph.memory.plan`.
    ModelError for a model with control flow: which of its tensors there are only a run decides.  CallError if a
    dimension has no size.
    """
    if bounds is None:
        found = plan(Storage(recording_of(model, sizes or {})).lifetimes("result"), planner, seconds=seconds)
        assert isinstance(found, MemoryPlan)
        return found
    spans = {**{name: (size, size) for name, size in (sizes or {}).items()}, **bounds}
    return plan(lifetimes_within(model, spans), planner, seconds=seconds)
