"""How large a text and its expressions may be, so that no later walk over them can fail."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.lang.expr import Expr, children
from workbench.lang.syntax.diagnostics import Diagnostics, Problem
from workbench.lang.syntax.terms import Span, Term, operands

LONGEST_TEXT = 200_000
LONGEST_NAME = 100
DEEPEST_BRACKETS = 200
DEEPEST_TERM = 200
DEEPEST_EXPR = 250
LARGEST_EXPR = 20_000
LONGEST_CHAIN = 2_000
MOST_STATEMENTS = 4_000
DEEPEST_CALLS = 16
CHAINS = {"-": "+", "/": "*", "%": "*", **{x: x for x in ("+", "*", "&&", "||", "&", "|", "^")}}


def count_statement(diagnostics: Diagnostics, span: Span) -> None:
    """Stop at once if a text has too many statements, those of inlined calls included."""
    diagnostics.statements += 1
    if diagnostics.statements > MOST_STATEMENTS:
        message = f"the text has more than {MOST_STATEMENTS} statements, those of inlined calls included"
        diagnostics.add(Problem(message, span))
        diagnostics.check()


def check_depth(term: Term) -> None:
    """Problem if the expression nests too deep for a recursive walk."""
    level = [term]
    for _ in range(DEEPEST_TERM):
        level = [child for node in level for child in operands(node)]
        if not level:
            return
    message = f"the expression nests more than {DEEPEST_TERM} levels deep"
    raise Problem(message, term.span, "compute parts of it in temporaries")


def check_chains(words: Iterable[tuple[str, Span]], diagnostics: Diagnostics) -> None:
    """Report `a + a + ...` that is far too long at once, before a tree is made of it."""
    chains: list[tuple[str, int]] = [("", 0)]
    for word, span in words:
        if word == "(":
            chains.append(("", 0))
        elif word == ")":
            chains = chains[:-1] or [("", 0)]
        elif not (word[0].isalnum() or word[0] in "_."):
            operator, count = chains[-1]
            own = CHAINS.get(word, "")
            chains[-1] = (own, count + 1 if own and own == operator else 1)
            if chains[-1][1] > LONGEST_CHAIN:
                message = f"more than {LONGEST_CHAIN} operands in a row, and at most {DEEPEST_TERM} levels may nest"
                diagnostics.add(Problem(message, span, "compute parts of it in temporaries"))
                return


def check_resolved_depth(expr: Expr, span: Span) -> None:
    """Problem if the expression nests too deep once its lets are put in; shared parts are visited once."""
    level: list[Expr] = [expr]
    for _ in range(DEEPEST_EXPR):
        level = list({id(child): child for node in level for child in children(node)}.values())
        if not level:
            return
    message = f"the expression nests more than {DEEPEST_EXPR} levels deep once its lets are put in"
    raise Problem(message, span, "compute parts of it in temporaries")


def size_of(expr: Expr) -> int:
    """Number of nodes, counted up to the largest that is allowed."""
    count, stack = 0, [expr]
    while stack and count <= LARGEST_EXPR:
        count += 1
        stack.extend(children(stack.pop()))
    return count
