"""Which nodes must keep their order: those that read or write cells, and calls of functions that might."""

from __future__ import annotations

from workbench.graph.forms.scopes import Scope, Scopes, value_node
from workbench.graph.terms.nodes import (
    ATOMS,
    Call,
    Constructor,
    Function,
    Global,
    Let,
    Primitive,
    ReadReference,
    Term,
    WriteReference,
)
from workbench.graph.terms.walking import operands


def impure(found: Scopes, pure: frozenset[str] = frozenset()) -> set[Term]:
    """The nodes whose order matters: an `if` or `match` is among them if some branch holds one.

    `pure` are functions of the model that are known not to act.
    Making a function or a new cell has no effect that anybody could see.
    """
    marked = {node for node in found.home if _acts(node, pure)}
    for node in list(marked):
        scope = found.home[node]
        while scope.at is not None and scope.outer is not None and not isinstance(scope.at, Function):
            marked.add(scope.at)
            scope = scope.outer
    return marked


def _acts(node: Term, pure: frozenset[str]) -> bool:
    match node:
        case ReadReference() | WriteReference():
            return True
        case Call(Primitive() | Constructor()):
            return False
        case Call(Global(name)):
            return name not in pure
        case Call():
            return True
        case _:
            return False


def displaced(found: Scopes, scope: Scope, result: Term, marked: set[Term]) -> set[Term]:
    """Nodes of a block whose order matters, and which nothing reaches before a later `let` is computed.

    A `let` that is an operand makes them: of `(!r, { let _ = r := 1; () })` the cell is read first.
    """
    block = found.blocks[scope]
    lets = [node for node in block if isinstance(node, Let)]
    if not lets or marked.isdisjoint(block):
        return set()
    reached: dict[Term, int] = {}
    for at, root in enumerate([*(let.value for let in lets), result]):
        stack = [value_node(root)]
        while stack:
            node = stack.pop()
            if node in reached or isinstance(node, ATOMS):
                continue
            reached[node] = at
            stack += map(value_node, operands(node))
    before, wrong = 0, set()
    for node in block:
        if isinstance(node, Let):
            before += 1
        elif node in marked and reached.get(node, before) > before:
            wrong.add(node)
    return wrong
