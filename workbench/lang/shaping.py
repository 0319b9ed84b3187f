"""Which integer scalars shape the program: those in a subscript, a range, a dimension or a loop bound."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.syntax import (
    Apply,
    Assign,
    CallStep,
    Define,
    ForStep,
    LetClause,
    Name,
    RangeClause,
    StepNode,
    Term,
    operands,
)


def shaping_names(define: Define, defs: dict[str, Define], active: tuple[str, ...] = ()) -> set[str]:
    """Every name that stands where a number shapes the program; lets and calls are followed."""
    found: set[str] = set()
    for parameter in (*define.parameters, *define.outputs):
        for dim in parameter.type.dims if parameter.type else ():
            found |= _names(dim)
    for promise in define.promises:
        for argument in promise.arguments[1:]:
            found |= _names(argument)
    for step in define.body:
        found |= _of_step(step, defs, (*active, define.name.name))
    return found


def _of_step(step: StepNode, defs: dict[str, Define], active: tuple[str, ...]) -> set[str]:
    match step:
        case ForStep(bounds, body, _):
            found = _names(bounds.lower) | _names(bounds.upper)
            return found.union(*(_of_step(each, defs, active) for each in body))
        case CallStep(_, callee, arguments, _):
            return _of_call(callee.name, arguments, defs, active)
        case Assign():
            return _of_assign(step, defs, active)


def _of_assign(step: Assign, defs: dict[str, Define], active: tuple[str, ...]) -> set[str]:
    match step.values:
        case (Apply(name, arguments, _),) if name.name in defs and step.op.name == "=":
            return _of_call(name.name, arguments, defs, active)
    lets = {clause.name.name: clause.value for clause in step.clauses if isinstance(clause, LetClause)}
    found = set().union(*(_names(s) for target in step.targets for s in target.subscripts))
    for clause in step.clauses:
        if isinstance(clause, RangeClause):
            found |= _names(clause.lower) | _names(clause.upper)
    values = [*step.values, *(c.value for c in step.clauses if not isinstance(c, RangeClause))]
    found = found.union(*(_subscripted(value) for value in values))
    for name in reversed(list(lets)):
        if name in found:
            found |= _names(lets[name])
    return found


def _of_call(callee: str, arguments: tuple[Term, ...], defs: dict[str, Define], active: tuple[str, ...]) -> set[str]:
    define = defs.get(callee)
    if define is None or callee in active:
        return set()
    inner = shaping_names(define, defs, active)
    pairs = zip(define.parameters, arguments, strict=False)
    return set().union(*(_names(argument) for parameter, argument in pairs if parameter.name.name in inner))


def _names(term: Term) -> set[str]:
    return {node.name for node in _walk(term) if isinstance(node, Name)}


def _walk(term: Term) -> Iterator[Term]:
    stack = [term]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(operands(node))


def _subscripted(term: Term) -> set[str]:
    """Names inside the subscripts of tensor accesses."""
    found: set[str] = set()
    for node in _walk(term):
        if isinstance(node, Apply) and not _is_function(node.name.name):
            found = found.union(*(_names(argument) for argument in node.arguments))
    return found


def _is_function(word: str) -> bool:
    return word in BUILTINS or word in ("min", "max") or ALIASES.get(word, word) in DTYPES
