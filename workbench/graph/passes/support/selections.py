"""Operators that only choose among the cells of their one argument and 0: they commute with rounding to integers.

Rounding to a scale and cutting off is monotone and keeps 0, so `q(max(x, 0)) = max(q(x), 0)`, and so for maxima over
windows, transpositions, slices and padding.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import lru_cache
from math import inf

from workbench.errors import OperatorError
from workbench.graph.evaluation.operators import inputs_of
from workbench.lang.definitions import operators
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import Assign, Define, Parameter, RangeClause, StepNode, TypeNode, Unit
from workbench.lang.syntax.terms import Apply, Literal, Name, Prefix, Term, Ternary, terms

_CHOOSING = {"max", "min", "fmax", "fmin"}
_COMBINING = {"=", "max=", "max=!", "min=", "min=!"}
_BOUNDS = {inf: 127, -inf: -128, 0: 0}


@lru_cache(maxsize=512)
def selection(op: Operator) -> Operator | None:
    """The operator over int8, if it only chooses among cells of its one argument and 0; else None."""
    names = inputs_of(op)
    if len(names) != 1 or len(op.outputs) != 1 or op.promises or not op.tensors[names[0]].dtype.is_float:
        return None
    define = next((each for each in parse(op.text).defs() if each.name.name == op.name), None)
    if define is None:
        return None
    try:
        made = _narrow(define, names[0], set(op.tensors), {each.name for each in define.generics})
        return operators(print_unit(Unit((made,))))[made.name.name]
    except OperatorError:
        return None


def _narrow(define: Define, argument: str, tensors: Set[str], generics: Set[str]) -> Define:
    return replace(
        define,
        name=Name(f"{define.name.name}_of_int8"),
        generics=(),
        parameters=tuple(_typed(each) if each.name.name == argument else each for each in define.parameters),
        outputs=tuple(map(_typed, define.outputs)),
        body=tuple(_step(each, tensors, generics) for each in define.body),
    )


def _typed(parameter: Parameter) -> Parameter:
    of = parameter.type
    return parameter if of is None else replace(parameter, type=TypeNode(Name("int8"), of.dims))


def _step(step: StepNode, tensors: Set[str], generics: Set[str]) -> Assign:
    if not isinstance(step, Assign) or step.is_tuple or step.op.name not in _COMBINING:
        raise OperatorError("more than a choice")
    if not all(isinstance(each, RangeClause) for each in step.clauses):
        raise OperatorError("names for values")
    return replace(step, values=tuple(_value(each, tensors, generics) for each in step.values))


def _value(term: Term, tensors: Set[str], generics: Set[str]) -> Term:
    match term:
        case Apply(name, arguments) if name.name in tensors:
            _refuse_reads(arguments, tensors)
            return term
        case Apply(name, arguments) if name.name in _CHOOSING:
            return replace(term, arguments=tuple(_value(each, tensors, generics) for each in arguments))
        case Apply(name, (argument,)) if name.name in {"float", *generics}:
            return _value(argument, tensors, generics)
        case Ternary(condition, then, otherwise):
            _refuse_reads((condition,), tensors)
            return replace(
                term, then=_value(then, tensors, generics), otherwise=_value(otherwise, tensors, generics)
            )  # fmt: skip
        case Prefix("-", Literal() | Name() as inner):
            return _constant(-_number(inner))
        case Literal() | Name():
            return _constant(_number(term))
        case _:
            raise OperatorError("more than a choice")


def _refuse_reads(inside: tuple[Term, ...], tensors: Set[str]) -> None:
    """Subscripts and conditions that depend on what is read, or on names of numbers."""
    if any(isinstance(each, Apply) and each.name.name in tensors for part in inside for each in terms(part)):
        raise OperatorError("a choice by what is read")


def _number(term: Literal | Name) -> float:
    if isinstance(term, Literal):
        return term.value
    if term.name != "inf":
        raise OperatorError(f"{term.name} is no constant")
    return inf


def _constant(value: float) -> Term:
    if value not in _BOUNDS:
        raise OperatorError("a constant that has a scale")
    bound = _BOUNDS[value]
    literal = Literal(abs(bound))
    return Apply(Name("int8"), (Prefix("-", literal) if bound < 0 else literal,))
