"""Declared monoids: from their text to a typed `Monoid`, one for each choice of their type variables."""

from __future__ import annotations

from workbench.errors import unknown_name
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Binary, Cast, Const, Expr, Read, Unary
from workbench.lang.operator import Monoid
from workbench.lang.resolve.expressions import ExprResolver
from workbench.lang.scopes.scope import Context, Scope, check_new_name, element_type
from workbench.lang.scopes.type_variables import check_class, check_type, default_type
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import Assign, Define, LetClause, MonoidNode, RangeClause
from workbench.lang.syntax.terms import Name, Span, Term
from workbench.lang.unify import WEAK, computed, convert, limits, settled, unify


def of_truths(context: Context, reduction: str) -> Monoid:
    """A reduction of truth values: `+` and `max` say whether any is true, `*` and `min` whether all are.

    Bits that are added and kept as a bool are true if either is, so `+` is `or` and `*` is `and`.
    """
    name, op, start = ("or", "|", False) if reduction in ("+", "max") else ("and", "&", True)
    left, right = Read("a", (), BOOL), Read("b", (), BOOL)
    combine = Binary(op, left, right, BOOL)
    monoid = Monoid(name, ("truth",), (BOOL,), (Const(start, BOOL),), ("a",), ("b",), (combine,))
    context.used_monoids[repr(monoid)] = monoid
    return monoid


def monoid_for(context: Context, scope: Scope, node: Assign, name: str | None, values: list[Expr]) -> Monoid:
    """The monoid of a tuple statement, its type variables fixed by the values."""
    declared = context.monoids.get(name or "")
    if declared is None:
        raise Problem(unknown_name("monoid", name or "", context.monoids), node.op.span, "declare it: monoid name(...)")
    expected, targets, found = len(declared.fields), len(node.targets), len(values)
    if not expected == targets == found:
        message = f"monoid {name} has {expected} fields: found {targets} targets and {found} values"
        raise Problem(message, node.span)
    types = _type_variables(declared, scope, values, node.op.span)
    monoid = resolve_monoid(context, declared, types)
    context.used_monoids[repr(monoid)] = monoid
    context.used_items.add(declared.name.name)
    return monoid


def _type_variables(declared: MonoidNode, scope: Scope, values: list[Expr], span: Span) -> dict[str, DType]:
    types: dict[str, DType] = {}
    names = {name.name for name in declared.generics}
    for field, value in zip(declared.fields, values, strict=True):
        assert field.type is not None
        variable = field.type.element.name
        if variable in names:
            dtype = computed(value.dtype)
            types[variable] = unify(types[variable], dtype) if variable in types else dtype
    floors = {name: convert(Const(0.0, WEAK), dtype).dtype for name, dtype in types.items() if dtype.is_float}
    default = settled(Const(0.0, WEAK)).dtype
    settled_types = {name: default if dtype == WEAK else floors.get(name, dtype) for name, dtype in types.items()}
    for generic in declared.generics:
        check_class(generic)
        if generic.name in settled_types:
            check_type(generic, settled_types[generic.name], declared.name.name, span)
    return {**scope.types, **{generic.name: default_type(generic) for generic in declared.generics}, **settled_types}


def resolve_monoid(context: Context, node: MonoidNode, types: dict[str, DType]) -> Monoid:
    """The typed monoid."""
    scope = Scope(_as_define(node), types)
    dtypes = tuple(_field_type(scope, field.type.element) for field in node.fields if field.type)
    fields = tuple(field.name.name for field in node.fields)
    count = len(fields)
    _check_counts(node, count)
    constants = ExprResolver(context, scope, None, f"the identity of {node.name.name}", False)
    identity = tuple(_identity(constants, term, dtype) for term, dtype in zip(node.identity, dtypes, strict=True))
    combine = _combine(context, scope, node, dtypes)
    left, right = (tuple(name.name for name in names) for names in (node.left, node.right))
    return Monoid(node.name.name, fields, dtypes, identity, left, right, combine)


def _as_define(node: MonoidNode) -> Define:
    return Define(node.name, node.generics, node.fields, (), (), ())


def _field_type(scope: Scope, element: Name) -> DType:
    dtype = element_type(scope, element.name)
    if dtype is None:
        raise Problem(f"expected a scalar type but found {element.name!r}", element.span)
    return dtype


def _check_counts(node: MonoidNode, count: int) -> None:
    if len({field.name.name for field in node.fields}) < count:
        raise Problem("a field already defined stands twice", node.name.span)
    parts = {
        "identity": node.identity,
        "left operand": node.left,
        "right operand": node.right,
        "result": node.combine,
    }
    for what, part in parts.items():
        if len(part) != count:
            message = f"monoid {node.name.name} has {count} fields but its {what} has {len(part)}"
            raise Problem(message, part[0].span)
    names = [name.name for name in (*node.left, *node.right)]
    for name in (*node.left, *node.right):
        if names.count(name.name) > 1:
            raise Problem(f"{name.name!r} already defined: operands of combine need different names", name.span)


def _identity(resolver: ExprResolver, term: Term, dtype: DType) -> Expr:
    expr = resolver.resolve(term)
    if dtype.is_integral and expr.dtype == WEAK:
        return _extreme_of(expr, dtype, term.span)
    return _fitted(expr, dtype, "the identity", term.span)


def _extreme_of(expr: Expr, dtype: DType, span: Span) -> Expr:
    """inf of an integer type is its largest value, -inf its smallest."""
    smallest, largest = limits(dtype)
    match expr:
        case Const(value, _) if value == float("inf"):
            return Const(largest, dtype)
        case Const(value, _) if value == float("-inf"):
            return Const(smallest, dtype)
        case Unary("-", Const(value, _), _) if value == float("inf"):
            return Const(smallest, dtype)
    raise Problem(f"the identity must be {dtype.name} but is a float", span)


def _fitted(expr: Expr, dtype: DType, what: str, span: Span) -> Expr:
    converted = convert(expr, dtype)
    fits = expr.dtype in (WEAK, dtype) or unify(expr.dtype, dtype) == dtype or not isinstance(converted, Cast)
    if not fits or (expr.dtype == WEAK and not dtype.is_float):
        raise Problem(f"{what} must be {dtype.name} but is {expr.dtype.name}", span, f"write {dtype.name}(...)")
    return converted


def _combine(context: Context, scope: Scope, node: MonoidNode, dtypes: tuple[DType, ...]) -> tuple[Expr, ...]:
    resolver = ExprResolver(context, scope, None, f"combine of {node.name.name}", False)
    lets: dict[str, Expr] = {}
    for names in (node.left, node.right):
        for name, dtype in zip(names, dtypes, strict=True):
            check_new_name(scope, name, "an operand")
            scope.values[name.name] = Read(name.name, (), dtype)
    for clause in node.clauses:
        if not isinstance(clause, LetClause):
            span = clause.span if isinstance(clause, RangeClause) else clause.value.span
            raise Problem("expected a let (name = expression) in the where of a monoid", span)
        if clause.name.name in scope.values:
            raise Problem(f"{clause.name.name!r} already defined", clause.name.span)
        lets[clause.name.name] = scope.values[clause.name.name] = resolver.resolve(clause.value)
    return tuple(
        _fitted(resolver.resolve(term), dtype, "the result", term.span)
        for term, dtype in zip(node.combine, dtypes, strict=True)
    )
