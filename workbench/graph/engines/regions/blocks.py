"""Blocks: the nodes that a scope computes, as a graph of which needs which; regions are sets of its calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.graph.engines.sites import Site, site_of
from workbench.graph.forms.effects import impure
from workbench.graph.forms.scopes import Scope, Scopes, scopes, value_node
from workbench.graph.fusion.call_graph import is_operator_call
from workbench.graph.memory.ordering import bits
from workbench.graph.models import Model
from workbench.graph.terms.nodes import (
    Call,
    Constructor,
    Function,
    Global,
    Let,
    Primitive,
    Projection,
    ReadReference,
    Term,
    Variable,
    WriteReference,
)
from workbench.graph.terms.walking import operands, postorder
from workbench.records import record

Mask = int
"""A set of nodes of a block: bit n for `block.nodes[n]`."""


@record(eq=False)
class Block:
    """The nodes of a scope, each after what it needs; projections belong to what they are of.

    `sites` has the calls that engines may take, `refused` those of operators that none may, each with the reason.
    `above[n]` and `below[n]` are the nodes that node n needs and that need it, at whatever distance.  `uses` counts how
    often the value of a node is used.
    """

    function: str
    nodes: tuple[Term, ...]
    sites: Mapping[Term, Site]
    refused: Mapping[Term, str]
    direct: tuple[Mask, ...]
    above: tuple[Mask, ...]
    below: tuple[Mask, ...]
    uses: Mapping[Term, int]

    def members(self, mask: Mask) -> list[Term]:
        """The nodes of a set, in order."""
        return [node for at, node in enumerate(self.nodes) if mask >> at & 1]

    def mask(self, nodes: Iterable[Term]) -> Mask:
        """The set of some nodes."""
        places = {node: at for at, node in enumerate(self.nodes)}
        return sum(1 << places[node] for node in set(nodes))

    def is_convex(self, mask: Mask) -> bool:
        """Whether no path leaves the set and comes back."""
        above = below = 0
        for at in bits(mask):
            above |= self.above[at]
            below |= self.below[at]
        return not above & below & ~mask

    def is_acyclic(self, regions: Iterable[Mask]) -> bool:
        """Whether the regions, each computed at once, can be computed one after another."""
        return not self.cycle(list(regions))

    def cycle(self, regions: list[Mask]) -> list[int]:
        """The numbers of regions that wait for each other, through whatever nodes; none if there is an order."""
        home = {at: number for number, mask in enumerate(regions) for at in bits(mask)}
        single = {at: len(regions) + at for at in range(len(self.nodes)) if at not in home}
        group = {**home, **single}
        needs: dict[int, set[int]] = {number: set() for number in group.values()}
        for at in range(len(self.nodes)):
            needs[group[at]] |= {group[each] for each in bits(self.direct[at])} - {group[at]}
        return sorted(each for each in _stuck(needs) if each < len(regions))


def _stuck(needs: dict[int, set[int]]) -> set[int]:
    """What is on a cycle or between two: what is left without what comes before all cycles, and behind them."""
    needed: dict[int, set[int]] = {number: set() for number in needs}
    for number, of in needs.items():
        for each in of:
            needed[each].add(number)
    return _unreached(needs, needed) & _unreached(needed, needs)


def _unreached(needs: dict[int, set[int]], needed: dict[int, set[int]]) -> set[int]:
    """What never becomes ready, if each waits for what it needs (Kahn, 1962)."""
    left = {number: len(of) for number, of in needs.items()}
    ready = [number for number, count in left.items() if not count]
    while ready:
        number = ready.pop()
        del left[number]
        for each in needed[number]:
            left[each] -= 1
            if not left[each]:
                ready.append(each)
    return set(left)


def blocks_of(model: Model) -> list[Block]:
    """The blocks of all functions of a model in graph form that hold a call of an operator."""
    found = []
    pure = pure_functions(model.functions)
    for name, function in model.functions.items():
        known = scopes(function)
        behind = _behind(known, function, pure)
        uses = _uses(function)
        for scope in known.blocks:
            block = _block(model, name, known, scope, behind, uses)
            if block.sites or block.refused:
                found.append(block)
    return found


def pure_functions(functions: Mapping[str, Function]) -> frozenset[str]:
    """The functions that read and write no cells, and call nothing but operators, constructors and each other."""
    pure = set(functions)
    while True:
        acting = {name for name in pure if not _is_pure(functions[name], pure)}
        if not acting:
            return frozenset(pure)
        pure -= acting


def _is_pure(function: Function, pure: set[str]) -> bool:
    for node in postorder(function):
        if isinstance(node, ReadReference | WriteReference):
            return False
        if isinstance(node, Call) and not _calls_nothing_that_acts(node.function, pure):
            return False
    return True


def _calls_nothing_that_acts(function: Term, pure: set[str]) -> bool:
    return isinstance(function, Primitive | Constructor) or (isinstance(function, Global) and function.name in pure)


def _behind(known: Scopes, function: Function, pure: frozenset[str]) -> dict[Term, str]:
    """The nodes that need a cell or a `let` that has stayed, and so must keep their place, with the reason."""
    marked = impure(known, pure)
    found: dict[Term, str] = {}
    bound = {node.variable: node for node in postorder(function) if isinstance(node, Let)}
    for node in postorder(function):
        if node in marked:
            found[node] = "reads or writes a cell, or calls a function that may"
        elif isinstance(node, Let) or (isinstance(node, Variable) and node in bound):
            name = node.variable.name if isinstance(node, Let) else node.name
            found[node] = f"stands behind `let {name}`, whose order matters"
        elif not isinstance(node, Function):
            reasons = (found[each] for each in operands(node) if each in found)
            reason = next(reasons, "")
            if reason:
                found[node] = reason
    return found


def _uses(function: Function) -> dict[Term, int]:
    """How often each node is used; a projection's uses are those of what it is of."""
    found: dict[Term, int] = {}
    for node in postorder(function):
        if not isinstance(node, Projection | Let):
            for operand in operands(node):
                source = source_of(operand)
                found[source] = found.get(source, 0) + 1
    return found


def source_of(term: Term) -> Term:
    """The node that computes the value of a term: what it is the body or the projection of."""
    while isinstance(term, Let | Projection):
        term = value_node(term) if isinstance(term, Let) else term.tuple
    return term


def _block(
    model: Model, name: str, known: Scopes, scope: Scope, behind: Mapping[Term, str], uses: Mapping[Term, int]
) -> Block:
    nodes: list[Term] = [node for node in known.blocks[scope] if not isinstance(node, Projection)]
    needs = _needs(known, scope, nodes)
    order = _order(nodes, needs)
    places = {node: at for at, node in enumerate(order)}
    direct = [sum(1 << places[each] for each in needs[node]) for node in order]
    above = list(direct)
    for at in range(len(order)):
        for each in bits(direct[at]):
            above[at] |= above[each]
    below = [0] * len(order)
    for at, mask in enumerate(above):
        for each in bits(mask):
            below[each] |= 1 << at
    sites, refused = _sites(model, order, behind)
    return Block(name, tuple(order), sites, refused, tuple(direct), tuple(above), tuple(below), uses)


def _needs(known: Scopes, scope: Scope, nodes: list[Term]) -> dict[Term, dict[Term, None]]:
    """The nodes of a block that each needs directly, or something inside it does."""
    here = set(nodes)
    lets = {node.variable: node for node in nodes if isinstance(node, Let)}
    needs: dict[Term, dict[Term, None]] = {node: {} for node in nodes}
    for user, home in known.home.items():
        place = _lifted(user, home, scope)
        if place not in here:
            continue
        inside = (user.value,) if isinstance(user, Let) else operands(user)
        for operand in inside:
            source = lets.get(operand) if isinstance(operand, Variable) else source_of(operand)
            calls_itself = isinstance(source, Let) and source_of(source.value) is place
            if source in here and source is not place and not calls_itself:
                needs[place][source] = None
            waiting = operand  # whoever uses a let's value stands behind the let
            while isinstance(waiting, Let | Projection):
                if waiting in here and waiting is not place:
                    needs[place][waiting] = None
                waiting = waiting.body if isinstance(waiting, Let) else waiting.tuple
    return needs


def _lifted(node: Term, home: Scope, scope: Scope) -> Term:
    """The node of a scope that this one is inside of; itself where there is none."""
    while home is not scope and home.outer is not None and home.depth > scope.depth:
        assert home.at is not None
        node, home = home.at, home.outer
    return node


def _order(nodes: list[Term], needs: Mapping[Term, dict[Term, None]]) -> list[Term]:
    """An order in which calls of operators stand together: of what could come next, what follows the last one first."""
    users: dict[Term, list[Term]] = {node: [] for node in nodes}
    left = {node: len(needs[node]) for node in nodes}
    for node in nodes:
        for each in needs[node]:
            users[each].append(node)
    ready = [node for node in reversed(nodes) if not left[node]]
    found: list[Term] = []
    while ready:
        at = next((n for n in range(len(ready) - 1, -1, -1) if is_operator_call(ready[n])), len(ready) - 1)
        node = ready.pop(at)
        found.append(node)
        for user in users[node]:
            left[user] -= 1
            if not left[user]:
                ready.append(user)
    assert len(found) == len(nodes)
    return found


def _sites(model: Model, nodes: list[Term], behind: Mapping[Term, str]) -> tuple[dict[Term, Site], dict[Term, str]]:
    types = model.typing.types
    sites: dict[Term, Site] = {}
    refused: dict[Term, str] = {}
    for node in nodes:
        if not is_operator_call(node):
            continue
        site = site_of(node, types)
        if isinstance(site, str):
            refused[node] = site
        elif node in behind:
            refused[node] = behind[node]
        else:
            sites[node] = site
    return sites, refused
