"""Loops that calls are said to share: every dependence of the composed program stays within one iteration of them.

The claim is put together from facts about single operators; here isl judges the program of the whole group, in which
the calls are written one after the other.
"""

from __future__ import annotations

import re

import pytest

from tests.graph.fusion.networks import NETWORKS, network
from tests.graph.fusion.random_calls import random_calls
from tests.support import examples
from workbench.graph.fusion.call_graph import call_graphs, operator_of
from workbench.graph.fusion.composing import composed
from workbench.graph.fusion.footprints import Machine
from workbench.graph.fusion.legal_groups import legal_groups
from workbench.graph.fusion.loop_axes import _equal, loop_axes
from workbench.graph.fusion.sharing import StatementGraph
from workbench.lang import operators
from workbench.poly.dependence.flow import dependences
from workbench.poly.lowering import lower

SEEDS = range(examples(quick=3, ci=10, full=200))


def written_in_calls(calls, graph, types):
    """The composition that has not been flattened."""
    said = []

    def naming(says: str, words: set[str]) -> str:
        said.append(re.sub(r"\n(\([^\n]*\) -> \([^\n]*\) \{\n)", r"\ndef whole\1", says))
        return "whole"

    composed(naming, calls, graph, types)
    return operators(said[0])["whole"]


def statements_of(program, calls):
    """The statements of the whole program that each statement of a call became."""
    found, at = {}, 0
    for call in calls:
        own = lower(operator_of(call)).statements
        for mine, theirs in zip(own, program.statements[at : at + len(own)], strict=True):
            found.setdefault((call, mine.id), []).append((theirs.id, dict(zip(mine.dims, theirs.dims, strict=True))))
            if mine.kind != "initialise" and len(loop_axes(operator_of(call)).dims) == 1:
                found.setdefault((call, mine.name), []).append(found[call, mine.id][-1])
        at += len(own)
    assert at == len(program.statements)
    return found


def judged(model) -> int:
    """How many loops were claimed, all of them rightly."""
    flat, count = model.graph_form(), 0
    types = dict(flat.typing.types)
    for graph in call_graphs(flat.main):
        for calls in legal_groups(graph, types, Machine()).groups:
            facts = {call: loop_axes(operator_of(call)) for call in calls}
            if len(calls) < 2 or any(call.sizes or operator_of(call).name == "flat" for call in calls):  # not affine
                continue
            program = lower(written_in_calls(calls, graph, types))
            known = statements_of(program, calls)
            links = {(d.source, d.target): d for d in dependences(program) if d.kind == "flow"}
            statements = StatementGraph(graph, calls, facts)
            for slot in (slot for call in calls for slot in graph.results(call) if statements.reads_of(slot)):
                for loops in statements.shared(slot).axes.values():
                    dims = {i: names[dim] for node, dim in loops.items() for i, names in known[node]}
                    for (source, target), each in links.items():
                        if source in dims and target in dims and source != target:
                            pair = program.statement(source).dims, program.statement(target).dims
                            assert (dims[source], dims[target]) in _equal(each.relation, *pair), (str(program), loops)
                    count += 1
    return count


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_of_random_graphs_are_shared_rightly(seed):
    judged(random_calls(seed, 10))


@pytest.mark.parametrize("name", ["mlp", "lstm cell", "odd"])
def test_loops_of_networks_are_shared_rightly(name):
    assert name in NETWORKS
    assert judged(network(name)) > 0


def test_a_claim_too_many_is_found(monkeypatch):
    """Were every axis of every read said to be walked along, the whole program would show that it is not."""
    wrong = StatementGraph._loops

    def careless(self, start, within):
        found = wrong(self, start, within)
        if found is not None:
            return found
        dims = {node: self.facts[node[0]].dims[node[1]] for node in within}
        return {node: (names[-1] if names else "") for node, names in dims.items()} if all(dims.values()) else None

    monkeypatch.setattr(StatementGraph, "_loops", careless)
    with pytest.raises((AssertionError, KeyError)):
        sum(judged(random_calls(seed, 10)) for seed in range(6))
