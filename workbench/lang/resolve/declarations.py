"""What a def declares: scalars that shape the program, sizes, inputs, outputs, temporaries; and what it promises.

Promises are about data: `injective(idx)` and `in_range(idx, lo, hi)`.
"""

from __future__ import annotations

from workbench.errors import unknown_name
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import ZERO
from workbench.lang.dtypes import INT32, INT64, DType
from workbench.lang.expr import Size
from workbench.lang.operator import Promise
from workbench.lang.printing.printer import print_term
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.scopes.scope import Box, Context, Scope, TensorState, check_new_name, element_type
from workbench.lang.scopes.type_variables import check_class, default_type
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import Assign, Parameter, PromiseNode, TypeNode, statements_of
from workbench.lang.syntax.terms import Name, terms


def declare(context: Context, scope: Scope) -> None:
    """Give every declared name of the def its meaning."""
    define = scope.define
    for generic in define.generics:
        with context.diagnostics.collect():
            check_class(generic)
        scope.types[generic.name] = default_type(generic)
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
    for generic in define.generics:
        _once(context, seen, Name(generic.name, generic.span))
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
    params = {parameter.name.name: parameter for parameter in define.parameters}
    for name, parameter in params.items():
        dtype = element_type(scope, parameter.type.element.name) if parameter.type else None
        scalar = parameter.type and not parameter.type.dims and dtype and dtype.is_integral
        if scalar and name in context.shaping.names(define):
            assert dtype is not None
            wide = dtype.bits + (dtype.kind == "uint") > INT32.bits
            scope.values[name] = Size(name, INT64 if wide else INT32)
    for owner in (*define.parameters, *define.outputs):
        for dim in owner.type.dims if owner.type else ():
            for term in terms(dim):
                if isinstance(term, Name) and (tensor := params.get(term.name)) and tensor.type and tensor.type.dims:
                    message = f"{term.name!r} is a size in this dimension, and a parameter of the same name is a tensor"
                    raise Problem(message, term.span, "a size and a tensor need different names: rename one of them")
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
    if name in scope.values:
        raise Problem(f"{name!r} already defined: it is a size", output.name.span, "choose another name")
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
    return [(ZERO, polynomial(resolver.bound(dim))) for dim in node.dims]


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
