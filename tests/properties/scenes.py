"""A program at concrete sizes and contents: its instances, its dependent pairs, and its outputs as terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from random import Random
from typing import Any

from tests.properties.happening import Instances, Times
from tests.properties.pairing import Pairs, Wrong
from tests.properties.placing import NoRoom, placed
from tests.properties.plain import Contents
from tests.properties.terms import Terms, difference, final, values
from tests.properties.touching import Cell, Event, Key, keys_of, of_operator, of_program
from workbench import poly
from workbench.lang.operator import Operator
from workbench.poly.programs.tree import Tree


class Scene:
    """The operator at some sizes.

    The oracle of legality: `run` knows the pairs in the wrong order, `changed` what running in another order changes.
    """

    def __init__(self, op: Operator, program: Any, sizes: Mapping[str, int], contents: Contents) -> None:
        self.op, self.sizes, self.contents = op, dict(sizes), contents
        self.events = of_operator(op, {**program.sizes, **sizes}, contents)
        self.original = Run(program, self.events, self.sizes)
        self.terms = Terms(n for n, t in op.tensors.items() if t.role == "temporary")
        self.derived: dict[Any, Run] = {}

    @cached_property
    def wanted(self) -> dict[Cell, int]:
        """The terms of the operator's own order."""
        return final(self.terms, self.events)

    def run(self, program: Any) -> Run:
        """The instances of the operator's program, or of one that steps made of it."""
        if getattr(program, "parent", None) is None:
            return self.original
        found = self.derived.get(program)
        if found is None:
            found = self.derived[program] = Run.of_derived(program, self.sizes, self.contents)
        return found

    def changed(self, program: Any, tree: Tree, random: Random) -> str:
        """Runs the instances of a program in some order that its tree allows; what becomes different, or races."""
        run = self.run(program)
        times = Times(run.instances, tree)
        events = run.events
        if any(a.scope == "local" for a in program.arrays.values()):
            try:
                events = placed(run.events, times, poly.storage_of(program, tree), run.instances.sizes)
            except NoRoom as error:
                return str(error)
        if times.concurrent:  # else nothing runs at once
            touching = run.touching if events is run.events else Pairs.of(run.instances, events)
            for wrong in touching.races(times)[:1]:
                return f"{wrong.source} and {wrong.target} run at once in {wrong.loop}"
        dates = times.dates(_mixture(random))
        order = sorted(range(len(events)), key=dates.__getitem__)
        found = final(self.terms, [events[n] for n in order])
        return difference(self.wanted, found, self.op.outputs, self.terms)

    def computes_otherwise(self, program: Any) -> bool:
        """Whether the instances of a derived program compute other values than those of the operator's."""
        return not values(self.terms, self.run(program).events) <= values(self.terms, self.events)


class Run:
    """The instances of one program, in an order in which it is right."""

    def __init__(self, program: Any, events: list[Event], sizes: Mapping[str, int]) -> None:
        dims = {s.id: s.dims for s in program.statements}
        self.events = events
        self.instances = Instances(events, dims, {**program.sizes, **sizes})
        self.number: dict[Key, int] = {event.key: n for n, event in enumerate(events)}

    @classmethod
    def of_derived(cls, program: Any, sizes: Mapping[str, int], contents: Contents) -> Run:
        """The run of a program that steps made, in its reference order."""
        keys = keys_of(program, sizes)
        dims = {s.id: s.dims for s in program.statements}
        dates = Times(Instances.of(keys, dims, {**program.sizes, **sizes}), program.reference).dates()
        order = sorted(range(len(keys)), key=dates.__getitem__)
        return cls(program, of_program(program, sizes, [keys[n] for n in order], contents), sizes)

    @cached_property
    def touching(self) -> Pairs:
        """The pairs that must stay in order, with what is touched only if data say so."""
        return Pairs.of(self.instances)

    @cached_property
    def certain(self) -> Pairs:
        """Those pairs that are dependent whatever data say."""
        return Pairs.of(self.instances, certain=True)

    def wrong(self, tree: Tree, *, certain: bool = False) -> list[Wrong]:
        """Pairs in the wrong order, at most one of each kind."""
        return (self.certain if certain else self.touching).wrong(Times(self.instances, tree))


def _mixture(random: Random) -> dict[str, Any]:
    """How iterations without an order are executed: backwards, or as a small hash says."""
    factor = random.choice((-1, 5, 11))
    return {
        "parallel": lambda values: values * factor % 17 if factor > 0 else -values,
        "vector": lambda values: -values,
        "width": random.choice((1, 2, 3, 64)),
    }


def index_cells(events: Iterable[Event], contents: set[str]) -> set[Cell]:
    """The cells of index arrays that instances read."""
    return {cell for event in events for cell in event.reads | event.maybe if cell[0] in contents}
