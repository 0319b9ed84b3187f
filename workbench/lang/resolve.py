"""A whole def: parameters, outputs, body; from surface syntax to an Operator."""

from __future__ import annotations

from workbench.errors import unknown_name
from workbench.lang.calls import called_defs, resolve_call
from workbench.lang.diagnostics import Diagnostics, Problem
from workbench.lang.dtypes import FLOAT32, DType
from workbench.lang.expr import Expr, Index, Size
from workbench.lang.operator import For, Operator, Range, Step, Tensor
from workbench.lang.polynomial import add, polynomial, simplify
from workbench.lang.printer import print_clause
from workbench.lang.promises import resolve_promises
from workbench.lang.resolve_expr import ExprResolver, check_new_name, element_type
from workbench.lang.resolve_statement import resolve_assign
from workbench.lang.scope import AlreadyReported, Box, Context, Scope, TensorState
from workbench.lang.shapes import finished
from workbench.lang.shaping import shaping_names
from workbench.lang.syntax import (
    Apply,
    Assign,
    CallStep,
    Define,
    ForStep,
    Name,
    Parameter,
    StepNode,
    TypeNode,
    Unit,
    statements_of,
    terms,
)
from workbench.lang.texts import canonical_text


def resolve_define(unit: Unit, define: Define, diagnostics: Diagnostics) -> Operator | None:
    """The operator a def means, or None if problems were recorded."""
    defs = {each.name.name: each for each in unit.defs()}
    monoids = {each.name.name: each for each in unit.monoids()}
    context = Context(defs, monoids, diagnostics)
    context.calls.append(define.name.name)
    before = len(diagnostics.problems)
    scope = Scope(define)
    with diagnostics.collect():
        _declare(context, scope)
        if len(diagnostics.problems) == before:
            body = resolve_steps(context, scope, define.body)
            operator = _finish(unit, context, scope, body, before)
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


# --- declarations


def _declare(context: Context, scope: Scope) -> None:
    define = scope.define
    for generic in define.generics:
        scope.types[generic.name] = FLOAT32
    _check_names(context, scope)
    _declare_sizes(context, scope)
    for parameter in define.parameters:
        with context.diagnostics.collect():
            _declare_input(context, scope, parameter)
    for output in define.outputs:
        with context.diagnostics.collect():
            _declare_output(context, scope, output)
    declare_temporaries(context, scope)
    context.taken |= {*scope.tensors, *scope.values}


def _check_names(context: Context, scope: Scope) -> None:
    seen: set[str] = set()
    define = scope.define
    for name in define.generics:
        _once(context, seen, name)
    for parameter in (*define.parameters, *define.outputs):
        _once(context, seen, parameter.name)
        with context.diagnostics.collect():
            check_new_name(scope, parameter.name, "a tensor")


def _once(context: Context, seen: set[str], name: Name) -> None:
    if name.name in seen:
        context.diagnostics.add(Problem(f"{name.name!r} already defined", name.span, "choose another name"))
    seen.add(name.name)


def _declare_sizes(context: Context, scope: Scope) -> None:
    """Scalars that shape the program, then every other name in a dimension, in order of appearance."""
    define = scope.define
    shaping = shaping_names(define, context.defs)
    params = {parameter.name.name: parameter for parameter in define.parameters}
    for name, parameter in params.items():
        dtype = element_type(scope, parameter.type.element.name) if parameter.type else None
        if parameter.type and not parameter.type.dims and name in shaping and dtype and dtype.is_integral:
            scope.values[name] = Size(name, dtype)
    for owner in (*define.parameters, *define.outputs):
        for dim in owner.type.dims if owner.type else ():
            for term in terms(dim):
                if isinstance(term, Name) and term.name not in scope.values and term.name not in params:
                    with context.diagnostics.collect():
                        check_new_name(scope, term, "a size")
                        scope.values[term.name] = Size(term.name)
                        context.facts.lowest[term.name] = 0


def _declare_input(context: Context, scope: Scope, parameter: Parameter) -> None:
    name = parameter.name.name
    if name in scope.values:
        return
    assert parameter.type is not None
    state = TensorState(name, "input", parameter.name.span)
    scope.tensors[name] = context.states[name] = state
    state.broken = True
    state.dtype = declared_type(scope, parameter.type)
    state.box = declared_box(context, scope, parameter.type)
    state.broken = False


def _declare_output(context: Context, scope: Scope, output: Parameter) -> None:
    name = output.name.name
    state = TensorState(name, "output", output.name.span)
    scope.tensors[name] = context.states[name] = state
    if output.type is not None:
        state.broken = True
        state.dtype = declared_type(scope, output.type)
        state.declared = declared_box(context, scope, output.type)
        state.broken = False


def declared_type(scope: Scope, node: TypeNode) -> DType:
    """The element type of an annotation."""
    dtype = element_type(scope, node.element.name)
    if dtype is None:
        known = ["float", "double", "int", "half", "bool", "int8", "uint8", "int64", "bfloat16", *scope.types]
        raise Problem(f"expected a scalar type: {unknown_name('type', node.element.name, known)}", node.element.span)
    return dtype


def declared_box(context: Context, scope: Scope, node: TypeNode) -> Box:
    """The box of an annotation: every dimension starts at 0."""
    resolver = ExprResolver(context, scope, None, "a dimension", tensors=False)
    return [({}, polynomial(simplify(resolver.integer(dim)))) for dim in node.dims]


def declare_temporaries(context: Context, scope: Scope) -> None:
    """Every tensor that is written but not declared."""
    for statement in statements_of(scope.define.body):
        targets = statement.targets if isinstance(statement, Assign) else statement.results
        for target in targets:
            name = target.name.name
            if name not in scope.tensors and name not in scope.values:
                with context.diagnostics.collect():
                    check_new_name(scope, target.name, "a tensor")
                    actual = context.fresh(f"{scope.define.name.name}_{name}") if scope.inlined else name
                    state = TensorState(actual, "temporary", target.name.span)
                    scope.tensors[name] = context.states[actual] = state


# --- body


def resolve_steps(context: Context, scope: Scope, steps: tuple[StepNode, ...]) -> tuple[Step, ...]:
    """The steps of a block; a problem in one does not stop the others."""
    resolved: list[Step] = []
    for step in steps:
        try:
            resolved += _resolve_step(context, scope, step)
        except Problem as problem:
            if not isinstance(problem, AlreadyReported):
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
            return resolve_call(context, scope, results, callee, arguments, span, resolve_steps)
        case Assign((target,), op, (Apply(name, arguments, _),), (), False, span) if _is_call(context, scope, op, name):
            return resolve_call(context, scope, (target,), name, arguments, span, resolve_steps)
        case Assign():
            return (resolve_assign(context, scope, step),)


def _is_call(context: Context, scope: Scope, op: Name, callee: Name) -> bool:
    return op.name == "=" and callee.name in context.defs and callee.name not in scope.tensors


def _resolve_for(context: Context, scope: Scope, step: ForStep) -> For:
    word = step.range.index.name
    check_new_name(scope, step.range.index, "a loop")
    if word in scope.known():
        raise Problem(f"{word!r} already defined", step.range.index.span, "choose another name for the loop")
    resolver = ExprResolver(context, scope, None, f"a bound of {word}", tensors=False)
    lower, upper = (simplify(resolver.integer(term)) for term in (step.range.lower, step.range.upper))
    if context.facts.at_least(add(polynomial(lower), polynomial(upper), -1), 0):
        raise Problem(f"empty range for {word!r}: {print_clause(step.range)}", step.range.span)
    actual = context.fresh(word) if scope.inlined else word
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
    read_sizes = {name for p in scope.define.parameters if p.type for dim in p.type.dims for name in _names(dim)}
    for output in scope.define.outputs:
        state = scope.tensors[output.name.name]
        if not state.written and not state.broken:
            known = [s.name for s in context.states.values() if s.role == "temporary"]
            fix = f"the body writes {', '.join(known)}: is one of them meant?" if known else "write a statement for it"
            context.diagnostics.add(Problem(f"undefined variable {state.name!r}: this output is never written",
                                            output.name.span, fix))  # fmt: skip
        for dim in output.type.dims if output.type and state.role == "output" else ():
            for term in terms(dim):
                if isinstance(term, Name) and isinstance(scope.values.get(term.name), Size):
                    _check_size_known(context, scope, term, read_sizes)


def _check_size_known(context: Context, scope: Scope, name: Name, read_sizes: set[str]) -> None:
    is_scalar = any(parameter.name.name == name.name for parameter in scope.define.parameters)
    if name.name not in read_sizes and not is_scalar:
        fix = f"add a parameter: int32 {name.name}"
        context.diagnostics.add(Problem(f"the size {name.name!r} occurs in no parameter", name.span, fix))


def _names(dim: object) -> set[str]:
    return {term.name for term in terms(dim) if isinstance(term, Name)}  # type: ignore[arg-type]


def _warn_unused(context: Context) -> None:
    for state in context.states.values():
        if state.role == "temporary" and not state.read:
            context.warnings.append(f"temporary {state.name!r} is written but never read")


__all__ = ["Expr", "called_defs", "resolve_define", "resolve_steps"]
