"""The reverse sweep: adjoints of every tensor, from the last statement to the first.

Outside of loops an adjoint is a list of contributions until it is asked for; then it is written once, and stays.
What only repeats another adjoint is not written at all.  Inside loops adjoints are kept in place: each iteration,
the last one first, adds what it reads and clears what it overwrote.
Equal places of a maximum or a minimum get equal shares of its adjoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce

from workbench.lang.derived.algebra import ONE, ZERO, both, choose, compare, is_zero, over, plus, times
from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.contributions import Contribution, Contributions, Shares
from workbench.lang.derived.placement import conditions, placed, renewed
from workbench.lang.derived.plain import disjoint, same_cell
from workbench.lang.derived.products import is_costly
from workbench.lang.derived.pullback import Guard, derivatives
from workbench.lang.derived.replay import Replay, overwrites, read, written
from workbench.lang.derived.source import walked
from workbench.lang.derived.systems import intervals
from workbench.lang.dtypes import BOOL, INT32
from workbench.lang.expr import Binary, Cast, Const, Expr, Index, Read, reads, transform
from workbench.lang.normal_form import bound, polynomial
from workbench.lang.operator import For, Range, Statement, Step, Target
from workbench.lang.polynomial import Polynomial


@dataclass
class Reference:
    """An adjoint that is written: a tensor whose cells are those of the other, moved by `shift`."""

    tensor: str
    shift: tuple[Polynomial, ...]

    def read(self, building: Building, subscripts: Iterable[Expr]) -> Read:
        moved = tuple(
            bound(polynomial(each) + gap) if gap else each for each, gap in zip(subscripts, self.shift, strict=True)
        )
        return building.read(self.tensor, moved)


@dataclass
class Sweep:
    """What is known of the adjoints at one point of the sweep.

    `pending` are contributions to adjoints that nobody asked for; `fixed` the tensors in which a loop keeps them;
    `local` those that every iteration begins anew, None until its first contribution.
    """

    building: Building
    replay: Replay
    active: set[str]
    pending: dict[str, list[Contribution]] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    local: dict[str, str | None] = field(default_factory=dict)
    adjoints: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.contributions = Contributions(self.building)

    def run(self, steps: tuple[Step, ...]) -> None:
        """Sweep over the steps, the last one first."""
        for step in reversed(steps):
            if isinstance(step, For):
                self._loop(step)
            else:
                self._statement(step)

    # --- adjoints

    def seed(self, name: str, value: Read) -> None:
        """The adjoint of a result, cell by cell."""
        self._pend(name, value)

    def _pend(self, name: str, value: Expr) -> None:
        building = self.building
        names = building.indices(name)
        free = ranges_of(cells(building.tensors[name], names))
        whole = Contribution(tuple(map(Index, names)), value, free, (), True)
        self.pending.setdefault(name, []).append(whole)

    def _settled(self, name: str) -> Reference | None:
        """The adjoint of a tensor, written if it was not; None where nothing depends on it."""
        found = self.pending.pop(name, [])
        if not found:
            return None
        alias = self.alias(found)
        if alias is not None:
            return alias
        new = self._fresh(name)
        self.write(new, found)
        return self._whole(new)

    def _fresh(self, name: str) -> str:
        new = self.building.like(f"d_{name}", name)
        self.adjoints.add(new)
        return new

    def _whole(self, new: str) -> Reference:
        return Reference(new, (polynomial(Const(0, INT32)),) * self.building.tensors[new].rank)

    def alias(self, found: list[Contribution]) -> Reference | None:
        """The adjoint that the contributions only repeat."""
        match found:
            case [Contribution(_, Read(tensor, subscripts, _), free, (), True)] if tensor in self.adjoints:
                shifts = [polynomial(s) - polynomial(Index(r.index)) for s, r in zip(subscripts, free, strict=False)]
                if len(subscripts) == len(free) and not any(shift.indices for shift in shifts):
                    return Reference(tensor, tuple(shifts))
        return None

    def write(self, new: str, found: list[Contribution]) -> None:
        """Statements that make the adjoint of its contributions: sums, then what needs none, then scatters."""
        building = self.building
        if self._in_planes(new, found):
            return
        sums = [each for each in found if each.whole and each.sums]
        simple = [each for each in found if each.whole and not each.sums]
        scatters = [each for each in found if not each.whole]
        for at, each in enumerate(sums):
            value = self.contributions.hoisted(each.value, (*each.free, *each.sums))
            building.assign(new, each.target, value, (*each.free, *each.sums), "+", initialise=at == 0)
        total: Expr = ZERO
        for each in simple:
            total = plus(total, each.value)
        names = building.indices(new)
        if sums and simple:
            total = plus(building.read_named(new, names), total)
        if simple or not sums:
            total = self.contributions.hoisted(total, ranges_of(cells(building.tensors[new], names)))
            building.fill(new, total, names)
        for each in scatters:
            building.assign(new, each.target, each.value, (*each.free, *each.sums), "+")

    def _in_planes(self, new: str, found: list[Contribution]) -> bool:
        """Contributions to single places of one dimension that fill it: each place is set, nothing is cleared before."""
        building = self.building
        extents = [extent.constant for _, extent in box_of(building.tensors[new])]
        for dimension, extent in enumerate(extents):
            planes: dict[int, list[Contribution]] = {}
            for each in found:
                place = polynomial(each.target[dimension]).constant if not each.sums and not each.whole else None
                if place is None or len(each.free) != len(each.target) - 1:
                    break
                planes.setdefault(place, []).append(each)
            else:
                low = box_of(building.tensors[new])[dimension][0].constant
                if extent is None or low is None or sorted(planes) != list(range(low, low + extent)):
                    continue
                if any(own[0].target != each.target for own in planes.values() for each in own):
                    continue
                for _, own in sorted(planes.items()):
                    value = reduce(plus, (each.value for each in own), ZERO)
                    building.assign(new, own[0].target, self.contributions.hoisted(value, own[0].free), own[0].free)
                return True
        return False

    def _add(self, name: str, each: Contribution) -> None:
        """A contribution inside a loop: at once, in place."""
        building = self.building
        self.contributions.known.clear()
        known = self.local.get(name) if name in self.local else self.fixed[name]
        if known is None:
            known = self.local[name] = self._fresh(name)
            if each.whole:
                self.write(known, [each])
                return
            building.fill(known, ZERO)
        ranges = (*each.free, *each.sums)
        if each.sums or not each.whole:
            building.assign(known, each.target, each.value, ranges, "+")
        else:
            building.assign(known, each.target, plus(building.read(known, each.target), each.value), ranges)

    def _contribute(self, name: str, node: Read, shares: Shares, ranges: tuple[Range, ...], left: set[str]) -> None:
        found = self.contributions.of(name, node, shares, ranges, left)
        if self._eager:
            self._add(name, found)
        else:
            self.pending.setdefault(name, []).append(found)

    @property
    def _eager(self) -> bool:
        return bool(self.building.axes)

    def _adjoint(self, name: str) -> Reference | None:
        """Where the adjoint of a statement's target stands."""
        if not self._eager:
            return self._settled(name)
        if name in self.local:
            known = self.local[name]
            return None if known is None else self._whole(known)
        return self._whole(self.fixed[name]) if name in self.fixed else None

    # --- statements

    def _statement(self, statement: Statement) -> None:
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
        own = [r for r in reads(*statement.values) if r.tensor == statement.targets[0].tensor and r.tensor in self.active]
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
            weights = self._weights(statement, at, seeds[target.tensor])
            left = set(statement.indices("free"))
            for node, shares in derivatives(value, self.active).items():
                seeded = self._seeded(statement, shares, weights)
                if same_cell(statement, node) and statement.reduction is None:
                    own = [choose(_all(guard), factor) for guard, factor in seeded]
                    for part in own:
                        same[target.tensor] = plus(same.get(target.tensor, ZERO), part)
                    continue
                subscripts = tuple(self.replay.values(s, statement) for s in node.subscripts)
                placed_read = Read(node.tensor, subscripts, node.dtype)
                self._contribute(node.tensor, placed_read, seeded, statement.ranges, left)
        return same

    def _seeded(self, statement: Statement, shares: dict[Guard, Expr], weights: Shares) -> Shares:
        found: Shares = []
        if self._is_worth_reading(statement):
            shares = {guard: self._known(statement, factor) for guard, factor in shares.items()}
        for own, weight in weights:
            for guard, factor in shares.items():
                conditions_ = tuple(self.replay.values(each, statement) for each in guard)
                found.append(((*own, *conditions_), times(weight, self.replay.values(factor, statement))))
        return found

    def _is_worth_reading(self, statement: Statement) -> bool:
        """Whether the value that was stored costs less than computing it again: something else needs it as well."""
        if statement.reduction is not None or self._eager or not is_costly(statement.values[0]):
            return False
        name, (at, _) = statement.targets[0].tensor, self.replay.place[id(statement)]
        if (name, at) in self.replay.given:
            return True
        later = self.replay.steps[at + 1 :]
        return any(name in read(s) for s, _ in walked(later) if self.replay.reaches(name, at, s))

    def _known(self, statement: Statement, factor: Expr) -> Expr:
        """The factor with the stored value for the expression that computes it."""
        target, value = statement.targets[0], statement.values[0]
        stored = self.replay.values(self.building.read(target.tensor, target.subscripts), statement, after=True)
        return transform(factor, lambda node: stored if node == value else node)

    # --- what a reduction makes of the adjoint of its result

    def _weights(self, statement: Statement, at: int, seed: Read) -> Shares:
        """The derivative of the result by one contribution, times the adjoint of the result."""
        match statement.reduction:
            case None | "+":
                return [((), seed)]
            case "*":
                return self._of_product(statement, seed)
            case _:
                return self._of_choice(statement, seed)

    def _of_choice(self, statement: Statement, seed: Read) -> Shares:
        """min, max, and monoids that select: what equals the result has its share."""
        wins: Expr = Const(True, BOOL)
        for target, value in zip(statement.targets, statement.values, strict=True):
            result = Read(target.tensor, target.subscripts, self.building.tensors[target.tensor].dtype)
            own = self.replay.values(value, statement)
            wins = both(wins, compare("==", own, self.replay.values(result, statement, after=True)))
        count = self._reduced(statement, "count", "+", choose(wins, Cast(ONE, seed.dtype)), seed)
        return [((wins,), self._per_cell(statement, "share", over(seed, count)))]

    def _of_product(self, statement: Statement, seed: Read) -> Shares:
        """The product of the others, also where one of them is 0."""
        value = self.replay.values(statement.values[0], statement)
        is_null = compare("==", value, ZERO)
        others = self._reduced(statement, "others", "*", choose(is_null, ONE, value), seed)
        nulls = self._reduced(statement, "nulls", "+", choose(is_null, Cast(ONE, seed.dtype)), seed)
        none, one = compare("==", nulls, ZERO), compare("==", nulls, ONE)
        return [((none,), over(times(seed, others), value)), ((one, is_null), times(seed, others))]

    def _reduced(self, statement: Statement, wanted: str, op: str, value: Expr, like: Read) -> Read:
        """A reduction over the instances of the statement, for each of its cells."""
        building = self.building
        ranges = tuple(r for r in statement.ranges if r.kind != "sequential")
        free = {r.index: r for r in ranges if r.kind == "free"}
        name = building.make(wanted, like.dtype, intervals(free.values()))
        building.assign(name, map(Index, free), value, ranges, op, initialise=True)
        return building.read_named(name, free)

    def _per_cell(self, statement: Statement, wanted: str, value: Expr) -> Read:
        building = self.building
        free = tuple(r for r in statement.ranges if r.kind == "free")
        name = building.make(wanted, value.dtype, intervals(free))
        building.assign(name, [Index(r.index) for r in free], value, free)
        return building.read_named(name, [r.index for r in free])

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
            self._pend(name, old)
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
            self._pend(name, choose(inside, ZERO, old))
            return
        copy = self._fresh(name)
        building.fill(copy, old)
        self._clear(statement, self._whole(copy))
        self._pend(name, building.read_named(copy, building.indices(name)))

    def _inside(self, statement: Statement, name: str) -> Expr | None:
        """Whether a cell is one that the statement writes, None if that is no condition on its indices."""
        building = self.building
        box = box_of(building.tensors[name])
        places = [f"cell@{d}" for d in range(len(box))]
        kept = tuple(r for r in statement.ranges if r.kind != "reduction")
        found = placed(statement.targets[0].subscripts, kept, box, places, set(), building.facts)
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
        if name in self.local:
            self.local[name] = None
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
        at, _ = self.replay.place[id(statement)]
        writers = [s for s, _ in walked(self.replay.steps) if name in {t.tensor for t in s.targets}]
        return axes <= plain and len(writers) == 1 and (name, -1) not in self.replay.given

    # --- loops

    def _loop(self, step: For) -> None:
        building = self.building
        touched = sorted(self.active & {n for s, _ in walked((step,)) for n in (*read(s), *written(s))})
        outer = not self._eager
        fresh = self._begin(step, touched) if outer else self._begin_inner(step, touched)
        steps, axes, local = building.steps, building.axes, self.local
        building.steps, building.axes = [], (*axes, step.axis)
        fixed = self.fixed
        self.fixed = {**fixed, **{name: known for name, known in local.items() if known is not None}}
        self.local = dict.fromkeys(fresh)
        for each in reversed(step.body):
            self.contributions.known.clear()
            self._loop(each) if isinstance(each, For) else self._statement(each)
        body = tuple(building.steps)
        building.steps, building.axes, self.local, self.fixed = steps, axes, local, fixed
        if body:
            building.steps.append(reversed_loop(step.axis, body))
        if outer:
            self.contributions.known.clear()
            for name, adjoint in self.fixed.items():
                self._pend(name, building.read_named(adjoint, building.indices(name)))
            self.fixed = {}

    def _begin(self, step: For, touched: list[str]) -> list[str]:
        """Tensors that hold the adjoints while the loop runs; names of those that need none."""
        fresh = []
        for name in touched:
            reference = self._settled(name)
            if reference is None and begins_anew(step, name, self.building):
                fresh.append(name)
                continue
            if reference is not None and not any(reference.shift) and self._stays(step, name):
                self.fixed[name] = reference.tensor
                continue
            self.fixed[name] = self._fresh(name)
            names = self.building.indices(name)
            value: Expr = ZERO if reference is None else reference.read(self.building, map(Index, names))
            self.building.fill(self.fixed[name], value, names)
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
            if name in self.local and self.local[name] is None:
                if begins_anew(step, name, self.building):
                    fresh.append(name)
                    continue
                known = self.local[name] = self._fresh(name)
                self.building.fill(known, ZERO)
        return fresh


def begins_anew(step: For, name: str, building: Building) -> bool:
    """Whether each iteration overwrites a tensor before it reads it."""
    for each in step.body:
        if isinstance(each, For):
            if any(name in read(s) | written(s) for s, _ in walked((each,))):
                return False
            continue
        if name in read(each):
            return False
        if name in written(each):
            return overwrites(each, building)
    return False


def reversed_loop(axis: Range, body: tuple[Step, ...]) -> For:
    """The loop whose first turn is the last: its axis counts the other way."""
    low, high = polynomial(axis.lower), polynomial(axis.upper)
    last = bound(low + high - 1 - polynomial(Index(axis.index)))
    return For(axis, tuple(_turned(each, {axis.index: last}) for each in body))


def _turned(step: Step, new: dict[str, Expr]) -> Step:
    if isinstance(step, For):
        return For(_turned_range(step.axis, new), tuple(_turned(each, new) for each in step.body))
    return replace(
        step,
        targets=tuple(Target(t.tensor, tuple(renewed(s, new) for s in t.subscripts)) for t in step.targets),
        values=tuple(renewed(value, new) for value in step.values),
        ranges=tuple(r if r.kind == "sequential" else _turned_range(r, new) for r in step.ranges),
    )


def _turned_range(of: Range, new: dict[str, Expr]) -> Range:
    return replace(of, lower=renewed(of.lower, new), upper=renewed(of.upper, new))


def _all(guard: Iterable[Expr]) -> Expr:
    result: Expr = Const(True, BOOL)
    for each in guard:
        result = both(result, each)
    return result
