"""Graph form: no `let` where the order does not matter, what is used twice is one node."""

from __future__ import annotations

from workbench.graph.forms.effects import impure
from workbench.graph.forms.scopes import Scope, Scopes, scopes, value_node
from workbench.graph.terms.nodes import Function, Let, Term, Variable
from workbench.graph.terms.walking import free_variables, operands, postorder, with_operands


def as_graph(function: Function) -> Function:
    """The function as a graph: every `let` is put into its uses, except where that would change what is computed when.

    A `let` stays if something in its value reads or writes cells (or calls a function that might), if the value is a
    function that calls itself or is used twice (perhaps at two types), if it has an annotation, or if all its uses are
    in a function inside, which may be called often.
    """
    while True:
        found = scopes(function)
        ordered = _ordered(function, impure(found))
        lets = [node for node in postorder(function) if isinstance(node, Let) and not _stays(found, ordered, node)]
        if not lets:
            return function
        function = _without(function, {node.variable: node.value for node in lets})


def _ordered(function: Function, marked: set[Term]) -> set[Term]:
    """The nodes whose own order matters, or that of something they are computed from."""
    found = set(marked)
    for node in postorder(function):
        if not isinstance(node, Function) and any(each in found for each in operands(node)):
            found.add(node)
    return found


def _stays(found: Scopes, ordered: set[Term], node: Let) -> bool:
    value, variable = value_node(node.value), node.variable
    if node.value in ordered or variable.type is not None:
        return True
    if isinstance(value, Function) and (len(found.users.get(variable, ())) > 1 or variable in free_variables(value)):
        return True
    home = found.home.get(variable)
    return home is not None and _inside_function(found.home[node], home)


def _inside_function(outer: Scope, inner: Scope) -> bool:
    """Whether a function lies between two scopes."""
    while inner is not outer and inner.outer is not None:
        if isinstance(inner.at, Function):
            return True
        inner = inner.outer
    return False


def _without(function: Function, replaced: dict[Term, Term]) -> Function:
    """The function with variables replaced by the values of their lets, which vanish."""
    made: dict[Term, Term] = {}
    stack: list[tuple[Term, bool]] = [(function, False)]
    while stack:
        node, ready = stack.pop()
        if node in made:
            continue
        inside = _followed(node, replaced)
        if not ready:
            stack.append((node, True))
            stack += [(each, False) for each in reversed(inside) if each not in made]
        elif inside != operands(node):
            made[node] = made[inside[0]]
        else:
            made[node] = with_operands(node, tuple(made[each] for each in inside))
    result = made[function]
    assert isinstance(result, Function)
    return result


def _followed(node: Term, replaced: dict[Term, Term]) -> tuple[Term, ...]:
    """The operands of a node; of one that vanishes, the one that stands for it."""
    if isinstance(node, Let) and node.variable in replaced:
        return (node.body,)
    if isinstance(node, Variable) and node in replaced:
        return (replaced[node],)
    return operands(node)
