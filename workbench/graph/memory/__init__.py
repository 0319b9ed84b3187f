"""Where the buffers of a model live: one arena, planned before anything runs.

`Lifetimes` says which step writes and reads which buffer, and which may share bytes; `plan` gives every buffer its
place in an arena, or with symbolic sizes a plan for all sizes; `faults` looks for what a plan overwrites too early.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.graph.memory.checking import faults
    from workbench.graph.memory.lifetimes import Lifetimes
    from workbench.graph.memory.planning import plan
    from workbench.graph.memory.plans import MemoryPlan
    from workbench.graph.memory.steps import Buffer, Share, Step
    from workbench.graph.memory.symbolic import SymbolicMemoryPlan

# Public name → module.
NAMES = {
    "Buffer": "steps",
    "Lifetimes": "lifetimes",
    "MemoryPlan": "plans",
    "Share": "steps",
    "Step": "steps",
    "SymbolicMemoryPlan": "symbolic",
    "faults": "checking",
    "plan": "planning",
}

__all__ = [
    "Buffer",
    "Lifetimes",
    "MemoryPlan",
    "Share",
    "Step",
    "SymbolicMemoryPlan",
    "faults",
    "plan",
]

__getattr__ = deferred(__name__, NAMES)
