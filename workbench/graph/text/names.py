"""Names in a text: what the whole text declares, and what is in scope at one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from workbench.graph.terms.datatypes import Datatypes
from workbench.graph.terms.nodes import Array, Constructor, Global, Primitive, Term, Variable
from workbench.graph.text.cursor import unknown_word
from workbench.graph.text.tokens import KEYWORDS, Token
from workbench.lang.dtypes import ALIASES, DTYPES
from workbench.lang.operator import Operator
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.terms import Span
from workbench.ops.catalogue import ENTRIES, load


@dataclass
class Declared:
    """What the definitions of a text declare, before any body is read."""

    diagnostics: Diagnostics
    datatypes: Datatypes
    functions: dict[str, Token] = field(default_factory=dict)
    operators: dict[str, Operator] = field(default_factory=dict)
    constants: dict[int, Array] = field(default_factory=dict)
    unused: list[Problem] = field(default_factory=list)

    def callee(self, name: str) -> Global | Primitive | Constructor | None:
        """What a name that is no local one means."""
        if name in self.datatypes.constructors:
            return Constructor(name)
        if name in self.functions:
            return Global(name)
        if name in self.operators:
            return Primitive(self.operators[name])
        return Primitive(load(name)) if name in ENTRIES else None


@dataclass
class Local:
    """What a local name means, where it was given, and whether it was used since."""

    term: Term
    token: Token
    used: bool = False


class Names:
    """The local names at one place, the innermost scope last."""

    def __init__(self, declared: Declared) -> None:
        self.declared = declared
        self.scopes: list[dict[str, Local]] = []

    def enter(self) -> None:
        """Open a scope."""
        self.scopes.append({})

    def leave(self) -> None:
        """Close the innermost scope; a node that was named and never used is reported."""
        for name, local in self.scopes.pop().items():
            if name.startswith("%") and not local.used:
                message = f"{name} is never used, and what nobody uses is not computed"
                fix = "remove it; for its effect, write let _ = ..."
                self.declared.unused.append(Problem(message, local.token.span, fix))

    def give(self, token: Token, term: Term) -> None:
        """Give a name in the innermost scope."""
        self.scopes[-1][token.text] = Local(term, token)

    def meaning(self, token: Token) -> Term:
        """What a word means here; an unknown one is reported, and stands for something of any type."""
        for scope in reversed(self.scopes):
            if (local := scope.get(token.text)) is not None:
                local.used = True
                return local.term
        found = self.declared.callee(token.text)
        if found is None:
            self.declared.diagnostics.add(Problem(self._unknown(token.text), token.span))
            return Variable(token.text, span=token.span)
        return _placed(found, token.span)

    def _unknown(self, name: str) -> str:
        local = [each for scope in reversed(self.scopes) for each in scope]
        if name.startswith("%"):
            return unknown_word("node", name, [each for each in local if each.startswith("%")])
        ours = [each for each in local if not each.startswith("%")]
        declared = self.declared
        known = [*ours, *declared.functions, *declared.operators, *declared.datatypes.constructors]
        near = get_close_matches(name, ENTRIES, n=3, cutoff=0.7)
        return f"{unknown_word('name', name, [*known, *near])}, and the operators of wb.ops"

    def new(self, token: Token, what: str) -> Token:
        """A word that is to name something; Problem for one that means something everywhere."""
        word = token.text
        if token.kind != "name" or word in KEYWORDS or word in DTYPES or word in ALIASES:
            raise Problem(
                f"{word!r} is a word of the language and cannot name {what}", token.span, "choose another name"
            )
        if word in self.declared.datatypes.constructors:
            raise Problem(f"{word!r} is a constructor and cannot name {what}", token.span, "choose another name")
        return token


def _placed(found: Global | Primitive | Constructor, span: Span) -> Term:
    match found:
        case Primitive(operator):
            return Primitive(operator, span)
        case Constructor(name):
            return Constructor(name, span)
        case Global(name):
            return Global(name, span)
