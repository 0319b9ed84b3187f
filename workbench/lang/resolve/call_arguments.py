"""Arguments of an inlined call: tensors by name, scalars as expressions, sizes solved from extents."""

from __future__ import annotations

from workbench.lang.algebra.normal_form import bound, divide, is_plain, polynomial, simplify
from workbench.lang.algebra.polynomial import Polynomial, number, split_linear
from workbench.lang.dtypes import BOOL, FLOAT32, INT64, DType
from workbench.lang.expr import Binary, Expr, Size
from workbench.lang.operator import Condition
from workbench.lang.printing.printer import print_term, show, type_name
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.scopes.scope import AlreadyReported, Context, Scope, TensorState, element_type
from workbench.lang.scopes.type_variables import check_type, default_type
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import GenericNode, Parameter
from workbench.lang.syntax.terms import Name, Span, Term, names_in
from workbench.lang.unify import WEAK, convert, settled, unify
from workbench.records import record

Generics = dict[str, GenericNode]


def bind_arguments(context: Context, scope: Scope, inner: Scope, arguments: tuple[Term, ...]) -> None:
    """Give the callee's parameters, type variables and sizes their meaning in the caller."""
    define = inner.define
    shaping = context.shaping.names(define)
    tensors: list[tuple[Parameter, TensorState, Span]] = []
    generics = {generic.name: generic for generic in define.generics}
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
            inner.values[parameter.name.name] = _scalar(
                context, scope, inner, generics, parameter, argument, is_shaping
            )
    inner.inputs = frozenset(parameter.name.name for parameter in define.parameters)
    for name in generics.keys() - inner.types.keys():
        inner.types[name] = default_type(generics[name])
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


def _bind_type(inner: Scope, generics: Generics, parameter: Parameter, found: DType | None, span: Span) -> DType:
    assert parameter.type is not None
    assert found is not None
    found = FLOAT32 if found == WEAK else found  # not known yet: the body is read again
    word = parameter.type.element.name
    if word in generics and word not in inner.types:
        check_type(generics[word], found, inner.define.name.name, span)
        inner.types[word] = found
    expected = element_type(inner, word)
    if expected is None:
        raise AlreadyReported
    if expected != found:
        words = f"expected type {type_name(expected)} but found {type_name(found)}"
        message = f"parameter {parameter.name.name}: {words}"
        raise Problem(message, span)
    return expected


def _scalar(
    context: Context,
    scope: Scope,
    inner: Scope,
    generics: Generics,
    parameter: Parameter,
    argument: Term,
    is_shaping: bool,
) -> Expr:
    assert parameter.type is not None
    resolver = ExprResolver(context, scope, None, f"parameter {parameter.name.name}")
    expr = resolver.resolve(argument)
    word = parameter.type.element.name
    if word in generics and word not in inner.types:
        check_type(generics[word], settled(expr).dtype, inner.define.name.name, argument.span)
        inner.types[word] = settled(expr).dtype
    dtype = element_type(inner, word)
    if dtype is None:
        raise AlreadyReported
    converted = convert(expr, dtype)
    if not _fits(expr, converted, dtype):
        message = f"parameter {parameter.name.name}: expected type {type_name(dtype)} but found {expr.dtype.name}"
        raise Problem(message, argument.span, f"write {type_name(dtype)}({print_term(argument)})")
    if is_shaping and dtype.is_integral:
        if not is_plain(converted):
            message = f"parameter {parameter.name.name} shapes {inner.define.name.name}: "
            raise Problem(message + "it takes sizes and integers with + - * / % min max, no data", argument.span)
        return simplify(converted, dtype)
    return converted


def _fits(expr: Expr, converted: Expr, dtype: DType) -> bool:
    if expr.dtype == dtype or type(converted).__name__ != "Cast":
        return True
    return unify(expr.dtype, dtype) == dtype and expr.dtype != BOOL


def _solve_sizes(context: Context, inner: Scope, tensors: list[tuple[Parameter, TensorState, Span]]) -> None:
    """Each size of the callee over the caller's sizes; what is over-determined becomes a condition."""
    unknown = {
        name
        for parameter, _, _ in tensors
        for dim in (parameter.type.dims if parameter.type else ())
        for name in names_in(dim)
        if name not in inner.values
    }
    dims = [
        (dim, high - low, f"{parameter.name.name} of {inner.define.name.name} is {state.name}")
        for parameter, state, _ in tensors
        for dim, (low, high) in zip(parameter.type.dims if parameter.type else (), state.box or [], strict=True)
    ]
    _substitute_sizes(context, inner, dims, unknown)
    for dim, extent, what in dims:
        wanted = dim_poly(context, inner, dim)
        gap = wanted - extent
        if gap and gap.constant is not None:
            message = f"{what}: its dimension {print_term(dim)} is {show(bound(wanted))}, found"
            raise Problem(f"{message} {show(bound(extent))}", tensors[0][2])
        if gap:
            expr = Binary("==", bound(wanted), bound(extent), BOOL)
            context.require(Condition(expr, f"{what}, with dimension {print_term(dim)}"))


def _substitute_sizes(
    context: Context, inner: Scope, dims: list[tuple[Term, Polynomial, str]], unknown: set[str]
) -> None:
    progress = True
    while unknown and progress:
        progress = False
        for dim, extent, _ in dims:
            symbols = {name: Size(name) for name in unknown}
            form = dim_poly(context, Scope(inner.define, inner.types, {**inner.values, **symbols}), dim)
            solution = solve_for(form, unknown)
            if solution:
                inner.values[solution.name] = bound(divide(extent - solution.rest, number(solution.factor)))
                unknown.discard(solution.name)
                progress = True
    if unknown:
        names = ", ".join(sorted(unknown))
        raise Problem(f"cannot solve the dimensions of {inner.define.name.name} for {names}", inner.define.name.span)


def dim_poly(context: Context, inner: Scope, dim: Term) -> Polynomial:
    """A dimension of the callee over the caller's sizes."""
    resolver = ExprResolver(context, inner, None, "a dimension", tensors=False)
    form = polynomial(resolver.bound(dim))
    if form.indices:
        loops = ", ".join(sorted(form.indices))
        raise Problem(f"a dimension of {inner.define.name.name} depends on the loop {loops}", dim.span)
    return form


# -- Solve the dimensions of parameters for their size symbols: one unknown at a time, linear with a number --

@record(slots=True)
class Solution:
    """`name = (extent - rest) / factor`, exactly."""

    name: str
    factor: int
    rest: Polynomial


def solve_for(dim: Polynomial, unknown: set[str]) -> Solution | None:
    """The one unknown of a dimension, if it has exactly one and is linear in it with a numeric factor."""
    names = {part.name for part in dim.atoms if isinstance(part, Size) and part.name in unknown}
    if len(names) != 1 or not all(isinstance(part, Size) for part in dim.atoms):
        return None
    (name,) = names
    factor, rest = split_linear(dim, Size(name, INT64)) or (None, dim)
    number = factor.constant if factor else None
    return Solution(name, number, rest) if number else None
