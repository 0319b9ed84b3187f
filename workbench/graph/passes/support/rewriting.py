"""Models rewritten function by function; one in which nothing changes is the same model."""

from __future__ import annotations

from collections.abc import Callable

from workbench.graph.models import Model
from workbench.graph.terms.nodes import Function, Global, Term
from workbench.graph.terms.walking import operands, postorder


def each_function(model: Model, change: Callable[[Function], Function]) -> Model:
    """The model with every function changed."""
    made = {name: change(function) for name, function in model.functions.items()}
    if all(made[name] is function for name, function in model.functions.items()):
        return model
    return model.with_functions(made)


def rewritten(function: Function, change: Callable[[Term, tuple[Term, ...]], Term]) -> Function:
    """The function rewritten from the inside out: `change` sees a node of it, and the operands that it has by then."""
    found: dict[Term, Term] = {}
    for node in postorder(function):
        found[node] = change(node, tuple(found[each] for each in operands(node)))
    made = found[function]
    assert isinstance(made, Function)
    return made


def reached(model: Model) -> set[str]:
    """The functions that its entry calls or mentions, itself included, directly or not."""
    found, waiting = {model.entry}, [model.entry]
    while waiting:
        for node in postorder(model.functions[waiting.pop()]):
            if isinstance(node, Global) and node.name not in found:
                found.add(node.name)
                waiting.append(node.name)
    return found


def recursive(model: Model) -> set[str]:
    """The functions that may call themselves, directly or through others."""
    calls = {
        name: {node.name for node in postorder(function) if isinstance(node, Global)}
        for name, function in model.functions.items()
    }
    found = set()
    for name in calls:
        seen: set[str] = set()
        waiting = list(calls[name])
        while waiting:
            other = waiting.pop()
            if other not in seen:
                seen.add(other)
                waiting += calls.get(other, ())
        if name in seen:
            found.add(name)
    return found
