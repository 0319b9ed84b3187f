"""Which integer scalars shape the program: those in a subscript, a range, a dimension or a loop bound."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.lang.builtins import BUILTINS
from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.limits import DEEPEST_CALLS
from workbench.lang.syntax import Assign, CallStep, Define, ForStep, LetClause, RangeClause, StepNode
from workbench.lang.terms import Apply, Name, Term, names_in, terms


@dataclass
class Shaping:
    """Names that shape each def of a text, found once."""

    defs: dict[str, Define]
    known: dict[str, set[str]] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)

    def names(self, define: Define) -> set[str]:
        """Every name that stands where a number shapes the program; lets and calls are followed."""
        word = define.name.name
        if word in self.active or len(self.active) > DEEPEST_CALLS:
            return set()
        if word not in self.known:
            self.active.append(word)
            self.known[word] = self._of_define(define)
            self.active.pop()
        return self.known[word]

    def _of_define(self, define: Define) -> set[str]:
        found: set[str] = set()
        for parameter in (*define.parameters, *define.outputs):
            for dim in parameter.type.dims if parameter.type else ():
                found |= names_in(dim)
        for promise in define.promises:
            for argument in promise.arguments[1:]:
                found |= names_in(argument)
        generics = frozenset(name.name for name in define.generics)
        return found.union(*(self._of_step(step, generics) for step in define.body))

    def _of_step(self, step: StepNode, generics: frozenset[str]) -> set[str]:
        match step:
            case ForStep(bounds, body, _):
                found = names_in(bounds.lower) | names_in(bounds.upper)
                return found.union(*(self._of_step(each, generics) for each in body))
            case CallStep(_, callee, arguments, _):
                return self._of_call(callee.name, arguments)
            case Assign(_, Name("="), (Apply(name, arguments, _),), _, _, _) if name.name in self.defs:
                return self._of_call(name.name, arguments)
            case Assign():
                return _of_assign(step, generics)

    def _of_call(self, callee: str, arguments: tuple[Term, ...]) -> set[str]:
        define = self.defs.get(callee)
        inner = self.names(define) if define else set()
        pairs = zip(define.parameters if define else (), arguments, strict=False)
        return set().union(*(names_in(argument) for parameter, argument in pairs if parameter.name.name in inner))


def _of_assign(step: Assign, generics: frozenset[str]) -> set[str]:
    lets = {clause.name.name: clause.value for clause in step.clauses if isinstance(clause, LetClause)}
    found = set().union(*(names_in(s) for target in step.targets for s in target.subscripts))
    for clause in step.clauses:
        if isinstance(clause, RangeClause):
            found |= names_in(clause.lower) | names_in(clause.upper)
    values = [*step.values, *(c.value for c in step.clauses if not isinstance(c, RangeClause))]
    found = found.union(*(_subscripted(value, generics) for value in values))
    for name in reversed(list(lets)):
        if name in found:
            found |= names_in(lets[name])
    return found


def _subscripted(term: Term, generics: frozenset[str]) -> set[str]:
    """Names inside the subscripts of tensor accesses."""
    found: set[str] = set()
    for node in terms(term):
        if isinstance(node, Apply) and not (node.name.name in generics or _is_function(node.name.name)):
            found = found.union(*(names_in(argument) for argument in node.arguments))
    return found


def _is_function(word: str) -> bool:
    return word in BUILTINS or word in ("min", "max") or ALIASES.get(word, word) in DTYPES
