"""An operator as a sheet: every range with its derivation, every tensor with its box, conditions, warnings."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.binding.element_words import element_words, variable_words
from workbench.lang.expr import Expr
from workbench.lang.operator import Operator, Range, Statement, Tensor
from workbench.lang.printing.printer import show


def describe(op: Operator) -> str:
    """What was inferred of an operator, in words.

    >>> from workbench.lang import operator
    >>> print(describe(operator("def shift(float(N) A) -> (B) { B(i) = A(i-1) }")))
    shift(A) -> (B)    sizes N
    B(i) = A(i - 1)
        free i in 1:N + 1    A(i - 1) needs 0 <= i - 1 < N in dimension 0 (round 1)
    tensors
        A: input float, 0:N
        B: output float, 1:N + 1
    """
    lines = [f"{op.name}({', '.join(op.parameters)}) -> ({', '.join(op.outputs)}){_symbols(op)}"]
    for statement in op.statements():
        lines += _statement(statement)
    words = element_words(op)
    lines += ["tensors", *(f"    {_tensor(tensor, words[name])}" for name, tensor in op.tensors.items())]
    for title, parts in (
        ("type variables", [f"{name}: {kind}" for name, kind in variable_words(op).items()]),
        ("conditions", [f"{show(condition.expr)}    {condition.reason}" for condition in op.conditions]),
        ("promises", [promise.text for promise in op.promises]),
        ("warnings", list(op.warnings)),
    ):
        lines += [title, *(f"    {part}" for part in parts)] if parts else []
    return "\n".join(lines)


def _symbols(op: Operator) -> str:
    sizes = f"    sizes {', '.join(op.size_names)}" if op.size_names else ""
    return sizes + (f"    scalars {', '.join(op.scalars)}" if op.scalars else "")


def _statement(statement: Statement) -> Iterator[str]:
    yield statement.text
    rows = [(f"{r.kind} {r.index} in {_interval(r)}", r.derivation) for r in statement.ranges]
    width = max((len(head) for head, _ in rows), default=0)
    for head, derivation in rows:
        yield f"    {head:{width}}    {derivation}"


def _interval(bounds: Range) -> str:
    return f"{show(bounds.lower)}:{show(bounds.upper)}"


def _tensor(tensor: Tensor, element: str) -> str:
    pairs = zip(tensor.lower, tensor.extent, strict=True)
    box = " x ".join(f"{show(low)}:{_upper(low, extent)}" for low, extent in pairs) or "one value"
    partial = ", partly written" if tensor.partial else ""
    return f"{tensor.name}: {tensor.role} {element}, {box}{partial}"


def _upper(lower: Expr, extent: Expr) -> str:
    return show(bound(polynomial(lower) + polynomial(extent)))
