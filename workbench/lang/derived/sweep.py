"""The reverse sweep: adjoints of every tensor, from the last statement to the first.

Outside of loops an adjoint is a list of contributions until it is asked for; then it is written once, and stays.
What only repeats another adjoint is not written at all.  Inside loops adjoints are kept in place: each iteration,
the last one first, adds what it reads and clears what it overwrote.
Equal places of a maximum or a minimum get equal shares of its adjoint.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lang.derived.adjoints import Adjoints, Reference
from workbench.lang.derived.building import Building, box_of
from workbench.lang.derived.calculus.algebra import ZERO, both, if_then_else, is_zero, plus
from workbench.lang.derived.calculus.pullback import all_of, derivatives
from workbench.lang.derived.deviations import Deviations
from workbench.lang.derived.forward.plain import disjoint, same_cell
from workbench.lang.derived.forward.replay import Replay
from workbench.lang.derived.forward.stepping import overwrites, read, written
from workbench.lang.derived.placing.contributions import Shares
from workbench.lang.derived.placing.placement import conditions, placed_indices, renewed
from workbench.lang.derived.reversing import begins_anew, reversed_loop
from workbench.lang.derived.systems import has_no_instances, intervals
from workbench.lang.derived.text.source import walked
from workbench.lang.derived.weights import Weights
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Expr, Index, Read, reads
from workbench.lang.operator import For, Range, Statement, Step


@dataclass
class Sweep:
    """The sweep over one program; `active` are the tensors that have adjoints."""

    building: Building
    replay: Replay
    active: set[str]

    def __post_init__(self) -> None:
        self.adjoints = Adjoints(self.building, Deviations(self.replay).vanish)
        self.weights = Weights(self.building, self.replay)

    def run(self, steps: tuple[Step, ...]) -> None:
        """Sweep over the steps, the last one first."""
        for step in reversed(steps):
            if isinstance(step, For):
                self._loop(step)
            else:
                self._statement(step)

    # --- adjoints

    def _contribute(self, name: str, node: Read, shares: Shares, ranges: tuple[Range, ...], left: set[str]) -> None:
        found = self.adjoints.contributions.of(name, node, shares, ranges, left)
        if self._eager:
            self.adjoints.add(name, found)
        else:
            self.adjoints.pending.setdefault(name, []).append(found)

    @property
    def _eager(self) -> bool:
        return bool(self.building.axes)

    def _adjoint(self, name: str) -> Reference | None:
        """Where the adjoint of a statement's target stands."""
        if not self._eager:
            return self.adjoints.settled(name)
        if name in self.adjoints.local:
            known = self.adjoints.local[name]
            return None if known is None else self.adjoints.whole(known)
        return self.adjoints.whole(self.adjoints.fixed[name]) if name in self.adjoints.fixed else None

    # --- statements

    def _statement(self, statement: Statement) -> None:
        if has_no_instances(statement, self.building.facts):
            return
        targets = [t.tensor for t in statement.targets if t.tensor in self.active]
        found = {name: self._adjoint(name) for name in targets}
        references = {name: each for name, each in found.items() if each is not None}
        if not references:
            return
        cell = self._cell(statement)
        seeds = {name: each.read(self.building, cell) for name, each in references.items()}
        if self._must_copy(statement):
            seeds = {name: self._copied(seed, statement) for name, seed in seeds.items()}
            for name in seeds:
                self._clear(statement, references[name])
            same = self._send(statement, seeds)
            for name, factor in same.items():
                self._add_same(statement, name, factor)
            return
        same = self._send(statement, seeds)
        for name, reference in references.items():
            self._leave(statement, name, reference, same.get(name, ZERO))

    def _cell(self, statement: Statement) -> tuple[Expr, ...]:
        """The subscripts of the targets, from values that are kept."""
        return tuple(self.replay.values(each, statement) for each in statement.targets[0].subscripts)

    def _must_copy(self, statement: Statement) -> bool:
        """Whether the adjoint of what the instance reads may be that of what it writes."""
        if not self._eager:
            return False
        names = {statement.targets[0].tensor} & self.active
        own = [r for r in reads(*statement.values) if r.tensor in names]
        return any(not same_cell(statement, r) and not disjoint(statement, r, self.building) for r in own)

    def _copied(self, seed: Read, statement: Statement) -> Read:
        building = self.building
        own = tuple(r for r in statement.ranges if r.kind == "free")
        name = building.make("seed", seed.dtype, intervals(own))
        building.assign(name, [Index(r.index) for r in own], seed, own)
        return building.read_named(name, [r.index for r in own])

    def _clear(self, statement: Statement, reference: Reference, value: Expr = ZERO) -> None:
        cell = reference.read(self.building, self._cell(statement))
        own = tuple(r for r in statement.ranges if r.kind == "free")
        self.building.assign(cell.tensor, cell.subscripts, value, own)

    def _add_same(self, statement: Statement, name: str, factor: Expr) -> None:
        reference = self._adjoint(name)
        assert reference is not None
        cell = reference.read(self.building, self._cell(statement))
        own = tuple(r for r in statement.ranges if r.kind == "free")
        self.building.assign(cell.tensor, cell.subscripts, plus(cell, factor), own)

    def _send(self, statement: Statement, seeds: dict[str, Read]) -> dict[str, Expr]:
        """Contributions of every target to what the statement reads; what goes to the cells themselves is returned."""
        same: dict[str, Expr] = {}
        for at, target in enumerate(statement.targets):
            if target.tensor not in seeds:
                continue
            value = statement.values[at]
            weights = self.weights.of(statement, at, seeds[target.tensor])
            left = set(statement.indices("free"))
            for node, shares in derivatives(value, self.active).items():
                seeded = self.weights.seeded(statement, shares, weights)
                if same_cell(statement, node) and statement.reduction is None:
                    own = [if_then_else(all_of(guard), factor) for guard, factor in seeded]
                    for part in own:
                        same[target.tensor] = plus(same.get(target.tensor, ZERO), part)
                    continue
                subscripts = tuple(self.replay.values(s, statement) for s in node.subscripts)
                placed_read = Read(node.tensor, subscripts, node.dtype)
                self._contribute(node.tensor, placed_read, seeded, statement.ranges, left)
        return same

    # --- what stood there before

    def _leave(self, statement: Statement, name: str, reference: Reference, same: Expr) -> None:
        """The adjoint of the target as it was before the statement."""
        if self._eager:
            self._leave_in_place(statement, name, reference, same)
            return
        if not self.replay.is_written_before(name, statement):
            return
        building = self.building
        names = building.indices(name)
        old = reference.read(building, map(Index, names))
        if statement.reduction is not None and not statement.initialise:
            self.adjoints.pend(name, old)
            return
        if overwrites(statement, building):
            if not is_zero(same):
                self._contribute_same(statement, name, same)
            return
        self._pend_outside(statement, name, old)
        if not is_zero(same):
            self._contribute_same(statement, name, same)

    def _contribute_same(self, statement: Statement, name: str, same: Expr) -> None:
        node = Read(name, self._cell(statement), self.building.tensors[name].dtype)
        self._contribute(name, node, [((), same)], statement.ranges, set(statement.indices("free")))

    def _pend_outside(self, statement: Statement, name: str, old: Read) -> None:
        """Where the statement does not write the adjoint stays."""
        building = self.building
        if statement.reduction is not None and statement.initialises_all:
            return
        inside = self._inside(statement, name)
        if inside is not None:
            self.adjoints.pend(name, if_then_else(inside, ZERO, old))
            return
        copy = self.adjoints.fresh(name)
        building.fill(copy, old)
        self._clear(statement, self.adjoints.whole(copy))
        self.adjoints.pend(name, building.read_named(copy, building.indices(name)))

    def _inside(self, statement: Statement, name: str) -> Expr | None:
        """Whether a cell is one that the statement writes, None if that is no condition on its indices."""
        building = self.building
        box = box_of(building.tensors[name])
        places = [f"cell@{d}" for d in range(len(box))]
        kept = tuple(r for r in statement.ranges if r.kind != "reduction")
        found = placed_indices(statement.targets[0].subscripts, kept, box, places, set(), building.facts)
        if found is None or found.rest or any(below.constant != 1 for _, below in found.solved.values()):
            return None
        names = building.indices(name)
        renaming: dict[str, Expr] = {p: Index(n) for p, n in zip(places, names, strict=True)}
        result: Expr = conditions(found.system, building.facts)
        for each, subscript in zip(names, found.subscripts, strict=True):
            moved = renewed(subscript, renaming)
            if moved != Index(each):
                result = both(result, Binary("==", Index(each), moved, BOOL))
        return renewed(result, renaming)

    def _leave_in_place(self, statement: Statement, name: str, reference: Reference, same: Expr) -> None:
        if statement.reduction is not None and not statement.initialise:
            return
        if name in self.adjoints.local:
            self.adjoints.local[name] = None
            if not is_zero(same):
                raise AssertionError("an iteration does not read what it begins with")
            return
        if statement.reduction is not None and statement.initialises_all:
            self.building.fill(reference.tensor, ZERO)
        elif not is_zero(same) or not self._is_only_writer(statement, name):
            self._clear(statement, reference, same)

    def _is_only_writer(self, statement: Statement, name: str) -> bool:
        """Whether nothing else is written to the cells, so that their adjoints may stay as they are."""
        axes = set(statement.indices("sequential"))
        subscripts = statement.targets[0].subscripts
        plain = {s.name for s in subscripts if isinstance(s, Index)}
        writers = [s for s, _ in walked(self.replay.steps) if name in {t.tensor for t in s.targets}]
        return axes <= plain and len(writers) == 1 and (name, -1) not in self.replay.given

    # --- loops

    def _loop(self, step: For) -> None:
        building = self.building
        touched = sorted(self.active & {n for s, _ in walked((step,)) for n in (*read(s), *written(s))})
        outer = not self._eager
        fresh = self._begin(step, touched) if outer else self._begin_inner(step, touched)
        steps, axes, local = building.steps, building.axes, self.adjoints.local
        building.steps, building.axes = [], (*axes, step.axis)
        fixed = self.adjoints.fixed
        self.adjoints.fixed = {**fixed, **{name: known for name, known in local.items() if known is not None}}
        self.adjoints.local = dict.fromkeys(fresh)
        for each in reversed(step.body):
            self.adjoints.contributions.known.clear()
            self._loop(each) if isinstance(each, For) else self._statement(each)
        body = tuple(building.steps)
        building.steps, building.axes, self.adjoints.local, self.adjoints.fixed = steps, axes, local, fixed
        if body:
            building.steps.append(reversed_loop(step.axis, body))
        if outer:
            self.adjoints.contributions.known.clear()
            for name, adjoint in self.adjoints.fixed.items():
                self.adjoints.pend(name, building.read_named(adjoint, building.indices(name)))
            self.adjoints.fixed = {}

    def _begin(self, step: For, touched: list[str]) -> list[str]:
        """Tensors that hold the adjoints while the loop runs; names of those that need none."""
        fresh = []
        for name in touched:
            reference = self.adjoints.settled(name)
            if reference is None and begins_anew(step, name, self.building):
                fresh.append(name)
                continue
            if reference is not None and not any(reference.shift) and self._stays(step, name):
                self.adjoints.fixed[name] = reference.tensor
                continue
            self.adjoints.fixed[name] = self.adjoints.fresh(name)
            names = self.building.indices(name)
            value: Expr = ZERO if reference is None else reference.read(self.building, map(Index, names))
            self.building.fill(self.adjoints.fixed[name], value, names)
        return fresh

    def _stays(self, step: For, name: str) -> bool:
        """Whether the loop adds nothing to an adjoint and clears none of it."""
        inside = [s for s, _ in walked((step,))]
        writers = [s for s in inside if name in written(s)]
        return not any(name in read(s) for s in inside) and all(
            self._is_only_writer(s, name) and not (s.reduction and s.initialises_all) for s in writers
        )

    def _begin_inner(self, step: For, touched: list[str]) -> list[str]:
        fresh = []
        for name in touched:
            if name in self.adjoints.local and self.adjoints.local[name] is None:
                if begins_anew(step, name, self.building):
                    fresh.append(name)
                    continue
                known = self.adjoints.local[name] = self.adjoints.fresh(name)
                self.building.fill(known, ZERO)
        return fresh
