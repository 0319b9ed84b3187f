"""A whole def: parameters, outputs, body; from surface syntax to an Operator."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Index, Size
from workbench.lang.operator import For, Operator, Range, Step, Tensor
from workbench.lang.printing.printer import canonical_text, print_clause
from workbench.lang.ranges.shapes import finished
from workbench.lang.resolve.declarations import declare, resolve_promises
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.resolve.statements import resolve_assign
from workbench.lang.scopes.inferred_types import InferredTypes
from workbench.lang.scopes.scope import AlreadyReported, Context, Scope, check_new_name, free_name
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.limits import count_statement
from workbench.lang.syntax.syntax import Assign, CallStep, Define, ForStep, StepNode, Unit, statements_of
from workbench.lang.syntax.terms import Apply, Name, names_in, terms


def resolve_define(unit: Unit, define: Define, diagnostics: Diagnostics, *, strict: bool) -> Operator | None:
    """The operator a def means, or None if problems were recorded; in a `strict` one truth values are no numbers."""
    types = InferredTypes()
    while True:
        reading = replace(diagnostics, problems=[*diagnostics.problems])
        try:
            operator = _resolved(unit, define, reading, types, strict=strict)
        except diagnostics.error:
            if types.agree:
                raise
            operator = None
        if types.agree:
            diagnostics.problems, diagnostics.statements = reading.problems, reading.statements
            return operator
        types = types.following()


def _resolved(
    unit: Unit, define: Define, diagnostics: Diagnostics, types: InferredTypes, *, strict: bool
) -> Operator | None:
    defs = {each.name.name: each for each in unit.defs()}
    monoids = {each.name.name: each for each in unit.monoids()}
    context = Context(defs, monoids, diagnostics, strict, types)
    context.calls.append(define.name.name)
    before = len(diagnostics.problems)
    scope = Scope(define)
    with diagnostics.collect():
        declare(context, scope)
        if len(diagnostics.problems) == before:
            body = resolve_steps(context, scope, define.body)
            operator = _finish(unit, context, scope, body, before) if types.agree else None
            if len(diagnostics.problems) == before:
                return operator
    return None


def _finish(unit: Unit, context: Context, scope: Scope, body: tuple[Step, ...], before: int) -> Operator | None:
    define = scope.define
    _check_outputs(context, scope)
    if len(context.diagnostics.problems) > before:
        return None
    resolve_promises(context, scope)
    tensors: dict[str, Tensor] = {}
    for state in context.states.values():
        with context.diagnostics.collect():
            tensors[state.name] = finished(context, state)
    sizes = tuple(_sizes(context, scope))
    _warn_unused(context)
    return Operator(
        name=define.name.name,
        parameters=tuple(parameter.name.name for parameter in define.parameters),
        outputs=tuple(output.name.name for output in define.outputs),
        tensors=tensors,
        size_names=sizes,
        scalars=tuple(p.name.name for p in define.parameters if p.name.name in scope.values),
        body=body,
        text=canonical_text(unit, define),
        conditions=tuple(context.conditions),
        promises=tuple(context.promises),
        monoids=tuple(context.used_monoids.values()),
        warnings=tuple(context.warnings),
        generic=tuple(name.name for name in define.generics),
    )


def _sizes(context: Context, scope: Scope) -> list[str]:
    scalars = {parameter.name.name for parameter in scope.define.parameters}
    return [name for name, value in scope.values.items() if isinstance(value, Size) and name not in scalars]


# --- body


def resolve_steps(context: Context, scope: Scope, steps: tuple[StepNode, ...]) -> tuple[Step, ...]:
    """The steps of a block; a problem in one does not stop the others."""
    resolved: list[Step] = []
    for step in steps:
        count_statement(context.diagnostics, step.span)
        try:
            resolved += _resolve_step(context, scope, step)
        except Problem as problem:
            if not isinstance(problem, AlreadyReported):
                context.diagnostics.failed.append((problem, step))
                context.diagnostics.add(problem)
            _give_up(scope, step)
    return tuple(resolved)


def _give_up(scope: Scope, step: StepNode) -> None:
    for statement in statements_of((step,)):
        targets = statement.targets if isinstance(statement, Assign) else statement.results
        for target in targets:
            state = scope.tensors.get(target.name.name)
            if state is not None and state.role != "input" and state.box is None:
                state.broken = True


def _resolve_step(context: Context, scope: Scope, step: StepNode) -> tuple[Step, ...]:
    match step:
        case ForStep():
            return (_resolve_for(context, scope, step),)
        case CallStep(results, callee, arguments, span):
            pass
        case Assign((target,), op, (Apply(name, arguments, _),), (), False, span) if _is_call(context, scope, op, name):
            results, callee = (target,), name
        case Assign():
            return (resolve_assign(context, scope, step),)
    from workbench.lang.resolve.calls import resolve_call  # with what it needs, for texts of several defs

    return resolve_call(context, scope, results, callee, arguments, span, resolve_steps)


def _is_call(context: Context, scope: Scope, op: Name, callee: Name) -> bool:
    return op.name == "=" and callee.name in context.defs and callee.name not in scope.tensors


def _resolve_for(context: Context, scope: Scope, step: ForStep) -> For:
    word = step.range.index.name
    check_new_name(scope, step.range.index, "a loop")
    if word in scope.known():
        raise Problem(f"{word!r} already defined", step.range.index.span, "choose another name for the loop")
    resolver = ExprResolver(context, scope, None, f"a bound of {word}", tensors=False)
    lower, upper = (resolver.bound(term) for term in (step.range.lower, step.range.upper))
    if context.facts.at_least(polynomial(lower) - polynomial(upper), 0):
        raise Problem(f"empty range for {word!r}: {print_clause(step.range)}", step.range.span)
    actual = free_name(word, context.taken) if scope.inlined else word
    context.taken.add(actual)
    axis = Range(actual, lower, upper, "sequential", "given by the for")
    scope.axes[word] = Index(actual)
    context.axes.append(axis)
    try:
        body = resolve_steps(context, scope, step.body)
    finally:
        context.axes.pop()
        del scope.axes[word]
    return For(axis, body)


# --- after the body


def _check_outputs(context: Context, scope: Scope) -> None:
    read_sizes = {name for p in scope.define.parameters if p.type for dim in p.type.dims for name in names_in(dim)}
    for output in scope.define.outputs:
        state = scope.tensors[output.name.name]
        if not state.written and not state.broken:
            context.diagnostics.add(_never_written(context, output.name))
        for dim in output.type.dims if output.type and state.role == "output" else ():
            for term in terms(dim):
                if isinstance(term, Name) and isinstance(scope.values.get(term.name), Size):
                    _check_size_known(context, scope, term, read_sizes)


def _never_written(context: Context, output: Name) -> Problem:
    known = [state.name for state in context.states.values() if state.role == "temporary"]
    fix = f"the body writes {', '.join(known)}: is one of them meant?" if known else "write a statement for it"
    return Problem(f"undefined variable {output.name!r}: this output is never written", output.span, fix)


def _check_size_known(context: Context, scope: Scope, name: Name, read_sizes: set[str]) -> None:
    is_scalar = any(parameter.name.name == name.name for parameter in scope.define.parameters)
    if name.name not in read_sizes and not is_scalar:
        fix = f"add a parameter: int32 {name.name}"
        context.diagnostics.add(Problem(f"the size {name.name!r} occurs in no parameter", name.span, fix))


def _warn_unused(context: Context) -> None:
    for state in context.states.values():
        if state.role == "temporary" and not state.read:
            context.warnings.append(f"temporary {state.name!r} is written but never read")
