"""Calls between defs are inlined: the callee's body is resolved in the caller's names and sizes."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import unknown_name
from workbench.lang.algebra.polynomial import ZERO
from workbench.lang.dtypes import DType
from workbench.lang.operator import Step
from workbench.lang.printing.printer import type_name
from workbench.lang.resolve.call_arguments import bind_arguments, dim_poly
from workbench.lang.resolve.declarations import declare_temporaries, inlined_promises
from workbench.lang.scopes.scope import AlreadyReported, Context, Scope, TensorState, element_type
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.limits import DEEPEST_CALLS
from workbench.lang.syntax.syntax import Define, StepNode, TargetNode
from workbench.lang.syntax.terms import Apply, Name, Span, Term, terms

Resolve = Callable[[Context, Scope, tuple[StepNode, ...]], tuple[Step, ...]]


def resolve_call(
    context: Context,
    scope: Scope,
    results: tuple[TargetNode, ...],
    callee: Name,
    arguments: tuple[Term, ...],
    span: Span,
    resolve_steps: Resolve,
) -> tuple[Step, ...]:
    """The steps of the called def, over the caller's tensors."""
    define = _callee(context, callee)
    _check_counts(define, callee, arguments, results, span)
    inner = Scope(define, inlined=True)
    bind_arguments(context, scope, inner, arguments)
    outputs = [_result(scope, target, arguments) for target in results]
    _declare_results(context, inner, outputs, results)
    declare_temporaries(context, inner)
    context.promises += inlined_promises(context, inner)
    context.calls.append(define.name.name)
    context.used_items.add(define.name.name)
    steps = resolve_steps(context, inner, define.body)
    context.calls.pop()
    _box_results(inner, outputs)
    return steps


def _box_results(inner: Scope, outputs: list[TensorState]) -> None:
    """A result that the def annotates has the annotated box from now on, whatever cells were written."""
    for output, state in zip(inner.define.outputs, outputs, strict=True):
        if output.type is not None and state.box is not None and state.declared is not None:
            state.box = list(state.declared)


def _callee(context: Context, callee: Name) -> Define:
    define = context.defs.get(callee.name)
    if define is None:
        raise Problem(unknown_name("def", callee.name, context.defs), callee.span)
    if callee.name in context.calls:
        chain = " -> ".join([*context.calls, callee.name])
        raise Problem(f"a def cannot call itself: {chain}", callee.span, "use a `for` for recurrences")
    if len(context.calls) > DEEPEST_CALLS:
        raise Problem(f"calls are nested more than {DEEPEST_CALLS} deep", callee.span)
    return define


def _check_counts(
    define: Define, callee: Name, arguments: tuple[Term, ...], results: tuple[TargetNode, ...], span: Span
) -> None:
    pairs = ((define.parameters, arguments, "input"), (define.outputs, results, "output"))
    for declared, given, what in pairs:
        if len(declared) != len(given):
            names = ", ".join(parameter.name.name for parameter in declared)
            plural = "s" if len(declared) != 1 else ""
            message = f"{callee.name} has {len(declared)} {what}{plural} ({names}): "
            raise Problem(f"{message}expected {len(declared)} but found {len(given)}", span)


def _result(scope: Scope, target: TargetNode, arguments: tuple[Term, ...]) -> TensorState:
    name = target.name.name
    if target.subscripts:
        message = "the result of a call is a whole tensor"
        raise Problem(message, target.span, f"write {name} = ... and copy from {name} in a statement of its own")
    state = scope.tensors.get(name)
    if state is None or state.role == "input" or name in scope.inputs:
        raise Problem(f"inputs are immutable: {name!r} cannot take the result of a call", target.span)
    for argument in arguments:
        if any(isinstance(t, Name | Apply) and _word(t) == name for t in terms(argument)):
            raise Problem(f"{name!r} is both an argument and a result of the call", target.span, "use another name")
    if state.broken:
        raise AlreadyReported
    return state


def _word(term: Name | Apply) -> str:
    return term.name if isinstance(term, Name) else term.name.name


def _declare_results(
    context: Context, inner: Scope, outputs: list[TensorState], results: tuple[TargetNode, ...]
) -> None:
    if len({state.name for state in outputs}) < len(outputs):
        raise Problem("two results of the call have the same name", results[0].span)
    for output, state, target in zip(inner.define.outputs, outputs, results, strict=True):
        inner.tensors[output.name.name] = state
        if output.type is None:
            continue
        dtype = element_type(inner, output.type.element.name)
        if state.dtype is None:
            state.dtype = dtype
        elif dtype is not None:
            _same_type(context, state, dtype, inner.define.name.name, target.span)
        if state.declared is None:
            state.declared = [(ZERO, dim_poly(context, inner, dim)) for dim in output.type.dims]


def _same_type(context: Context, state: TensorState, dtype: DType, callee: str, span: Span) -> None:
    """A tensor that was written before has the type that the def annotates (or gets it when the body is read again)."""
    context.inferred.add(state.name, dtype)
    if dtype != state.dtype and state.dtype is not None:
        raise Problem(f"{state.name} has type {type_name(state.dtype)} but {callee} gives {type_name(dtype)}", span)
