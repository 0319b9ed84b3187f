"""Element types chosen late: type variables, and `astype` for any operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from workbench.errors import OperatorError, unknown_name
from workbench.lang.definitions import instance, operator
from workbench.lang.dtypes import ALIASES, BOOL, DTYPES, DType, dtype
from workbench.lang.operator import Operator
from workbench.lang.printing.printer import print_unit, type_name
from workbench.lang.scopes.type_variables import check_type, default_type
from workbench.lang.syntax.diagnostics import Diagnostics
from workbench.lang.syntax.parser import parse
from workbench.lang.syntax.syntax import (
    Assign,
    CallStep,
    Clause,
    Define,
    ExistsClause,
    ForStep,
    LetClause,
    MonoidNode,
    Parameter,
    PromiseNode,
    RangeClause,
    StepNode,
    TargetNode,
    Unit,
)
from workbench.lang.syntax.terms import Apply, Infix, Name, Prefix, Term, Ternary

Rename = Callable[[str], str]


def astype(op: Operator, element: str | DType | np.dtype[Any] | type[np.generic]) -> Operator:
    """The operator in another element type: its name, or NumPy's dtype.

    Type variables are fixed to it.  In a def without any, its one floating type is replaced wherever it is
    written; OperatorError if it mixes several, or has none.

    >>> print(astype(operator("def twice(float(N) A) -> (B) { B(i) = 2.0 * A(i) }"), "double"))
    def twice(double(N) A) -> (B) {
        B(i) = 2.0 * A(i)
    }
    """
    wanted = element if isinstance(element, DType) else _named(element)
    if op.generic:
        return instantiate(op, dict.fromkeys(op.generic, wanted))
    unit = parse(op.text)
    floats = sorted({word for word in _words(unit) if DTYPES[word].is_float})
    if len(floats) != 1:
        found = f"mixes {', '.join(floats)}" if floats else "has no floating type"
        raise OperatorError(
            f"astype({wanted.name!r}): {op.name} {found}, so it is not clear what to replace; "
            f"make it generic: def {op.name}<T>(T(...) ...), or change the text"
        )
    return operator(print_unit(_renamed(unit, lambda word: _swap(word, floats[0], wanted))))


def _named(element: object) -> DType:
    if isinstance(element, np.dtype) or (isinstance(element, type) and issubclass(element, np.generic)):
        element = np.dtype(element).name
    if not isinstance(element, str) or ALIASES.get(element, element) not in DTYPES:
        raise OperatorError(unknown_name("element type", element, [*DTYPES, *ALIASES]))
    return dtype(element)


def _swap(word: str, old: str, wanted: DType) -> str:
    return type_name(wanted) if ALIASES.get(word, word) == old else word


def instantiate(op: Operator, types: Mapping[str, DType]) -> Operator:
    """The generic operator with its type variables fixed; one that is not named becomes float32 (int32 of integers).

    OperatorError for a type that is not of the variable's class.
    """
    return _instantiate(op, tuple((name, types.get(name)) for name in op.generic))


@lru_cache(maxsize=512)
def _instantiate(op: Operator, types: tuple[tuple[str, DType | None], ...]) -> Operator:
    unit = parse(op.text)
    names = {name: type_name(of) for name, of in _chosen(op, unit, dict(types)).items()}
    items = tuple(
        replace(_renamed_define(item, lambda word: names.get(word, word)), generics=())
        if isinstance(item, Define) and item.name.name == op.name
        else item
        for item in unit.items
    )
    return instance(print_unit(Unit(items)), op.name, strict=any(of == BOOL for _, of in types))


def _chosen(op: Operator, unit: Unit, types: Mapping[str, DType | None]) -> dict[str, DType]:
    diagnostics, chosen = Diagnostics(op.text), {}
    for generic in next(define.generics for define in unit.defs() if define.name.name == op.name):
        chosen[generic.name] = types[generic.name] or default_type(generic)
        with diagnostics.collect():
            check_type(generic, chosen[generic.name], op.name, generic.span)
    diagnostics.check()
    return chosen


def _words(unit: Unit) -> set[str]:
    """Full names of the element types written in parameters, outputs, fields and casts."""
    found: set[str] = set()

    def note(word: str) -> str:
        if ALIASES.get(word, word) in DTYPES:
            found.add(ALIASES.get(word, word))
        return word

    _renamed(unit, note)
    return found


# --- renaming of types in surface syntax


def _renamed(unit: Unit, rename: Rename) -> Unit:
    return Unit(
        tuple(
            _renamed_define(item, rename) if isinstance(item, Define) else _renamed_monoid(item, rename)
            for item in unit.items
        )
    )


def _renamed_define(define: Define, rename: Rename) -> Define:
    return replace(
        define,
        parameters=tuple(_parameter(parameter, rename) for parameter in define.parameters),
        outputs=tuple(_parameter(output, rename) for output in define.outputs),
        promises=tuple(PromiseNode(p.kind, _terms(p.arguments, rename)) for p in define.promises),
        body=tuple(_step(step, rename) for step in define.body),
    )


def _renamed_monoid(monoid: MonoidNode, rename: Rename) -> MonoidNode:
    return replace(
        monoid,
        fields=tuple(_parameter(field, rename) for field in monoid.fields),
        identity=_terms(monoid.identity, rename),
        combine=_terms(monoid.combine, rename),
        clauses=tuple(_clause(clause, rename) for clause in monoid.clauses),
    )


def _parameter(parameter: Parameter, rename: Rename) -> Parameter:
    if parameter.type is None:
        return parameter
    return replace(parameter, type=replace(parameter.type, element=_word(parameter.type.element, rename)))


def _word(name: Name, rename: Rename) -> Name:
    return replace(name, name=rename(name.name))


def _step(step: StepNode, rename: Rename) -> StepNode:
    match step:
        case ForStep(bounds, body, span):
            return ForStep(bounds, tuple(_step(each, rename) for each in body), span)
        case CallStep():
            return replace(step, arguments=_terms(step.arguments, rename))
        case Assign():
            return replace(
                step,
                targets=tuple(TargetNode(t.name, _terms(t.subscripts, rename), t.span) for t in step.targets),
                values=_terms(step.values, rename),
                clauses=tuple(_clause(clause, rename) for clause in step.clauses),
            )


def _clause(clause: Clause, rename: Rename) -> Clause:
    match clause:
        case RangeClause(index, lower, upper, span):
            return RangeClause(index, _term(lower, rename), _term(upper, rename), span)
        case LetClause(name, value):
            return LetClause(name, _term(value, rename))
        case ExistsClause(value):
            return ExistsClause(_term(value, rename))


def _terms(many: tuple[Term, ...], rename: Rename) -> tuple[Term, ...]:
    return tuple(_term(term, rename) for term in many)


def _term(term: Term, rename: Rename) -> Term:
    match term:
        case Apply(name, arguments, span):
            return Apply(_word(name, rename), _terms(arguments, rename), span)
        case Prefix(op, operand, span):
            return Prefix(op, _term(operand, rename), span)
        case Infix(op, left, right, op_span, span):
            return Infix(op, _term(left, rename), _term(right, rename), op_span, span)
        case Ternary(condition, then, otherwise, span):
            return Ternary(_term(condition, rename), _term(then, rename), _term(otherwise, rename), span)
        case _:
            return term
