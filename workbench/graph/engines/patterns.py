"""Patterns: which calls an engine takes: by name, by definition up to renaming, chains, alternatives, predicates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import EngineError, OperatorError, shown
from workbench.graph.engines.same_definition import definition_key
from workbench.graph.engines.sites import Site, fixed
from workbench.graph.terms.nodes import Call, Term
from workbench.lang.operator import Operator
from workbench.ops.catalogue import ENTRIES, load
from workbench.records import record

PatternLike = Any  # a name, an operator, a Pattern, or a tuple of them (a chain, the last operator first)
ANY = "any operator"


@record(eq=False)
class Pattern:
    """Fits a call of one of some operators whose arguments fit.

    `operators` are names (those of the library mean its definitions) and operators, which fit whatever has the same
    definition up to renaming; empty for any.
    `arguments` are patterns of the arguments in order, None for whatever there is; without them, and behind their end,
    anything fits.  In `anywhere` they are looked for among the arguments in any order.  `where(site)` is asked last.
    """

    operators: tuple[str | Operator, ...] = ()
    arguments: tuple[Pattern | None, ...] = ()
    where: Callable[[Site], Any] | None = None
    anywhere: bool = False
    optional: bool = False

    def __or__(self, other: Pattern) -> Pattern:
        if self.arguments or other.arguments or self.where or other.where:
            raise EngineError("only patterns of operators without arguments and predicates can be joined by `|`")
        return Pattern((*self.operators, *other.operators))

    def __str__(self) -> str:
        names = " | ".join(each if isinstance(each, str) else f"like {each.name}" for each in self.operators) or ANY
        inside = ", ".join("_" if each is None else str(each) for each in self.arguments)
        return f"{names}({inside})" if inside else names


def pattern(
    *operators: str | Operator, arguments: Sequence[PatternLike] = (), where: Callable[[Site], Any] | None = None,
    anywhere: bool = False, optional: bool = False,
) -> Pattern:  # fmt: skip
    """A pattern of calls; `optional` ones, inside another, need not be there.

    >>> str(pattern("relu", arguments=[pattern("matmul")]))
    'relu(matmul)'
    """
    wrong = [each for each in operators if not isinstance(each, str | Operator)]
    if wrong:
        raise EngineError(f"a pattern is made of names of operators and of operators, not {shown(wrong[0])}")
    inner = tuple(None if each is None else as_pattern(each) for each in arguments)
    return Pattern(operators, inner, where, anywhere, optional)


def as_pattern(of: PatternLike) -> Pattern:
    """A pattern from a name, an operator, or a chain of them: `("relu", "matmul")` is a relu of a matmul."""
    if isinstance(of, Pattern):
        return of
    if isinstance(of, str | Operator):
        return Pattern((of,))
    if isinstance(of, tuple) and of:
        first, rest = as_pattern(of[0]), of[1:]
        if not rest:
            return first
        return Pattern(first.operators, (as_pattern(rest),), first.where, anywhere=True)
    raise EngineError(f"a pattern is a name, an operator, a tuple of them or pattern(...), not {shown(of)}")


@record(eq=False)
class Matching:
    """The calls of a block among which patterns are looked for: their sites, and how often each value is used."""

    sites: Mapping[Term, Site]
    uses: Mapping[Term, int]

    def found(self, of: Pattern, node: Term) -> tuple[Call, ...] | None:
        """The calls that a pattern covers with this one last, inner ones first; None if it does not fit.

        A call inside must be used by the pattern alone, since nobody else will see its result.
        """
        site = self.sites.get(node)
        if site is None or not isinstance(node, Call) or not _is_one_of(site, of.operators):
            return None
        inside = self._arguments(of, node)
        if inside is None or (of.where is not None and of.where(site) is not True):
            return None
        return (*inside, node)

    def _arguments(self, of: Pattern, node: Call) -> tuple[Call, ...] | None:
        covered: list[Call] = []
        free = list(node.arguments)
        if not of.anywhere and len(of.arguments) > len(free):
            return None
        for at, inner in enumerate(of.arguments):
            if inner is None:
                continue
            among = free if of.anywhere else [node.arguments[at]]
            fitting = ((each, self._inner(inner, each)) for each in among)
            chosen = next(((each, calls) for each, calls in fitting if calls is not None), None)
            if chosen is None and not inner.optional:
                return None
            if chosen is not None:
                covered += [each for each in chosen[1] if each not in covered]
                free = [each for each in free if each is not chosen[0]]
        return tuple(covered)

    def _inner(self, of: Pattern, argument: Term) -> tuple[Call, ...] | None:
        return self.found(of, argument) if self.uses.get(argument, 0) == 1 else None


def _is_one_of(site: Site, wanted: tuple[str | Operator, ...]) -> bool:
    """Whether a call is one of an operator of some name, or of one with the same definition."""
    return not wanted or any(
        _is_named(site, each) if isinstance(each, str) else is_like(site, each) for each in wanted
    )


def _is_named(site: Site, name: str) -> bool:
    """Whether a call is of an operator of this name; one of the library's must be defined as the library's is."""
    return site.name == name and (name not in ENTRIES or is_like(site, load(name)))


def is_like(site: Site, op: Operator) -> bool:
    """Whether a call is of an operator with the same definition as this one, up to renaming."""
    try:
        return definition_key(site.operator) == definition_key(fixed(op, list(site.arguments)))
    except (OperatorError, ValueError):  # it means nothing for these types, or takes other arguments
        return False
