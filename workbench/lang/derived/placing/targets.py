"""What contributions add to: scatters as they stand, and targets that are cells whatever the sizes are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, extreme, is_plain, polynomial
from workbench.lang.algebra.polynomial import Polynomial, number, split_linear
from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.calculus.algebra import ZERO, both, if_then_else, plus
from workbench.lang.derived.calculus.pullback import all_of
from workbench.lang.derived.placing.padding import TRUE, Shares
from workbench.lang.derived.placing.placement import conditions
from workbench.lang.derived.systems import System, holds_within, inequalities, intervals, is_void, loop_ranges
from workbench.lang.dtypes import BOOL, INT32, INT64
from workbench.lang.expr import Binary, Cast, Expr, Index, Read, Select, Size, index_names
from workbench.lang.operator import Range
from workbench.lang.ranges.intervals import Interval, highest, lowest


@dataclass
class Contribution:
    """`target += value`, summed over `sums`; `whole`: the target is every cell of the box under its index names."""

    target: tuple[Expr, ...]
    value: Expr
    free: tuple[Range, ...]
    sums: tuple[Range, ...]
    whole: bool


@dataclass
class Targets:
    """Contributions to the adjoint of one tensor."""

    building: Building
    name: str

    def nothing(self) -> Contribution:
        """The contribution of no instance."""
        building = self.building
        names = building.indices(self.name)
        free = ranges_of(cells(building.tensors[self.name], names))
        return Contribution(tuple(map(Index, names)), ZERO, free, (), True)

    def scattered(self, read: Read, shares: Shares, ranges: tuple[Range, ...]) -> Contribution:
        """The contribution as its statement has it: every instance adds to the cell that it reads."""
        value = guarded_sum(shares, TRUE)
        own = [r for r in ranges if r.kind != "sequential"]
        target = set().union(*(index_names(each) for each in read.subscripts))
        free = tuple(r.index for r in own if r.index in target)
        rest = tuple(r.index for r in own if r.index not in target)
        around = intervals(r for r in ranges if r.kind == "sequential")
        arranged = self._arranged(read.subscripts, own, (*free, *rest), around)
        if arranged is None or _mixed(arranged, free):
            arranged, guard = self._hull(own, around)
            value = if_then_else(guard, value)
        if is_void(arranged, self.building.facts):
            return self.nothing()
        kinds = [replace(r, kind="free" if r.index in free else "reduction") for r in arranged]
        ordered = {r.index: r for r in kinds}
        found = Contribution(
            read.subscripts, value, tuple(ordered[x] for x in free), tuple(ordered[x] for x in rest), False
        )
        return self.inside(found, [all_of(own) for own, _ in shares])

    def _arranged(
        self, subscripts: tuple[Expr, ...], own: list[Range], order: tuple[str, ...], around: dict[str, Interval]
    ) -> list[Range] | None:
        """The ranges in order, without instances whose cell is none if that can be said."""
        if not own:
            return []
        system, facts = inequalities(own), self.building.facts
        limits = self._limits(subscripts, intervals(own) | around)
        narrower = loop_ranges((*system, *limits), order, around, facts) if limits else None
        return narrower or loop_ranges(system, order, around, facts)

    def _limits(self, subscripts: tuple[Expr, ...], spans: dict[str, Interval]) -> System:
        """What must hold of indices for plain subscripts to be cells, where that is not seen to hold."""
        box = box_of(self.building.tensors[self.name])
        forms = [
            form
            for subscript, (low, extent) in zip(subscripts, box, strict=True)
            if is_plain(subscript)
            for form in (polynomial(subscript) - low, low + extent - 1 - polynomial(subscript))
        ]
        facts = self.building.facts
        return tuple(form for form in forms if _is_linear(form) and not holds_within(form, spans, facts))

    def _hull(self, own: list[Range], around: dict[str, Interval]) -> tuple[list[Range], Expr]:
        """The smallest box around the ranges, and the condition that holds inside of them."""
        sign, known = self.building.facts.sign, intervals(own)
        boxes: list[Range] = []
        for each in own:
            low = lowest(known[each.index].lower, known, sign)
            high = highest(known[each.index].upper, known, sign)
            assert low is not None
            assert high is not None
            boxes.append(Range(each.index, bound(low), bound(high), each.kind))
        left = [form for form in inequalities(own) if form not in inequalities(boxes)]
        return boxes, conditions(tuple(left), self.building.facts)

    # --- cells

    def inside(self, found: Contribution, guards: list[Expr]) -> Contribution:
        """The contribution to targets that are cells also where no guard holds, and that are seen to be cells.

        Where the box may be empty nothing is added: an index has no range then.
        """
        building = self.building
        guard = reduce(lambda a, b: Binary("||", a, b, BOOL), dict.fromkeys(guards))
        spans = intervals((*building.axes, *found.free, *found.sums))
        own = {r.index for r in (*found.free, *found.sums)}
        subscripts: list[Expr] = []
        places: list[Range] = []
        most: list[Polynomial] = []
        for subscript, (low, extent) in zip(found.target, box_of(building.tensors[self.name]), strict=True):
            some = building.facts.at_least(extent, 1) or _is_void_without(extent, found, building.facts)
            if not is_plain(subscript):
                needed = guard != TRUE
                subscripts.append(_or_first(guard, subscript, low) if needed else subscript)
                most += [extent] if needed and not some else []
                continue
            kept = self._clamped(subscript, low, extent, spans)
            if kept == subscript or some:
                subscripts.append(kept)
            elif index_names(subscript) & own:
                subscripts.append(kept)
                most.append(extent)
            else:
                places.append(self._place(polynomial(subscript), (low, extent), (*found.free, *found.sums, *places)))
                subscripts.append(Index(places[-1].index))
        if is_void(places, building.facts):
            return self.nothing()
        sums = (*found.sums, *self._none_of(most, (*found.free, *found.sums, *places)))
        return replace(found, target=tuple(subscripts), free=(*found.free, *places), sums=sums)

    def _clamped(self, subscript: Expr, low: Polynomial, extent: Polynomial, spans: dict[str, Interval]) -> Expr:
        form, facts = polynomial(subscript), self.building.facts
        if not holds_within(form - low, spans, facts):
            form = extreme("max", [form, low])
        if not holds_within(low + extent - 1 - form, spans, facts):
            form = extreme("min", [form, low + extent - 1])
        return subscript if form == polynomial(subscript) else bound(form)

    def _place(self, form: Polynomial, box: tuple[Polynomial, Polynomial], beside: Iterable[Range]) -> Range:
        """An index for a place that is one for all instances: its range is that place, or empty if it is no cell."""
        low, extent = box
        lower = form if self.building.facts.at_least(form - low, 0) else extreme("max", [form, low])
        return Range(self._fresh("at", beside), bound(lower), bound(extreme("min", [form + 1, low + extent])), "free")

    def _none_of(self, extents: list[Polynomial], beside: Iterable[Range]) -> tuple[Range, ...]:
        """An index with one value, and none if an extent is 0."""
        if not extents:
            return ()
        upper = bound(extreme("min", [*extents, number(1)]))
        return (Range(self._fresh("some", beside), bound(number(0)), upper, "reduction"),)

    def _fresh(self, wanted: str, beside: Iterable[Range]) -> str:
        taken = {r.index for r in (*self.building.axes, *beside)}
        return self.building.fresh_index(wanted, taken | self.building.names.taken)


def guarded_sum(shares: Shares, guard: Expr) -> Expr:
    """The sum of guarded values."""
    result: Expr = ZERO
    for own, value in shares:
        result = plus(result, if_then_else(both(guard, all_of(own)), value))
    return result


def _or_first(guard: Expr, subscript: Expr, low: Polynomial) -> Expr:
    """The subscript where the guard holds, else that of the first cell, which may be negative."""
    wide = subscript.dtype.kind == "int" and subscript.dtype.bits >= INT32.bits
    given = subscript if wide else Cast(subscript, INT32)
    return Select(guard, given, bound(low), given.dtype)


def _is_void_without(extent: Polynomial, found: Contribution, facts: Facts) -> bool:
    """Whether there are no instances where the extent, which is a size, is 0."""
    size = extent.only_atom()
    if not isinstance(size, Size):
        return False
    lengths = (polynomial(r.upper) - polynomial(r.lower) for r in (*found.free, *found.sums))
    left = (Polynomial({m: x for m, x in length.terms if size not in m}) for length in lengths)
    return any(facts.at_least(-each, 0) for each in left)


def _is_linear(form: Polynomial) -> bool:
    """Whether it is linear in its indices, of which it has some."""
    parts = [split_linear(form, Index(name, INT64)) for name in form.indices]
    return bool(parts) and None not in parts


def _mixed(ranges: list[Range], free: tuple[str, ...]) -> bool:
    """Whether a free index depends on one that is summed over."""
    return any(r.bounding - set(free) and r.index in free for r in ranges)
