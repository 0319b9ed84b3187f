"""Adjoints of tensors: as contributions until somebody asks for them, then as tensors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import reduce

from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.calculus.algebra import ZERO, plus
from workbench.lang.derived.placing.contributions import Contribution, Contributions, Vanishes
from workbench.lang.derived.systems import intervals
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Const, Expr, Index, Read
from workbench.lang.ranges.intervals import Interval


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
class Adjoints:
    """What is known of the adjoints at one point of the sweep.

    `pending` are contributions to adjoints that nobody asked for; `fixed` the tensors in which a loop keeps them;
    `local` those that every iteration begins anew, None until its first contribution.  `names` are all tensors that
    hold an adjoint.
    """

    building: Building
    vanishes: Vanishes
    pending: dict[str, list[Contribution]] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    local: dict[str, str | None] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.contributions = Contributions(self.building, self.vanishes)

    def seed(self, name: str, value: Read) -> None:
        """The adjoint of a result, cell by cell."""
        self.pend(name, value)

    def pend(self, name: str, value: Expr) -> None:
        building = self.building
        names = building.indices(name)
        free = ranges_of(cells(building.tensors[name], names))
        whole = Contribution(tuple(map(Index, names)), value, free, (), True)
        self.pending.setdefault(name, []).append(whole)

    def settled(self, name: str) -> Reference | None:
        """The adjoint of a tensor, written if it was not; None where nothing depends on it."""
        found = self.pending.pop(name, [])
        if not found:
            return None
        alias = self.alias(found)
        if alias is not None:
            return alias
        new = self.fresh(name)
        self.write(new, found)
        return self.whole(new)

    def fresh(self, name: str) -> str:
        new = self.building.like(f"d_{name}", name)
        self.names.add(new)
        return new

    def whole(self, new: str) -> Reference:
        return Reference(new, (polynomial(Const(0, INT32)),) * self.building.tensors[new].rank)

    def alias(self, found: list[Contribution]) -> Reference | None:
        """The adjoint that the contributions only repeat."""
        match found:
            case [Contribution(_, Read(tensor, subscripts, _), free, (), True)] if tensor in self.names:
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
        """Contributions to single places of one dimension that fill it: each is set, nothing is cleared before."""
        building = self.building
        extents = [extent.constant for _, extent in box_of(building.tensors[new])]
        for dimension, extent in enumerate(extents):
            planes: dict[int, list[Contribution]] = {}
            for each in found:
                place = polynomial(each.target[dimension]).constant if not each.sums and not each.whole else None
                if place is None or not self._fills_plane(new, dimension, each):
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

    def _fills_plane(self, new: str, dimension: int, each: Contribution) -> bool:
        """Whether a contribution goes to all cells of one place of a dimension, each under indices of its own."""
        own = intervals(each.free)
        box = box_of(self.building.tensors[new])
        for at, (subscript, (low, extent)) in enumerate(zip(each.target, box, strict=True)):
            if at == dimension:
                continue
            if not isinstance(subscript, Index) or own.pop(subscript.name, None) != Interval(low, low + extent):
                return False
        return not own

    def add(self, name: str, each: Contribution) -> None:
        """A contribution inside a loop: at once, in place."""
        building = self.building
        self.contributions.known.clear()
        known = self.local.get(name) if name in self.local else self.fixed[name]
        if known is None:
            known = self.local[name] = self.fresh(name)
            if each.whole:
                self.write(known, [each])
                return
            building.fill(known, ZERO)
        ranges = (*each.free, *each.sums)
        if each.sums or not each.whole:
            building.assign(known, each.target, each.value, ranges, "+")
        else:
            building.assign(known, each.target, plus(building.read(known, each.target), each.value), ranges)
