"""Walks over terms that may be as deep as they like, and visit a shared node once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, TypeVar

from workbench.graph.terms.nodes import (
    Binder,
    Call,
    Clause,
    Construction,
    Function,
    If,
    Items,
    Let,
    Match,
    NewReference,
    Pattern,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
    bound_by,
)

R = TypeVar("R")
Steps = Generator[Any, Any, R]


def run(steps: Steps[R]) -> R:
    """The result of a recursion written as generators: `yield f(x)` calls, and no stack of Python's grows."""
    stack: list[Steps[Any]] = [steps]
    value: Any = None
    error: Exception | None = None
    while True:
        try:
            called = stack[-1].send(value) if error is None else stack[-1].throw(error)
        except StopIteration as done:
            value, error = done.value, None
        except Exception as raised:
            value, error = None, raised
        else:
            stack.append(called)
            value, error = None, None
            continue
        stack.pop()
        if not stack:
            if error is not None:
                raise error
            return value


def operands(term: Term) -> tuple[Term, ...]:
    """The terms directly inside, in order of evaluation: those of bodies and branches, and what is called, included.

    Variables that a term binds are not operands.
    """
    match term:
        case Call(function, arguments):
            return (function, *arguments)
        case Function(_, body):
            return (body,)
        case Let(_, value, body):
            return (value, body)
        case Tuple(items):
            return items
        case Projection(of, _):
            return (of,)
        case If(condition, then, otherwise):
            return (condition, then, otherwise)
        case Match(value, clauses):
            return (value, *(clause.body for clause in clauses))
        case NewReference(value):
            return (value,)
        case ReadReference(reference):
            return (reference,)
        case WriteReference(reference, value):
            return (reference, value)
        case _:
            return ()


def with_operands(term: Term, new: tuple[Term, ...]) -> Term:
    """The same node over other operands; itself where they are the same."""
    if all(a is b for a, b in zip(operands(term), new, strict=True)):
        return term
    match term:
        case Call(_, _, sizes, label, span):
            return Call(new[0], new[1:], sizes, label, span)
        case Function(parameters, _, result, quantified, span):
            return Function(parameters, new[0], result, quantified, span)
        case Let(variable, _, _, span):
            return Let(variable, new[0], new[1], span)
        case Tuple(_, span):
            return Tuple(new, span)
        case Projection(_, index, span):
            return Projection(new[0], index, span)
        case If(_, _, _, span):
            return If(new[0], new[1], new[2], span)
        case Match(_, clauses, span):
            pairs = zip(clauses, new[1:], strict=True)
            return Match(new[0], tuple(Clause(clause.pattern, body, clause.span) for clause, body in pairs), span)
        case NewReference(_, span):
            return NewReference(new[0], span)
        case ReadReference(_, span):
            return ReadReference(new[0], span)
        case WriteReference(_, _, span):
            return WriteReference(new[0], new[1], span)
        case _:
            return term


def postorder(*roots: Term) -> Iterator[Term]:
    """Every node below the roots once, after its operands, from left to right."""
    seen: set[Term] = set()
    stack: list[tuple[Term, Iterator[Term]]] = []
    for root in roots:
        if root not in seen:
            seen.add(root)
            stack.append((root, iter(operands(root))))
        while stack:
            node, waiting = stack[-1]
            child = next((each for each in waiting if each not in seen), None)
            if child is None:
                stack.pop()
                yield node
            else:
                seen.add(child)
                stack.append((child, iter(operands(child))))


def transform(term: Term, change: Callable[[Term], Term]) -> Term:
    """Rewrite from the inside out: `change` sees each node once, over the operands it then has; sharing is kept."""
    found: dict[Term, Term] = {}
    for node in postorder(term):
        found[node] = change(with_operands(node, tuple(found[each] for each in operands(node))))
    return found[term]


def binders(term: Term) -> tuple[Variable, ...]:
    """The variables that a node binds itself."""
    match term:
        case Function(parameters):
            return parameters
        case Let(variable):
            return (variable,)
        case Match(_, clauses):
            return tuple(variable for clause in clauses for variable in bound_by(clause.pattern))
        case _:
            return ()


def free_variables(term: Term) -> dict[Variable, None]:
    """The variables that occur below a term and are bound nowhere in it, in order of occurrence."""
    used: dict[Variable, None] = {}
    bound: set[Variable] = set()
    for node in postorder(term):
        bound.update(binders(node))
        if isinstance(node, Variable):
            used[node] = None
    return {variable: None for variable in used if variable not in bound}


def refreshed(term: Term, replacements: dict[Variable, Term] | None = None) -> Term:
    """A copy whose binders are new variables, for a second place; some free variables may be replaced meanwhile."""
    known: dict[Variable, Term] = dict(replacements or {})
    for node in postorder(term):
        known |= {each: Variable(each.name, each.type, each.span) for each in binders(node)}
    return transform(term, lambda node: _rebound(node, known))


def _rebound(node: Term, known: dict[Variable, Term]) -> Term:
    match node:
        case Variable():
            return known.get(node, node)
        case Function(parameters, body, result, quantified, span):
            return Function(tuple(fresh_binder(each, known) for each in parameters), body, result, quantified, span)
        case Let(variable, value, body, span):
            return Let(fresh_binder(variable, known), value, body, span)
        case Match(value, clauses, span):
            copies = (Clause(renewed_pattern(each.pattern, known), each.body, each.span) for each in clauses)
            return Match(value, tuple(copies), span)
        case _:
            return node


def fresh_binder(variable: Variable, known: Mapping[Variable, Term]) -> Variable:
    """The new variable that stands for one that a copy binds."""
    found = known[variable]
    assert isinstance(found, Variable)
    return found


def renewed_pattern(pattern: Pattern, known: Mapping[Variable, Term]) -> Pattern:
    """The pattern over the new variables that stand for those it binds."""
    match pattern:
        case Binder(variable, span):
            return Binder(fresh_binder(variable, known), span)
        case Construction(constructor, fields, span):
            return Construction(constructor, tuple(renewed_pattern(each, known) for each in fields), span)
        case Items(items, span):
            return Items(tuple(renewed_pattern(each, known) for each in items), span)
        case _:
            return pattern
