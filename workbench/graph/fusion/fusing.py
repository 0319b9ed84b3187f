"""`fused`: a model in which groups of calls are one call each, of an operator made of theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from workbench.errors import ModelError, unknown_name
from workbench.graph.fusion.call_graph import CallGraph, Slot, Value, call_graphs, operator_of, value
from workbench.graph.fusion.composing import Composition, NotComposable, Types, composed
from workbench.graph.fusion.footprints import Machine
from workbench.graph.fusion.groups import Grouping
from workbench.graph.fusion.legal_groups import legal_groups
from workbench.graph.fusion.recomputing import with_recomputation
from workbench.graph.fusion.relay_groups import relay_groups
from workbench.graph.fusion.results import Cut, FusionResult, Group, bytes_saved
from workbench.graph.models import Model
from workbench.graph.terms.nodes import Call, Function, Primitive, Projection, Term, Tuple, WriteReference
from workbench.graph.terms.walking import Steps, operands, postorder, run, with_operands
from workbench.lang.scopes.scope import free_name
from workbench.ops.catalogue import ENTRIES
from workbench.target import Target

Rule = Literal["legality", "relay"]
RULES = ("legality", "relay")


def fused(
    model: Model, /, *, rule: Rule = "legality", target: Target | None = None, sizes: Mapping[str, int] | None = None
) -> FusionResult:
    """The model with its calls in groups, each one operator; what the groups are, and why no more is in them.

    `rule="legality"` groups calls where a value between them need not go through memory, which dependences and
    footprints of their programs tell; `rule="relay"` makes the groups of Relay (FuseOps, TVM 0.14).  `sizes` are what
    named dimensions are taken to be when bytes are weighed (128 otherwise): they decide what is worth it, never what is
    right.  By legality, what is cheap is computed again in each group that reads it where that moves fewer bytes.
    ModelError for an unknown rule.

    >>> from workbench.graph.models import model
    >>> text = "fn main(x: float32[n, 8], w: float32[8, 4], b: float32[4]) { bias_relu(matmul(x, w), b) }"
    >>> print(fused(model(text)).model)
    def fused_matmul_bias_relu(float(n, 8) A, float(8, 4) B, float(4) b) -> (Y) {
        C(m, n_2) +=! A(m, k) * B(k, n_2)
        Y(m, n_2) = max(C(m, n_2) + b(n_2), 0.0)
    }
    <BLANKLINE>
    fn main(x: float32[n, 8], w: float32[8, 4], b: float32[4]) {
        fused_matmul_bias_relu(x, w, b)
    }
    """
    if rule not in RULES:
        raise ModelError(unknown_name("rule", rule, RULES))
    flat, machine = model.graph_form(), Machine(target or Target(), dict(sizes or {}))
    found = _grouped(flat, rule, machine)
    if rule == "relay":
        return found
    return with_recomputation(flat, found, lambda copied: _grouped(copied, rule, machine), machine)


def _grouped(flat: Model, rule: Rule, machine: Machine) -> FusionResult:
    """A model in graph form with its groups as calls."""
    making = _Fusing(flat, rule, machine)
    functions = {name: making.function(function) for name, function in flat.functions.items()}
    changed = flat.with_functions(functions) if making.groups else flat
    return FusionResult(rule, changed, tuple(making.groups), tuple(making.cuts), tuple(making.before), flat)


class _Fusing:
    """Fuses function after function; one definition has one name."""

    def __init__(self, model: Model, rule: Rule, machine: Machine) -> None:
        self.types: Types = dict(model.typing.types)
        self.rule, self.machine = rule, machine
        self.groups: list[Group] = []
        self.cuts: list[Cut] = []
        self.before: list[Call] = []
        self.taken = {*ENTRIES, *model.functions, *(op.name for op in model.operators), *model.datatypes.constructors}
        self.named: dict[str, str] = {}
        self.effects = any(isinstance(node, WriteReference) for node in postorder(*model.functions.values()))

    def function(self, function: Function) -> Function:
        """The function with its groups as calls."""
        made: dict[Call, Composition] = {}
        for graph in call_graphs(function, effects=self.effects):
            self.before += graph.calls
            grouping = self._grouping(graph)
            self.cuts += [Cut(r.producer, r.consumer, r.reason) for r in grouping.refusals]
            for at, calls in enumerate(grouping.groups):
                if len(calls) > 1:
                    self._make(graph, calls, grouping.kept[at] if grouping.kept else (), made)
        return _Rewriting(made).function(function) if made else function

    def _grouping(self, graph: CallGraph) -> Grouping:
        if self.rule == "relay":
            return relay_groups(graph, self.types)
        return legal_groups(graph, self.types, self.machine)

    def _make(self, graph: CallGraph, calls: Sequence[Call], kept: Any, made: dict[Call, Composition]) -> None:
        try:
            found = self._composed(graph, calls)
        except NotComposable as why:
            self.cuts += [Cut(a, b, str(why)) for a in calls for b in graph.consumers(a) if b in calls]
            return
        made |= dict.fromkeys(calls, found)
        saved = bytes_saved(graph, calls, self.types, kept)
        self.groups.append(Group(found.operator, tuple(calls), tuple(kept), saved))

    def _composed(self, graph: CallGraph, calls: Sequence[Call]) -> Composition:
        """The composition under a name that no other definition has; the same definition gets the same name."""
        base = _base_name(calls)

        def naming(says: str, words: set[str]) -> str:
            if says not in self.named:
                self.named[says] = free_name(base, self.taken | words)
                self.taken.add(self.named[says])
            return self.named[says]

        return composed(naming, calls, graph, self.types)


def _base_name(calls: Sequence[Call]) -> str:
    """The names of what is called; of many, the first ones and how many there are."""
    names = [re.sub(r"^fused_|_\d+$", "", operator_of(call).name) for call in calls]
    short = names if len(names) <= 4 else [*names[:3], f"{len(names)}_calls"]
    return f"fused_{'_'.join(short)}"[:90]


class _Rewriting:
    """Puts one call in place of each group."""

    def __init__(self, made: Mapping[Call, Composition]) -> None:
        self.made = made
        self.calls: dict[Composition, Call] = {}
        self.found: dict[Term, Term] = {}
        self.projections: dict[tuple[Term, int], Term] = {}

    def function(self, function: Function) -> Function:
        """The function with the groups' calls."""
        body = run(self._new(function.body))
        return Function(function.parameters, body, function.result, function.quantified, function.span)

    def _new(self, term: Term) -> Steps[Term]:
        if term not in self.found:
            self.found[term] = yield self._made(term)
        return self.found[term]

    def _made(self, term: Term) -> Steps[Term]:
        meant = value(term)
        if isinstance(meant, tuple) and meant[0] in self.made:
            return (yield self._result(meant))
        if isinstance(meant, tuple) and isinstance(term, Projection):
            return self._projected((yield self._new(meant[0])), term.index)
        if isinstance(term, Call) and term in self.made:  # all results of it at once
            slots = [(term, at) for at in range(len(operator_of(term).outputs))]
            items = []
            for slot in slots:
                items.append((yield self._result(slot)))
            return Tuple(tuple(items))
        new = []
        for operand in operands(term):
            new.append((yield self._new(operand)))
        return with_operands(term, tuple(new))

    def _result(self, slot: Slot) -> Steps[Term]:
        composition = self.made[slot[0]]
        if composition not in self.calls:
            arguments = []
            for each in composition.arguments:
                arguments.append((yield self._argument(each)))
            label = slot[0].label
            self.calls[composition] = Call(
                Primitive(composition.operator), tuple(arguments), composition.sizes, label, slot[0].span
            )
        call, at = self.calls[composition], composition.results.index(slot)
        return call if len(composition.results) == 1 else self._projected(call, at)

    def _projected(self, call: Term, at: int) -> Term:
        """One node for each result."""
        return self.projections.setdefault((call, at), Projection(call, at))

    def _argument(self, of: Value) -> Steps[Term]:
        if not isinstance(of, tuple):
            return (yield self._new(of))
        if of[0] in self.made:
            return (yield self._result(of))
        whole = yield self._new(of[0])
        return whole if len(operator_of(of[0]).outputs) == 1 else self._projected(whole, of[1])

