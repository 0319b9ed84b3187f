"""Copies of terms for another place: new nodes, new binders, types in the words of that place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.graph.terms.dimensions import Dimension, replaced, symbols
from workbench.graph.terms.dimensions import dimension as made
from workbench.graph.terms.nodes import (
    ATOMS,
    Call,
    Clause,
    Function,
    Let,
    Match,
    NewReference,
    Projection,
    ReadReference,
    Term,
    Tuple,
    Variable,
    WriteReference,
)
from workbench.graph.terms.types import (
    ElementVariable,
    Quantified,
    TensorType,
    Type,
    TypeVariable,
    parts,
    variables_of,
)
from workbench.graph.terms.walking import binders, fresh_binder, operands, postorder, renewed_pattern, with_operands
from workbench.graph.typing.schemes import Meaning
from workbench.lang.resolve.call_arguments import solve_for


def copied(term: Term, replacements: Mapping[Variable, Term], meaning: Meaning) -> Term:
    """A copy that shares nothing but atoms with the term, so what it makes (a cell) is made anew.

    Binders are new, free variables are replaced where a replacement is given, types are read with the meaning.
    """
    known: dict[Variable, Term] = dict(replacements)
    for node in postorder(term):
        known |= {each: Variable(each.name, _type(each.type, meaning), each.span) for each in binders(node)}
    found: dict[Term, Term] = {}
    for node in postorder(term):
        found[node] = _new(node, tuple(found[each] for each in operands(node)), known, meaning)
    return found[term]


def _new(node: Term, inside: tuple[Term, ...], known: dict[Variable, Term], meaning: Meaning) -> Term:
    match node:
        case Variable():
            return known.get(node, node)
        case Call(_, _, sizes, label, span):
            given = tuple((name, replaced(size, meaning.dims)) for name, size in sizes)
            return Call(inside[0], inside[1:], given, label, span)
        case Function(parameters, _, result, quantified, span):
            variables = tuple(fresh_binder(each, known) for each in parameters)
            return Function(variables, inside[0], _type(result, meaning), quantified, span)
        case Let(variable, _, _, span):
            return Let(fresh_binder(variable, known), inside[0], inside[1], span)
        case Match(_, clauses, span):
            pairs = zip(clauses, inside[1:], strict=True)
            changed = (Clause(renewed_pattern(each.pattern, known), body, each.span) for each, body in pairs)
            return Match(inside[0], tuple(changed), span)
        case Tuple(_, span):
            return Tuple(inside, span)
        case Projection(_, index, span):
            return Projection(inside[0], index, span)
        case NewReference(_, span):
            return NewReference(inside[0], span)
        case ReadReference(_, span):
            return ReadReference(inside[0], span)
        case WriteReference(_, _, span):
            return WriteReference(inside[0], inside[1], span)
        case _:
            return node if isinstance(node, ATOMS) else with_operands(node, inside)


def _type(of: Type | None, meaning: Meaning) -> Type | None:
    return None if of is None else meaning.of(of)


# --- what quantified variables stand for at one use


def meaning_at(quantified: Iterable[Quantified], written: Iterable[Type], given: Iterable[Type]) -> Meaning:
    """What quantified variables stand for where types that mention them are these; what nothing tells is left out."""
    own = {each.name for each in quantified}
    found = Meaning()
    waiting: list[tuple[Dimension, Dimension]] = []
    stack = list(zip(written, given, strict=True))
    while stack:
        of, actual = stack.pop()
        match of, actual:
            case TypeVariable(name), _ if name in own:
                found.types.setdefault(name, actual)
            case TensorType(element, dims), TensorType(other, extents) if len(dims) == len(extents):
                if isinstance(element, ElementVariable) and element.name in own:
                    found.elements.setdefault(element.name, other)
                waiting += zip(dims, extents, strict=True)
            case _ if len(parts(of)) == len(parts(actual)):
                stack += zip(parts(of), parts(actual), strict=True)
            case _:
                pass
    _solve(own, waiting, found)
    return found


def _solve(own: set[str], waiting: list[tuple[Dimension, Dimension]], found: Meaning) -> None:
    """Dimensions that are a name tell it at once, others once they have a single unknown, which counts once."""
    before = -1
    while len(found.dims) > before:
        before = len(found.dims)
        for dim, extent in waiting:
            rest = replaced(dim, found.dims)
            unknown = (symbols(dim) & own) - found.dims.keys()
            solution = solve_for(rest, unknown) if len(unknown) == 1 else None
            if solution is not None and abs(solution.factor) == 1:
                found.dims[solution.name] = (extent - solution.rest) * made(solution.factor)


def is_told(quantified: Iterable[Quantified], meaning: Meaning, used: Iterable[str]) -> bool:
    """Whether the meaning tells all quantified variables whose names are used."""
    told = meaning.types.keys() | meaning.elements.keys() | meaning.dims.keys()
    return not ({each.name for each in quantified} & set(used)) - told


def names_used(term: Term) -> set[str]:
    """The names of dimensions, element types and types that are written in a term."""
    found: set[str] = set()
    for node in postorder(term):
        for of in _written(node):
            found |= variables_of(of).keys()
        if isinstance(node, Call):
            found |= {name for _, size in node.sizes for name in symbols(size)}
    return found


def _written(node: Term) -> list[Type]:
    written = [each.type for each in binders(node)] + ([node.result] if isinstance(node, Function) else [])
    return [of for of in written if of is not None]
