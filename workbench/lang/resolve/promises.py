"""Promises about data: `injective(idx)` and `in_range(idx, lo, hi)`."""

from __future__ import annotations

from workbench.errors import unknown_name
from workbench.lang.operator import Promise
from workbench.lang.printing.printer import print_term
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.scopes.scope import Context, Scope
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import PromiseNode
from workbench.lang.syntax.terms import Name

ARGUMENTS = {"injective": 1, "in_range": 3}


def resolve_promises(context: Context, scope: Scope) -> None:
    """Add the promises of the def to the operator."""
    for node in scope.define.promises:
        with context.diagnostics.collect():
            context.promises.append(_promise(context, scope, node))


def inlined_promises(context: Context, scope: Scope) -> list[Promise]:
    """Promises of a called def, where its argument is an input of the operator."""
    promises = [_promise(context, scope, node) for node in scope.define.promises]
    return [promise for promise in promises if context.states[promise.tensor].role == "input"]


def _promise(context: Context, scope: Scope, node: PromiseNode) -> Promise:
    word = node.kind.name
    if word not in ARGUMENTS:
        raise Problem(unknown_name("promise", word, ARGUMENTS), node.kind.span)
    if len(node.arguments) != ARGUMENTS[word]:
        expected = ARGUMENTS[word]
        message = f"{word} takes {expected} arguments: expected {expected} but found {len(node.arguments)}"
        raise Problem(message, node.span)
    subject = node.arguments[0]
    state = scope.tensors.get(subject.name) if isinstance(subject, Name) else None
    if state is None or (state.role != "input" and not scope.inlined) or not state.rank:
        raise Problem(f"{word} promises something of an input tensor; found {print_term(subject)}", subject.span)
    if state.dtype is None or not state.dtype.is_integral:
        raise Problem(f"{word}: expected integral type but {state.name!r} is not of one", subject.span)
    resolver = ExprResolver(context, scope, None, f"a bound of {word}", tensors=False)
    bounds = tuple(resolver.bound(argument) for argument in node.arguments[1:])
    text = f"{word}({', '.join(map(print_term, node.arguments))})"
    return Promise(word, state.name, bounds, text)  # type: ignore[arg-type]
