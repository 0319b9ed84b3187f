"""From a schedule to readable code.

A name is loaded from its module on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.face import deferred

if TYPE_CHECKING:
    from workbench.codegen.comparing import Comparison, compare
    from workbench.codegen.generation import as_target, generate
    from workbench.codegen.inspection import Rewriting, Rewritings, rewrites
    from workbench.codegen.kernel import ArrayParameter, IndexCheck, Kernel, Signature
    from workbench.codegen.trace.tracing import Touch, trace_touches

# Public name → module.
NAMES = {
    "ArrayParameter": "kernel",
    "Comparison": "comparing",
    "IndexCheck": "kernel",
    "Kernel": "kernel",
    "Rewriting": "inspection",
    "Rewritings": "inspection",
    "Signature": "kernel",
    "Touch": "trace.tracing",
    "as_target": "generation",
    "compare": "comparing",
    "generate": "generation",
    "rewrites": "inspection",
    "trace_touches": "trace.tracing",
}

__all__ = [
    "ArrayParameter", "Comparison", "IndexCheck", "Kernel", "Rewriting", "Rewritings", "Signature", "Touch",
    "as_target", "compare", "generate", "rewrites", "trace_touches",
]  # fmt: skip


__getattr__ = deferred(__name__, NAMES)
