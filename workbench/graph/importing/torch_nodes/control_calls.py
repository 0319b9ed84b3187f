"""Control flow: `torch.cond`, `while_loop`."""

from __future__ import annotations

from workbench.graph.importing.recursion import LoopBuilder
from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written import movement
from workbench.graph.terms.nodes import Term


def conditional(call: Call) -> tuple[Value, ...]:
    """`torch.cond(test, then, otherwise, operands)`."""
    test, then, otherwise, operands = (call.arguments[str(at)] for at in range(4))
    assert call.around is not None
    branches = [call.around.branch(module, operands) for module in (then, otherwise)]
    if isinstance(test, bool):
        return branches[0 if test else 1]
    condition = movement.reshape(call.g, test, ())
    for at, (a, b) in enumerate(zip(*branches, strict=True)):
        if a.element != b.element or a.rank != b.rank:
            call.refuse(f"its branches give result {at} different types")
    builder = call.g.builder
    tuples = [builder.tuple(*(value.term for value in values)) for values in branches]
    found = builder.condition(condition.term, *tuples)
    return tuple(call.g.value(builder.project(found, at)) for at in range(len(branches[0])))


def while_loop(call: Call) -> tuple[Value, ...]:
    """`while_loop(test, body, state, more)`: the types of the state stay the same."""
    test, body, carried, more = (call.arguments[str(at)] for at in range(4))
    builder = call.g.builder
    assert isinstance(builder, LoopBuilder)
    assert call.around is not None
    around = call.around
    state = [call.tensor(each) for each in carried]

    def tested(*terms: Term) -> Term:
        (found,) = around.branch(test, [*map(call.g.value, terms), *more])
        return movement.reshape(call.g, call.tensor(found), ()).term

    def stepped(*terms: Term) -> list[Term]:
        return [call.tensor(each).term for each in around.branch(body, [*map(call.g.value, terms), *more])]

    names = [f"s{at}" for at in range(len(state))]
    found = builder.loop("rounds", [value.term for value in state], names, tested, stepped)
    return tuple(call.g.value(term) for term in found)


CONTROL: dict[str, Writer] = {"cond": conditional, "while_loop": while_loop}
