"""From a schedule to readable code."""

from workbench.codegen.generation import as_target, generate
from workbench.codegen.inspection import Rewriting, Rewritings, rewrites
from workbench.codegen.kernel import ArrayParameter, IndexCheck, Kernel, Signature
from workbench.codegen.tracing import Touch, trace_touches

__all__ = [
    "ArrayParameter",
    "IndexCheck",
    "Kernel",
    "Rewriting",
    "Rewritings",
    "Signature",
    "Touch",
    "as_target",
    "generate",
    "rewrites",
    "trace_touches",
]
