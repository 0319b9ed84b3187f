"""The operator language: text to Operator, and what an Operator means without any loop nest.

A name is loaded from its module on first use: whoever needs only the Operator class (`import workbench`
does) pays neither for the parser nor for the oracle.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.lang.operator import Operator

if TYPE_CHECKING:
    from workbench.lang.algebra.folding import fold
    from workbench.lang.binding.arrays import Binding, bind
    from workbench.lang.definitions import operators
    from workbench.lang.derived.batching import vmap
    from workbench.lang.derived.gradient import grad, saving, tape
    from workbench.lang.derived.tangent import jvp
    from workbench.lang.describing import describe
    from workbench.lang.from_einsum import einsum
    from workbench.lang.oracle.evaluation import evaluate
    from workbench.lang.resolve.generics import astype

# Public name → "module:attribute".
NAMES = {
    "Binding": "workbench.lang.binding.arrays:Binding",
    "astype": "workbench.lang.resolve.generics:astype",
    "bind": "workbench.lang.binding.arrays:bind",
    "describe": "workbench.lang.describing:describe",
    "einsum": "workbench.lang.from_einsum:einsum",
    "evaluate": "workbench.lang.oracle.evaluation:evaluate",
    "fold": "workbench.lang.algebra.folding:fold",
    "grad": "workbench.lang.derived.gradient:grad",
    "jvp": "workbench.lang.derived.tangent:jvp",
    "operators": "workbench.lang.definitions:operators",
    "saving": "workbench.lang.derived.gradient:saving",
    "tape": "workbench.lang.derived.gradient:tape",
    "vmap": "workbench.lang.derived.batching:vmap",
}

__all__ = [
    "Binding", "astype", "bind", "describe", "einsum", "evaluate", "fold", "grad", "jvp", "operator", "operators",
    "saving", "tape", "vmap",
]  # fmt: skip


# Defined here, after the module of that name was loaded: so it stands where the module would.
def operator(text: str) -> Operator:
    """The one def of a text that no other def of it calls.

    Raises OperatorError, which lists up to ten problems, each with its place and where possible a fix.

    >>> operator("def copy(float(N) A) -> (B) { B(i) = A(i) }")
    <Operator copy(A) -> (B)>
    """
    return import_module("workbench.lang.definitions").operator(text)


def __getattr__(name: str) -> Any:
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = NAMES[name].partition(":")
    globals()[name] = value = getattr(import_module(module), attribute)
    return value
