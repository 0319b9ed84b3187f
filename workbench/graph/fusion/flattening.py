"""A definition that calls others as one that does not: what is read once is written where it is read."""

from __future__ import annotations

from workbench.errors import OperatorError
from workbench.lang.derived.inlining import inlined
from workbench.lang.derived.text.source import Source
from workbench.lang.derived.text.writing import Derived
from workbench.lang.operator import Operator, Tensor


def flattened(op: Operator) -> Operator:
    """The operator without calls; the operator itself where that would not say the same.

    A temporary that one later statement reads once is written there, if each of its cells is written; a monoid stays.

    >>> from workbench.lang import operators
    >>> text = "def a(float(N) x) -> (y) { y(i) = x(i) + 1 }  def b(float(N) x) -> (z) { t = a(x)  z = a(t) }"
    >>> print(flattened(operators(text)["b"]))
    def b(float(N) x) -> (z) {
        z(i) = x(i) + 1.0 + 1.0
    }
    """
    if op.generic or op.language != "operator":
        return op
    partial = {name for name, tensor in op.tensors.items() if tensor.partial}
    body = tuple(inlined(list(op.body), {*op.outputs, *partial}))
    derived = Derived(
        Source(op, op), op.name, op.parameters, op.outputs, dict(op.tensors), body, frozenset(), op.promises, kind=None
    )
    try:
        flat = derived.briefly() or derived.operator()
    except OperatorError:
        return op
    return flat if _says(flat) == _says(op, set(flat.tensors)) else op


def _says(op: Operator, among: set[str] | None = None) -> tuple[object, ...]:
    """What a caller sees, and the boxes of temporaries; both must stay."""
    tensors: dict[str, Tensor] = {name: t for name, t in op.tensors.items() if among is None or name in among}
    conditions = {condition.expr for condition in op.conditions}
    return op.parameters, op.outputs, op.size_names, op.scalars, tensors, conditions, op.promises
