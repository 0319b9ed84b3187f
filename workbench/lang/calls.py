"""Calls between defs are inlined: the callee's body is resolved in the caller's names and sizes."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import unknown_name
from workbench.lang.diagnostics import Problem
from workbench.lang.dtypes import BOOL, FLOAT32, DType
from workbench.lang.expr import Binary, Expr, Read, substitute, walk
from workbench.lang.operator import Condition, Step
from workbench.lang.polynomial import Poly, add, as_constant, divide, expression, polynomial, scale, simplify
from workbench.lang.printer import print_term, show, type_name
from workbench.lang.promises import inlined_promises
from workbench.lang.resolve_expr import ExprResolver, element_type
from workbench.lang.scope import AlreadyReported, Context, Scope, TensorState
from workbench.lang.shaping import shaping_names
from workbench.lang.solving import solve_for
from workbench.lang.syntax import Apply, Define, Name, Parameter, Span, StepNode, TargetNode, Term, terms
from workbench.lang.unify import convert, settled, unify

DEEPEST_CALLS = 16
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
    _bind_arguments(context, scope, inner, arguments)
    outputs = [_result(scope, target, arguments) for target in results]
    _declare_results(context, inner, outputs, results)
    _declare_temporaries(context, inner)
    context.promises += inlined_promises(context, inner)
    context.calls.append(define.name.name)
    context.used_items.add(define.name.name)
    steps = resolve_steps(context, inner, define.body)
    context.calls.pop()
    return steps


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


def _bind_arguments(context: Context, scope: Scope, inner: Scope, arguments: tuple[Term, ...]) -> None:
    define = inner.define
    shaping = shaping_names(define, context.defs)
    tensors: list[tuple[Parameter, TensorState, Span]] = []
    generics = {name.name for name in define.generics}
    pairs = list(zip(define.parameters, arguments, strict=True))
    for parameter, argument in pairs:
        if parameter.type and parameter.type.dims:
            state = _tensor_argument(scope, parameter, argument)
            _bind_type(inner, generics, parameter, state.dtype, argument.span)
            inner.tensors[parameter.name.name] = state
            tensors.append((parameter, state, argument.span))
    for parameter, argument in pairs:
        if parameter.name.name not in inner.tensors:
            is_shaping = parameter.name.name in shaping
            inner.values[parameter.name.name] = _scalar(context, scope, inner, generics, parameter, argument, is_shaping)
    inner.inputs = frozenset(parameter.name.name for parameter in define.parameters)
    for name in generics - inner.types.keys():
        inner.types[name] = FLOAT32
    _solve_sizes(context, inner, tensors)


def _tensor_argument(scope: Scope, parameter: Parameter, argument: Term) -> TensorState:
    assert parameter.type is not None
    state = scope.tensors.get(argument.name) if isinstance(argument, Name) else None
    if state is None:
        fix = "write the name of a tensor; give other values a name first"
        message = f"parameter {parameter.name.name} is a tensor: expected a tensor but found {print_term(argument)}"
        raise Problem(message, argument.span, fix)
    if state.broken:
        raise AlreadyReported
    if not state.written and state.role not in ("input", "inout"):
        raise Problem(f"undefined variable {state.name!r} used here: nothing has been written to it yet", argument.span)
    state.read = True
    rank, expected = state.rank, len(parameter.type.dims)
    if rank != expected:
        message = f"parameter {parameter.name.name} has {expected} dimensions: expected {expected} but found {rank}"
        raise Problem(message, argument.span)
    return state


def _bind_type(inner: Scope, generics: set[str], parameter: Parameter, found: DType | None, span: Span) -> DType:
    assert parameter.type is not None and found is not None
    word = parameter.type.element.name
    if word in generics and word not in inner.types:
        inner.types[word] = found
    expected = element_type(inner, word)
    if expected is None:
        raise AlreadyReported
    if expected != found:
        message = f"parameter {parameter.name.name}: expected type {type_name(expected)} but found {type_name(found)}"
        raise Problem(message, span)
    return expected


def _scalar(
    context: Context,
    scope: Scope,
    inner: Scope,
    generics: set[str],
    parameter: Parameter,
    argument: Term,
    is_shaping: bool,
) -> Expr:
    assert parameter.type is not None
    resolver = ExprResolver(context, scope, None, f"parameter {parameter.name.name}")
    expr = resolver.resolve(argument)
    word = parameter.type.element.name
    if word in generics and word not in inner.types:
        inner.types[word] = settled(expr).dtype
    dtype = element_type(inner, word)
    if dtype is None:
        raise AlreadyReported
    converted = convert(expr, dtype)
    if not _fits(expr, converted, dtype):
        message = f"parameter {parameter.name.name}: expected type {type_name(dtype)} but found {expr.dtype.name}"
        raise Problem(message, argument.span, f"write {type_name(dtype)}({print_term(argument)})")
    if is_shaping and dtype.is_integral:
        if any(isinstance(node, Read) for node in walk(converted)):
            message = f"parameter {parameter.name.name} shapes {inner.define.name.name}: it may not depend on data"
            raise Problem(message, argument.span)
        return simplify(converted)
    return converted


def _fits(expr: Expr, converted: Expr, dtype: DType) -> bool:
    if expr.dtype == dtype or type(converted).__name__ != "Cast":
        return True
    return unify(expr.dtype, dtype) == dtype and expr.dtype != BOOL


def _solve_sizes(context: Context, inner: Scope, tensors: list[tuple[Parameter, TensorState, Span]]) -> None:
    """Each size of the callee as an expression over the caller's; what is over-determined becomes a condition."""
    unknown = {
        term.name
        for parameter, _, _ in tensors
        for dim in (parameter.type.dims if parameter.type else ())
        for term in terms(dim)
        if isinstance(term, Name) and term.name not in inner.values
    }
    dims = [
        (dim, add(high, low, -1), f"{parameter.name.name} of {inner.define.name.name} is {state.name}")
        for parameter, state, _ in tensors
        for dim, (low, high) in zip(parameter.type.dims if parameter.type else (), state.box or [], strict=True)
    ]
    _substitute_sizes(context, inner, dims, unknown)
    for dim, extent, what in dims:
        wanted = _dim_poly(context, inner, dim)
        gap = add(wanted, extent, -1)
        if gap and as_constant(gap) is not None:
            message = f"{what}: its dimension {print_term(dim)} is {show(expression(wanted))}, found"
            raise Problem(f"{message} {show(expression(extent))}", tensors[0][2])
        if gap:
            expr = Binary("==", expression(wanted), expression(extent), BOOL)
            context.require(Condition(expr, f"{what}, with dimension {print_term(dim)}"))


def _substitute_sizes(context: Context, inner: Scope, dims: list[tuple[Term, Poly, str]], unknown: set[str]) -> None:
    from workbench.lang.expr import Size

    progress = True
    while unknown and progress:
        progress = False
        for dim, extent, _ in dims:
            symbols = {name: Size(name) for name in unknown}
            form = _dim_poly(context, Scope(inner.define, inner.types, {**inner.values, **symbols}), dim)
            solution = solve_for(form, unknown)
            if solution:
                rest = add(extent, solution.rest, -1)
                inner.values[solution.name] = expression(divide(rest, {(): solution.factor}))
                unknown.discard(solution.name)
                progress = True
    if unknown:
        names = ", ".join(sorted(unknown))
        raise Problem(f"cannot solve the dimensions of {inner.define.name.name} for {names}", inner.define.name.span)


def _dim_poly(context: Context, inner: Scope, dim: Term) -> Poly:
    resolver = ExprResolver(context, inner, None, "a dimension", tensors=False)
    return polynomial(simplify(resolver.integer(dim)))


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
        elif dtype != state.dtype and dtype is not None:
            message = f"{state.name} has type {type_name(state.dtype)} but {inner.define.name.name} gives"
            raise Problem(f"{message} {type_name(dtype)}", target.span)
        dims = [({}, _dim_poly(context, inner, dim)) for dim in output.type.dims]
        if state.declared is None and state.role == "temporary":
            state.declared = [(low, high) for low, high in dims]


def _declare_temporaries(context: Context, inner: Scope) -> None:
    from workbench.lang.resolve import declare_temporaries

    declare_temporaries(context, inner)


def called_defs(context: Context) -> set[str]:
    """Names of the defs and monoids that were used."""
    return set(context.used_items)


__all__ = ["called_defs", "resolve_call", "scale", "substitute"]
