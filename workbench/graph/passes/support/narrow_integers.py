"""Operators over 8-bit integers: a product of two arguments that sums in int32, written from its definition."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from workbench.errors import OperatorError
from workbench.graph.passes.support.products import terms_of
from workbench.lang.definitions import operators
from workbench.lang.dtypes import INT32
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Assign, Clause, Define, LetClause, Parameter, TypeNode, Unit
from workbench.lang.syntax.terms import Apply, Infix, Name, Prefix, Term, Ternary


@cache
def in_integers(op: Operator, one: str, other: str) -> Operator | None:
    """The operator over int8, with int32 sums; None unless its result sums products of these two arguments alone.

    `C(m,n) +=! A(m,k) * B(k,n)` becomes `C(m,n) +=! int32(A(m,k)) * int32(B(k,n))`.
    """
    if terms_of(op) != {tuple(sorted((one, other)))}:
        return None
    define = next(each for each in parse(op.text).defs() if each.name.name == op.name)
    if not all(isinstance(step, Assign) and not step.is_tuple for step in define.body):
        return None
    made = _narrowed(define, {one, other})
    try:
        found = operators(print_unit(Unit((made,))))[made.name.name]
    except OperatorError:
        return None
    return found if found.tensors[found.outputs[0]].dtype == INT32 else None


def _narrowed(define: Define, names: set[str]) -> Define:
    narrow = tuple(_typed(each, "int8") if each.name.name in names else each for each in define.parameters)
    body = tuple(_assign(step, names) for step in define.body if isinstance(step, Assign))
    outputs = tuple(_typed(each, "int32") for each in define.outputs)
    name = Name(f"{define.name.name}_int8")
    return replace(define, name=name, generics=(), parameters=narrow, outputs=outputs, body=body)


def _typed(parameter: Parameter, element: str) -> Parameter:
    of = parameter.type
    return parameter if of is None else replace(parameter, type=TypeNode(Name(element), of.dims))


def _assign(step: Assign, names: set[str]) -> Assign:
    values = tuple(_widened(each, names) for each in step.values)
    return replace(step, values=values, clauses=tuple(_clause(each, names) for each in step.clauses))


def _clause(clause: Clause, names: set[str]) -> Clause:
    return replace(clause, value=_widened(clause.value, names)) if isinstance(clause, LetClause) else clause


def _widened(term: Term, names: set[str]) -> Term:
    """The term with every read of the arguments as an int32."""
    match term:
        case Apply(name, _) if name.name in names:
            return Apply(Name("int32"), (term,))
        case Apply(name, arguments):
            return Apply(name, tuple(_widened(each, names) for each in arguments))
        case Prefix(op, operand):
            return Prefix(op, _widened(operand, names))
        case Infix(op, left, right):
            return Infix(op, _widened(left, names), _widened(right, names))
        case Ternary(condition, then, otherwise):
            return Ternary(_widened(condition, names), _widened(then, names), _widened(otherwise, names))
        case _:
            return term
