"""Steps as derivatives want them: no update but `+=`, and order written as loops.

A statement that reads cells which it writes becomes a `for` over the indices that carry the dependence.  `*=`,
`min=` and `max=` that keep what was there reduce into a tensor of their own first.  A reduction over a tuple becomes
a `for` that combines one element after the other, unless its monoid only ever selects one of its operands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from workbench.lang.algebra.identities import combined, identity
from workbench.lang.algebra.normal_form import is_plain, polynomial
from workbench.lang.algebra.polynomial import split_linear
from workbench.lang.derived.building import Building, cells, ranges_of
from workbench.lang.derived.forward.splitting import split_choices as split_large
from workbench.lang.derived.placing.placement import overlap
from workbench.lang.derived.systems import (
    has_no_instances,
    inequalities,
    intervals,
    is_void,
    loop_ranges,
    tightened,
)
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Index, Read, Select, index_names, reads, walk
from workbench.lang.operator import For, Monoid, Range, Statement, Step, Target


def plain_steps(steps: tuple[Step, ...], building: Building) -> tuple[Step, ...]:
    """The same program in statements of few kinds."""
    found: list[Step] = []
    for step in steps:
        if isinstance(step, For):
            around = building.axes
            building.axes = (*around, step.axis)
            found.append(For(step.axis, plain_steps(step.body, building)))
            building.axes = around
        else:
            ranges = tuple(tightened(r, building.facts) for r in step.ranges)
            made = _Plain(replace(step, ranges=ranges), building).steps()
            found += [part for each in made for part in _in_parts(each, building)]
    return tuple(found)


def _in_parts(step: Step, building: Building) -> list[Step]:
    if isinstance(step, Statement):
        return list(split_large(step, building))
    around = building.axes
    building.axes = (*around, step.axis)
    body = tuple(part for each in step.body for part in _in_parts(each, building))
    building.axes = around
    return [For(step.axis, body)]


def selects(monoid: Monoid) -> bool:
    """Whether its result is one of its operands as a whole, as that of argmax."""
    conditions = set()
    for left, right, value in zip(monoid.left, monoid.right, monoid.combine, strict=True):
        match value:
            case Select(condition, Read(a, (), _), Read(b, (), _), _) if (a, b) in ((left, right), (right, left)):
                conditions.add((condition, a == left))
            case _:
                return False
    return len(conditions) == 1


def writes_once(statement: Statement) -> bool:
    """Whether instances that differ in a free index write different cells (within one turn of the loops around)."""
    axes = set(statement.indices("sequential"))
    left = set(statement.indices("free"))
    for subscript in statement.targets[0].subscripts:
        own = index_names(subscript) - axes
        if len(own) > 1 or (own and not own <= left):
            return False
        if own:
            (name,) = own
            parts = split_linear(polynomial(subscript), Index(name, INT64)) if is_plain(subscript) else None
            if parts is None or not parts[0].constant:
                return False
            left.discard(name)
    return not left


@dataclass
class _Plain:
    statement: Statement
    building: Building

    def steps(self) -> list[Step]:
        statement = self.statement
        kind = statement.reduction
        if kind is not None and has_no_instances(statement, self.building.facts):
            return self._identities() if statement.initialise else []
        conflicts = self._conflicts()
        if kind is None:
            return [statement] if not conflicts else self._ordered()
        if kind == "+":
            return [statement] if not conflicts else self._ordered()
        if conflicts or not writes_once(statement) or (isinstance(kind, Monoid) and not selects(kind)):
            return self._ordered()
        if not statement.initialise:
            return self._reduced_first()
        return self._with_values(statement)

    # --- what a statement reads of what it writes

    def _self_reads(self) -> list[Read]:
        names = {target.tensor for target in self.statement.targets}
        return [each for each in reads(*self.statement.values) if each.tensor in names]

    def _conflicts(self) -> bool:
        """Whether an instance may read what another one writes."""
        statement = self.statement
        target = statement.targets[0].subscripts
        simple = statement.reduction is None and len(statement.targets) == 1 and writes_once(statement)
        axes = set(statement.indices("sequential"))
        inside = {t.tensor for t in statement.targets} & {r.tensor for s in target for r in reads(s)}
        for each in self._self_reads():
            if simple and each.subscripts == target:
                continue
            if overlap(target, each.subscripts, statement.ranges, self.building.facts, axes):
                return True
        return bool(inside) or (statement.reduction is None and not writes_once(statement))

    # --- order as loops

    def _ordered(self) -> list[Step]:
        """A loop for every index that matters; what is left is free."""
        statement, building = self.statement, self.building
        own = tuple(r for r in statement.ranges if r.kind != "sequential")
        free = self._independent()
        loops = tuple(r.index for r in own if r.index not in free)
        around = intervals(building.axes)
        found = loop_ranges(inequalities(own), (*loops, *free), around, building.facts)
        if found is None:
            loops, found, free = tuple(r.index for r in own), list(own), ()
        known = {r.index: r for r in found}
        axes = [replace(known[x], kind="sequential") for x in loops]
        inner = tuple(replace(known[x], kind="free") for x in free)
        steps = self._identities() if statement.initialise else []
        if is_void(found, building.facts):
            return steps
        body = self._update((*building.axes, *axes, *inner))
        for axis in reversed(axes):
            body = [For(axis, tuple(body))]
        return [*steps, *body]

    def _independent(self) -> tuple[str, ...]:
        """Free indices that stand in the same place wherever a target is written or read."""
        target = self.statement.targets[0].subscripts
        others = [each.subscripts for each in self._self_reads()]
        found = []
        for name in self.statement.indices("free"):
            places = [at for at, subscript in enumerate(target) if subscript == Index(name)]
            once = sum(name in index_names(subscript) for subscript in target) == 1
            if places and once and all(each[places[0]] == Index(name) for each in others):
                found.append(name)
        return tuple(found)

    def _identities(self) -> list[Step]:
        """What `!` does, as a statement."""
        statement, building = self.statement, self.building
        assert statement.reduction is not None
        found: list[Step] = []
        for at, target in enumerate(statement.targets):
            tensor = building.tensors[target.tensor]
            value = identity(statement.reduction, at, tensor.dtype)
            if statement.initialises_all:
                names = building.indices(target.tensor)
                place, ranges = tuple(map(Index, names)), ranges_of(cells(tensor, names))
            else:
                place = target.subscripts
                ranges = tuple(r for r in statement.ranges if r.kind == "free")
            whole = (*building.axes, *ranges)
            found.append(Statement(target.tensor, (Target(target.tensor, place),), None, False, (value,), whole))
        return found

    def _update(self, ranges: tuple[Range, ...]) -> list[Step]:
        """One turn of the loops: all new values first, where there are several."""
        statement = self.statement
        old = [self.building.read(t.tensor, t.subscripts) for t in statement.targets]
        if statement.reduction is None:
            values = statement.values
        else:
            count = range(len(old))
            values = tuple(combined(statement.reduction, at, old, statement.values)[0] for at in count)
        if len(values) == 1:
            return [replace(statement, reduction=None, initialise=False, values=values, ranges=ranges)]
        return self._together(values, ranges)

    def _together(self, values: tuple[Expr, ...], ranges: tuple[Range, ...]) -> list[Step]:
        building, targets = self.building, self.statement.targets
        free = {r.index: r for r in ranges if r.kind == "free"}
        cell = tuple(map(Index, free))
        first: list[Step] = []
        then: list[Step] = []
        for target, value in zip(targets, values, strict=True):
            dtype = building.tensors[target.tensor].dtype
            name = building.make(f"{target.tensor}_next", dtype, intervals(free.values()), ranges)
            first.append(Statement(name, (Target(name, cell),), None, False, (value,), ranges))
            then.append(Statement(target.tensor, (target,), None, False, (building.read(name, cell),), ranges))
        return [*first, *then]

    # --- reductions

    def _reduced_first(self) -> list[Step]:
        """`T op= v` as `q op=! v` and `T = T op q`."""
        statement, building = self.statement, self.building
        assert statement.reduction is not None
        free = tuple(r for r in statement.ranges if r.kind == "free")
        old = [building.read(t.tensor, t.subscripts) for t in statement.targets]
        first: list[Step] = []
        new: list[Expr] = list(statement.values)
        if statement.indices("reduction"):
            cell = tuple(Index(r.index) for r in free)
            kinds = [(t.tensor, building.tensors[t.tensor].dtype) for t in statement.targets]
            names = [building.make(f"{name}_part", dtype, intervals(free)) for name, dtype in kinds]
            targets = tuple(Target(name, cell) for name in names)
            new = [building.read(name, cell) for name in names]
            first = self._with_values(replace(statement, name=names[0], targets=targets, initialise=True))
        whole = (*building.axes, *free)
        if len(old) > 1:
            count = range(len(old))
            return [*first, *self._together(tuple(combined(statement.reduction, k, old, new)[0] for k in count), whole)]
        value = combined(statement.reduction, 0, old, new)[0]
        return [*first, replace(statement, reduction=None, values=(value,), ranges=whole)]

    def _with_values(self, statement: Statement) -> list[Step]:
        """Values that are compared with the result later are stored, so that they are equal to the last bit."""
        if statement.reduction == "*":
            return [statement]
        first: list[Step] = []
        values: list[Expr] = []
        own = tuple(replace(r, kind="free") for r in statement.ranges if r.kind != "sequential")
        cell = tuple(Index(r.index) for r in own)
        for target, value in zip(statement.targets, statement.values, strict=True):
            if not value.dtype.is_float or _is_stored(value):
                values.append(value)
                continue
            name = self.building.make(f"{target.tensor}_of", value.dtype, intervals(own))
            first.append(Statement(name, (Target(name, cell),), None, False, (value,), (*self.building.axes, *own)))
            values.append(self.building.read(name, cell))
        return [*first, replace(statement, values=tuple(values))]


def _is_stored(value: Expr) -> bool:
    """Whether computing it again cannot give another number."""
    return all(isinstance(node, Read | Const | Select | Index) or not node.dtype.is_float for node in walk(value))


def same_cell(statement: Statement, node: Read) -> bool:
    """Whether a read is of the very cell that the instance writes."""
    return node.tensor == statement.targets[0].tensor and node.subscripts == statement.targets[0].subscripts


def disjoint(statement: Statement, node: Read, building: Building) -> bool:
    """Whether no instance of one turn of the loops writes the cells that are read."""
    axes = set(statement.indices("sequential"))
    return not overlap(statement.targets[0].subscripts, node.subscripts, statement.ranges, building.facts, axes)
