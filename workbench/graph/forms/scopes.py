"""Scopes: where each node of a term is computed, that is, once in the smallest scope that covers its uses.

Bodies of functions, branches of `if` and clauses of `match` are scopes.  This is the meaning of sharing: the printer
writes names there, the interpreter computes there, and the other forms bind there.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.graph.terms.nodes import ATOMS, Function, If, Let, Match, Term
from workbench.graph.terms.walking import operands, postorder
from workbench.records import record


@record(slots=True, eq=False, repr=False)
class Scope:
    """The body of a function, a branch or a clause: `at` is its node, `branch` counts its operands."""

    outer: Scope | None
    depth: int
    at: Term | None = None
    branch: int = 0


@record(slots=True, eq=False, repr=False)
class Scopes:
    """The scope of every node below a root, and what is computed in each scope, in order.

    `blocks[scope]` holds the nodes that are computed there, atoms left out, each after what it needs; a `Let` stands
    where its variable is bound, after its value and before its body.  `users` lists who uses the value of a node, with
    the number of the operand; that of a `Let` is the value of its body.
    """

    root: Scope
    home: dict[Term, Scope]
    inner: dict[tuple[Term, int], Scope]
    blocks: dict[Scope, list[Term]]
    users: dict[Term, list[tuple[Term, int]]]

    def used_across(self) -> set[Term]:
        """The nodes whose values some scope uses which is not their own."""
        found: set[Term] = set()
        for node, home in self.home.items():
            for at, operand in enumerate(map(value_node, operands(node))):
                if self.inner.get((node, at), home) is not self.home[operand]:
                    found.add(operand)
        return {node for node in found if not isinstance(node, ATOMS)}


def value_node(term: Term) -> Term:
    """The node whose value the term has: the innermost body of its lets."""
    while isinstance(term, Let):
        term = term.body
    return term


def is_branch(node: Term, at: int) -> bool:
    """Whether an operand of a node is in a scope of its own."""
    match node:
        case Function():
            return True
        case If() | Match():
            return at > 0
        case _:
            return False


def scopes(term: Term) -> Scopes:
    """The scopes of a term; users are visited before what they use, so the work is linear in the size of the graph."""
    root = Scope(None, 0)
    found = Scopes(root, {term: root}, {}, {root: []}, {})
    for node in reversed(list(postorder(term))):
        own = found.home[node]
        for at, operand in enumerate(operands(node)):
            place = _entered(found, own, node, at) if is_branch(node, at) else own
            known = found.home.get(operand)
            found.home[operand] = place if known is None else common_scope(known, place)
            if not (isinstance(node, Let) and at == 1):
                found.users.setdefault(value_node(operand), []).append((node, at))
    for node in _in_order(term):
        found.blocks[found.home[node]].append(node)
    return found


def _entered(found: Scopes, outer: Scope, node: Term, at: int) -> Scope:
    scope = found.inner[node, at] = Scope(outer, outer.depth + 1, node, at)
    found.blocks[scope] = []
    return scope


def _in_order(term: Term) -> Iterator[Term]:
    """Every node that is no atom, once, after its operands; a `Let` between its value and its body."""
    seen: set[Term] = set()
    stack: list[tuple[Term, int]] = [(term, 0)]
    while stack:
        node, at = stack.pop()
        if at == 0:
            if node in seen or isinstance(node, ATOMS):
                continue
            seen.add(node)
        inside = operands(node)
        if at == (1 if isinstance(node, Let) else len(inside)):
            yield node
        if at < len(inside):
            stack.append((node, at + 1))
            stack.append((inside[at], 0))


def common_scope(a: Scope, b: Scope) -> Scope:
    """The innermost scope that holds both."""
    while a is not b:
        if a.depth >= b.depth:
            assert a.outer is not None
            a = a.outer
        else:
            assert b.outer is not None
            b = b.outer
    return a
