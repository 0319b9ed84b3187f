"""Legality by enumeration: every dependence of a small program against the order of a tree, instance by instance.

Shares nothing with `workbench/poly`: instances and dependences come from walking the operator, order from
evaluating the tree's rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.poly import brute
from tests.poly.interpreting import Component, date, judge
from workbench.lang.operator import Operator
from workbench.poly.program import Program
from workbench.poly.tree import Tree


class Enumerated:
    """One operator at some sizes: its instances and the pairs that must stay in order."""

    def __init__(self, op: Operator, sizes: Mapping[str, int]) -> None:
        self.sizes = dict(sizes)
        run = brute.events(op, sizes)
        self.instances = [event.key for event in run]
        self.pairs = [(kind, *pair) for kind, pairs in brute.dependences(run).items() for pair in pairs]

    def legal(self, program: Program, tree: Tree) -> bool:
        """Whether no pair is out of order or races, and no two instances of a statement share a time."""
        ids = {s.name: s.id for s in program.statements}
        dates = {key: date(program, tree, ids[key[0]], key[1], self.sizes) for key in self.instances}
        return not _collide(dates) and all(
            judge(dates[a], dates[b], reduction=kind == "reduction") is None for kind, a, b in self.pairs
        )


def _collide(dates: dict[brute.Key, list[Component]]) -> bool:
    seen = {(key[0], tuple(value for _, _, value in found)) for key, found in dates.items()}
    return len(seen) < len(dates)
