"""Who uses whose results: the calls of operators that are computed in one scope, and what stands around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.graph.forms.effects import impure
from workbench.graph.forms.scopes import Scopes, scopes, value_node
from workbench.graph.terms.nodes import ATOMS, Call, Function, Let, Primitive, Projection, Term, Variable
from workbench.graph.terms.walking import operands
from workbench.lang.operator import Operator
from workbench.records import record

Slot = tuple[Call, int]
"""One result of a call."""

Value = Slot | Term


@record(eq=False, repr=False)
class CallGraph:
    """The calls of operators in one scope, in an order in which they can be computed.

    `arguments` are what each call takes: results of calls of this scope, or other terms.  `readers` are the calls of
    this scope that take a result, with the number of the argument; `outside` are the results that something else uses.
    `beyond` are the calls that must come after a call for another reason than taking its result: something else of this
    scope stands between them (a branch, a tuple, a `let`).  `ordered` take what is read or written in order.
    """

    calls: tuple[Call, ...]
    arguments: Mapping[Call, tuple[Value, ...]]
    readers: Mapping[Slot, tuple[tuple[Call, int], ...]]
    outside: frozenset[Slot]
    beyond: Mapping[Call, frozenset[Call]]
    ordered: frozenset[Call]

    def results(self, call: Call) -> list[Slot]:
        """Every result of a call."""
        return [(call, at) for at in range(len(operator_of(call).outputs))]

    def producers(self, call: Call) -> list[Call]:
        """The calls whose results a call takes, each once."""
        return list(dict.fromkeys(each[0] for each in self.arguments[call] if isinstance(each, tuple)))

    def consumers(self, call: Call) -> list[Call]:
        """The calls that take a result of a call, each once."""
        found = (reader for slot in self.results(call) for reader, _ in self.readers.get(slot, ()))
        return list(dict.fromkeys(found))


def operator_of(call: Call) -> Operator:
    """The operator that is called."""
    assert isinstance(call.function, Primitive)
    return call.function.operator


def is_operator_call(term: Term) -> bool:
    """Whether a term applies an operator."""
    return isinstance(term, Call) and isinstance(term.function, Primitive)


def value(term: Term) -> Value:
    """What a term stands for: the result of a call of an operator, or itself."""
    if isinstance(term, Projection) and is_operator_call(term.tuple):
        assert isinstance(term.tuple, Call)
        return term.tuple, term.index
    if isinstance(term, Call) and is_operator_call(term) and len(operator_of(term).outputs) == 1:
        return term, 0
    return term


def call_graphs(function: Function, *, effects: bool = True) -> list[CallGraph]:
    """The graph of each scope of a function in which operators are called; `effects`: whether cells are written to."""
    found = scopes(function)
    uses = _uses(found)
    lets = {node.variable: node for node in found.home if isinstance(node, Let)}
    marked = impure(found) if effects else set()
    made = (_graph(block, uses, lets, marked) for block in found.blocks.values())
    return [graph for graph in made if graph.calls]


def _uses(found: Scopes) -> dict[Slot, list[tuple[Term, int]]]:
    """Who uses each result, with the number of the operand; a whole tuple of results is a use of all of them."""
    uses: dict[Slot, list[tuple[Term, int]]] = {}
    for node in found.home:
        if isinstance(node, ATOMS):
            continue
        through = isinstance(node, Projection) and isinstance(value(node), tuple)
        for at, operand in enumerate(operands(node)):
            for slot in () if through else _slots(operand):
                uses.setdefault(slot, []).append((node, at))
    return uses


def _slots(operand: Term) -> Iterable[Slot]:
    meant = value(value_node(operand))
    if isinstance(meant, tuple):
        return [meant]
    if isinstance(meant, Call) and is_operator_call(meant):
        return [(meant, at) for at in range(len(operator_of(meant).outputs))]
    return []


def _graph(
    block: list[Term], uses: Mapping[Slot, list[tuple[Term, int]]], lets: Mapping[Variable, Let], marked: set[Term]
) -> CallGraph:
    calls = tuple(node for node in block if isinstance(node, Call) and is_operator_call(node))
    own = set(calls)
    arguments = {call: tuple(_argument(each, own) for each in call.arguments) for call in calls}
    readers: dict[Slot, tuple[tuple[Call, int], ...]] = {}
    outside: set[Slot] = set()
    for call in calls:
        for slot in ((call, at) for at in range(len(operator_of(call).outputs))):
            inner = [(user, at - 1) for user, at in uses.get(slot, ()) if isinstance(user, Call) and user in own]
            readers[slot] = tuple(inner)
            if len(inner) < len(uses.get(slot, ())):
                outside.add(slot)
    beyond, ordered = _Beyond(block, own, lets, marked).of(arguments)
    return CallGraph(calls, arguments, readers, frozenset(outside), beyond, frozenset(ordered))


class _Beyond:
    """What calls wait for besides the results that they take."""

    def __init__(self, block: list[Term], own: set[Call], lets: Mapping[Variable, Let], marked: set[Term]) -> None:
        self.own, self.lets = own, lets
        self.place = {node: at for at, node in enumerate(block)}
        self.marked = {node for node in block if node in marked}
        self.calls = [node for node in block if node in own]

    def of(self, arguments: Mapping[Call, tuple[Value, ...]]) -> tuple[dict[Call, frozenset[Call]], set[Call]]:
        """The calls that must come after each, and those whose arguments are made in order."""
        after: dict[Call, set[Call]] = {}
        ordered: set[Call] = set()
        for call, values in arguments.items():
            for before in self._below([each for each in values if not isinstance(each, tuple)], call, ordered):
                after.setdefault(before, set()).add(call)
        return {call: frozenset(users) for call, users in after.items()}, ordered

    def _below(self, terms: list[Term], call: Call, ordered: set[Call]) -> set[Call]:
        """The calls on which terms depend; a `let` of this scope comes after all that stands before it."""
        found: set[Call] = set()
        seen: set[Term] = set()
        while terms:
            term = terms.pop()
            if term in seen:
                continue
            seen.add(term)
            if isinstance(term, Call) and term in self.own:
                found.add(term)
                continue
            if term in self.marked:
                ordered.add(call)
            let = self.lets.get(term) if isinstance(term, Variable) else term if isinstance(term, Let) else None
            if let is not None and let in self.place:
                found |= {each for each in self.calls if self.place[each] < self.place[let]}
            terms += operands(term)
        return found


def _argument(term: Term, own: set[Call]) -> Value:
    meant = value(term)
    return meant if not isinstance(meant, tuple) or meant[0] in own else term
