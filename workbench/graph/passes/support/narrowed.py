"""Operators over narrower elements, written from their definitions: products that sum in a wider type."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import cache

from workbench.errors import OperatorError
from workbench.graph.passes.support.products import terms_of
from workbench.lang.definitions import operators
from workbench.lang.dtypes import INT32
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Assign, Clause, LetClause, Parameter, TypeNode, Unit
from workbench.lang.syntax.terms import Apply, Infix, Name, Prefix, Term, Ternary


@cache
def in_integers(op: Operator, one: str, other: str, bias: str | None = None) -> Operator | None:
    """The operator over int8, with int32 sums and an int32 bias; None unless it sums products of these two alone.

    `C(m,n) +=! A(m,k) * B(k,n)` becomes `C(m,n) +=! int32(A(m,k)) * int32(B(k,n))`.
    """
    products = {tuple(sorted((one, other)))}
    if terms_of(op) != (products if bias is None else products | {(bias,)}):
        return None
    found = narrowed(op, ((one, "int8"), (other, "int8"), *(((bias, "int32"),) if bias else ())), "int32")
    return found if found is not None and found.tensors[found.outputs[0]].dtype == INT32 else None


@cache
def narrowed(op: Operator, elements: tuple[tuple[str, str], ...], wide: str) -> Operator | None:
    """The operator with other elements of some arguments, which it takes for `wide` ones as it reads them.

    None where the language cannot say it so: parameters of all other types must be as they are.
    """
    define = next(each for each in parse(op.text).defs() if each.name.name == op.name)
    if not all(isinstance(step, Assign) and not step.is_tuple for step in define.body):
        return None
    given = dict(elements)
    parameters = tuple(_typed(each, given.get(each.name.name)) for each in define.parameters)
    body = tuple(_assign(step, given.keys(), wide) for step in define.body if isinstance(step, Assign))
    outputs = tuple(_typed(each, wide) for each in define.outputs)
    name = Name(f"{define.name.name}_in_{elements[0][1]}")
    made = replace(define, name=name, generics=(), parameters=parameters, outputs=outputs, body=body)
    try:
        return operators(print_unit(Unit((made,))))[name.name]
    except OperatorError:
        return None


def _typed(parameter: Parameter, element: str | None) -> Parameter:
    of = parameter.type
    return parameter if of is None or element is None else replace(parameter, type=TypeNode(Name(element), of.dims))


def _assign(step: Assign, names: Set[str], wide: str) -> Assign:
    values = tuple(_widened(each, names, wide) for each in step.values)
    return replace(step, values=values, clauses=tuple(_clause(each, names, wide) for each in step.clauses))


def _clause(clause: Clause, names: Set[str], wide: str) -> Clause:
    return replace(clause, value=_widened(clause.value, names, wide)) if isinstance(clause, LetClause) else clause


def _widened(term: Term, names: Set[str], wide: str) -> Term:
    """The term with every read of the arguments in the wide type."""
    match term:
        case Apply(name, _) if name.name in names:
            return Apply(Name(wide), (term,))
        case Apply(name, arguments):
            return Apply(name, tuple(_widened(each, names, wide) for each in arguments))
        case Prefix(op, operand):
            return Prefix(op, _widened(operand, names, wide))
        case Infix(op, left, right):
            return Infix(op, _widened(left, names, wide), _widened(right, names, wide))
        case Ternary(condition, then, otherwise):
            return Ternary(*(_widened(each, names, wide) for each in (condition, then, otherwise)))  # type: ignore[misc]
        case _:
            return term
