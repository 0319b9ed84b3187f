"""Contributions to adjoints: each is placed, its sum taken apart, and written down so that nothing is computed twice.

A sum over indices becomes a statement of its own over the indices that its terms have; factors that do not vary
with the summed indices are multiplied afterwards.  Where a stride or a border lets only some instances contribute,
what is summed is first copied with zeros in between and around, so that the sum itself has no condition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce

from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.calculus.algebra import ZERO, both, choose, plus
from workbench.lang.derived.calculus.products import Product, grouped, invariants, is_costly, product
from workbench.lang.derived.calculus.pullback import Guard, conjunction
from workbench.lang.derived.placing.padding import TRUE, Padding, Shares
from workbench.lang.derived.placing.placement import (
    Placement,
    conditions,
    placed,
    renewed,
)
from workbench.lang.derived.placing.systems import in_order, inequalities, intervals, is_void, simplified, within
from workbench.lang.dtypes import BOOL, FLOAT64
from workbench.lang.expr import Binary, Expr, Index, Read, Select, children, index_names, transform
from workbench.lang.facts import Facts
from workbench.lang.intervals import Interval, highest, lowest
from workbench.lang.normal_form import bound, extreme, is_plain, polynomial
from workbench.lang.operator import Range
from workbench.lang.polynomial import Polynomial


@dataclass
class Contribution:
    """`target += value`, summed over `sums`; `whole`: the target is every cell of the box under its index names."""

    target: tuple[Expr, ...]
    value: Expr
    free: tuple[Range, ...]
    sums: tuple[Range, ...]
    whole: bool


class Contributions:
    """Turns the derivative of one read into contributions, and writes what they need before."""

    def __init__(self, building: Building) -> None:
        self.building = building
        self.known: dict[object, Read] = {}
        self.name, self.dtype = "", FLOAT64

    def of(self, name: str, read: Read, shares: Shares, ranges: tuple[Range, ...], left: set[str]) -> Contribution:
        """What the read of a cell sends to the adjoint `name`; `left` are the indices of the statement's target."""
        building = self.building
        self.name, self.dtype = name, building.tensors[name].dtype
        box = box_of(building.tensors[name])
        places = [f"cell@{d}" for d in range(len(box))]
        found = placed(read.subscripts, ranges, box, places, left, building.facts)
        if found is None:
            return self._scattered(read, shares, ranges)
        before = shares
        shares, found, guard = Padding(building, self.known, self.dtype).without_holes(found, shares, ranges)
        renaming = self._renaming(name, found)
        new = _Turned(found, renaming)
        values = [(tuple(map(new.expr, conditions)), new.expr(value)) for conditions, value in shares]
        guard = renewed(guard, new.renaming)
        spans = {renaming[cell]: each for cell, each in found.cells.items()}
        values = [(_needed(conditions, spans, building.facts), value) for conditions, value in values]
        free = ranges_of({renaming[cell]: each for cell, each in found.cells.items()})
        target = tuple(renewed(each, new.renaming) for each in found.subscripts)
        return self._summed(new, target, values, guard, free) or self._scattered(read, before, ranges)

    # --- scatters

    def _scattered(self, read: Read, shares: Shares, ranges: tuple[Range, ...]) -> Contribution:
        value = _value(shares, TRUE)
        own = [r for r in ranges if r.kind != "sequential"]
        target = set().union(*(index_names(each) for each in read.subscripts))
        free = tuple(r.index for r in own if r.index in target)
        rest = tuple(r.index for r in own if r.index not in target)
        around = intervals(r for r in ranges if r.kind == "sequential")
        system = inequalities(own)
        arranged = in_order(system, (*free, *rest), around, self.building.facts) if own else []
        if arranged is None or _mixed(arranged, free):
            arranged, guard = self._hull(own, around)
            value = choose(guard, value)
        if is_void(arranged, self.building.facts):
            return self._nothing()
        kinds = [replace(r, kind="free" if r.index in free else "reduction") for r in arranged]
        ordered = {r.index: r for r in kinds}
        subscripts = self._inside(read.subscripts, [conjunction(own) for own, _ in shares], kinds)
        return Contribution(
            subscripts, value, tuple(ordered[x] for x in free), tuple(ordered[x] for x in rest), False
        )

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

    # --- sums

    def _renaming(self, name: str, found: Placement) -> dict[str, str]:
        """Final names of the new indices: those of the tensor's dimensions, and others beside them."""
        building = self.building
        final = building.indices(name)
        renaming = {f"cell@{d}": each for d, each in enumerate(final)}
        taken = {*final, *(axis.index for axis in building.axes)}
        for each in found.rest:
            renaming[each] = building.fresh_index(each.replace("@", ""), taken)
            taken.add(renaming[each])
        return renaming

    def _summed(
        self, new: _Turned, target: tuple[Expr, ...], values: Shares, guard: Expr, free: tuple[Range, ...]
    ) -> Contribution | None:
        building, found = self.building, new.found
        system = tuple(new.form(form) for form in found.system)
        rest = tuple(new.names[each] for each in found.rest)
        around = {
            new.names.get(name, name): Interval(new.form(each.lower), new.form(each.upper))
            for name, each in found.around.items()
            if name not in found.rest
        }
        outer = tuple(form for form in system if not form.indices & set(rest))
        inner = tuple(form for form in system if form.indices & set(rest))
        summed = in_order(inner, rest, around, building.facts) if rest else []
        if summed is None:  # the ranges of the hidden indices bound nothing: they become a condition
            easier = tuple(new.form(form) for form in found.easier)
            summed = in_order(tuple(form for form in easier if form.indices & set(rest)), rest, around, building.facts)
            guard = both(guard, conditions(inner, building.facts))
        if summed is None:
            return None
        order = tuple(r.index for r in free)
        limited = bool(rest) or not found.is_whole
        part = in_order((*outer, *inequalities(free)), order, around, building.facts) if outer and limited else None
        if part is None and outer and not found.is_whole:
            return None
        if part is None or (guard != TRUE and found.is_whole):
            part, guard = list(free), both(guard, conditions(outer, building.facts))
            outer = ()
        some = tuple(replace(r, kind="free") for r in part)
        if is_void((*some, *summed), building.facts):
            return self._nothing()
        if len(values) == 1 and found.is_whole:
            inside = conditions(outer, building.facts)
            return self._pulled(target, values[0], guard, (free, some, inside), tuple(summed))
        if not found.is_whole:
            target = self._inside(target, [both(guard, conjunction(own)) for own, _ in values], (*some, *summed))
        return Contribution(target, _value(values, guard), some, tuple(summed), found.is_whole and not outer)

    def _nothing(self) -> Contribution:
        building = self.building
        names = building.indices(self.name)
        free = ranges_of(cells(building.tensors[self.name], names))
        return Contribution(tuple(map(Index, names)), ZERO, free, (), True)

    def _inside(self, target: tuple[Expr, ...], guards: list[Expr], ranges: Iterable[Range]) -> tuple[Expr, ...]:
        """Subscripts that are cells also where no guard holds, and nothing is added, and that are seen to be cells."""
        building = self.building
        guard = reduce(lambda a, b: Binary("||", a, b, BOOL), dict.fromkeys(guards))
        spans = intervals((*building.axes, *ranges))
        found = []
        for subscript, (low, extent) in zip(target, box_of(building.tensors[self.name]), strict=True):
            if not is_plain(subscript):
                found.append(subscript if guard == TRUE else Select(guard, subscript, bound(low), subscript.dtype))
                continue
            form = polynomial(subscript)
            if not within(form - low, spans, building.facts):
                form = extreme("max", [form, low])
            if not within(low + extent - 1 - form, spans, building.facts):
                form = extreme("min", [form, low + extent - 1])
            found.append(subscript if form == polynomial(subscript) else bound(form))
        return tuple(found)

    def _pulled(
        self, target: tuple[Expr, ...], share: tuple[Guard, Expr], guard: Expr,
        reached: tuple[tuple[Range, ...], tuple[Range, ...], Expr], sums: tuple[Range, ...],
    ) -> Contribution:  # fmt: skip
        """Factors that do not vary with the sum stand outside; the sum has the indices of its terms only.

        `reached` are the ranges of all cells, of those that get something, and the condition for it.
        """
        (own, value), (free, some, inside_some) = share, reached
        condition = both(guard, conjunction(own))
        if not sums:
            return Contribution(target, choose(condition, value), free, (), True)
        summed = {r.index for r in sums}
        factors = product(value)
        inside, outside = factors.parts(lambda each: bool(index_names(each) & summed))
        within_sum, after = condition, TRUE
        if condition != TRUE and index_names(condition) & summed:
            if _compares_indices(condition) or outside.below or any(map(is_costly, outside.above)):
                inside, outside = factors, Product((), ())  # they may be no cells, or no numbers, elsewhere
        elif _compares_indices(condition):
            after = condition
        else:
            within_sum, after = TRUE, condition
        used = index_names(inside.expr()) | index_names(within_sum)
        used |= {name for r in sums for name in r.bounding}
        if outside.is_trivial and within_sum == condition and {r.index for r in free} <= used:
            return Contribution(target, choose(within_sum, inside.expr()), some, sums, inside_some == TRUE)
        total = self._sum_of(inside.expr(), within_sum, some, sums)
        joined = Product((total, *outside.above), outside.below).expr()
        return Contribution(target, choose(both(inside_some, after), joined), free, (), True)

    def _sum_of(self, value: Expr, condition: Expr, free: tuple[Range, ...], sums: tuple[Range, ...]) -> Read:
        """A statement that sums; the same sum is written once."""
        building = self.building
        used = index_names(value) | index_names(condition) | {name for r in sums for name in r.bounding}
        for r in reversed(free):
            used |= r.bounding if r.index in used else set()
        kept = tuple(r for r in free if r.index in used)
        key = ("sum", value, condition, kept, sums)
        if key not in self.known:
            value = self.hoisted(choose(condition, value), (*kept, *sums))
            name = building.make("sum", self.dtype, intervals(kept))
            building.assign(name, [Index(r.index) for r in kept], value, (*kept, *sums), "+", initialise=True)
            self.known[key] = building.read_named(name, [r.index for r in kept])
        return self.known[key]

    def hoisted(self, value: Expr, ranges: Iterable[Range]) -> Expr:
        """The value with costly parts that vary with some of the indices only taken from statements of their own."""
        own = {r.index: replace(r, kind="free", derivation="") for r in ranges}
        parts: dict[Expr, Expr] = {}
        value = grouped(value, set(own), lambda part: self._taken(part, own) or part)
        for part in invariants(value, set(own)):
            taken = self._taken(part, own)
            if taken is not None:
                parts[part] = taken
        return transform(value, lambda node: parts.get(node, node)) if parts else value

    def _taken(self, part: Expr, own: dict[str, Range]) -> Read | None:
        """A part as the cell of a tensor that is computed before; None where its indices depend on others."""
        needed = tuple(own[name] for name in own if name in index_names(part))
        if any(r.bounding & own.keys() for r in needed):
            return None
        key = ("part", part, needed)
        if key not in self.known:
            name = self.building.make("factor", part.dtype, intervals(needed))
            self.building.assign(name, [Index(r.index) for r in needed], part, needed)
            self.known[key] = self.building.read_named(name, [r.index for r in needed])
        return self.known[key]


class _Turned:
    """Old indices to new ones with their final names."""

    def __init__(self, found: Placement, names: dict[str, str]) -> None:
        self.found, self.names = found, names
        self.renaming: dict[str, Expr] = {old: Index(new) for old, new in names.items()}

    def expr(self, expr: Expr) -> Expr:
        return renewed(self.found.rewritten(expr), self.renaming)

    def form(self, form: Polynomial) -> Polynomial:
        return polynomial(renewed(bound(form), self.renaming))


def _needed(guard: Guard, ranges: dict[str, Interval], facts: Facts) -> Guard:
    """The conditions without what holds for all cells."""
    found = (simplified(each, ranges, facts) for each in guard)
    return tuple(each for each in found if each != TRUE)


def _value(shares: Shares, guard: Expr) -> Expr:
    total: Expr = ZERO
    for own, value in shares:
        total = plus(total, choose(both(guard, conjunction(own)), value))
    return total


def _compares_indices(condition: Expr) -> bool:
    """Whether a condition says something of indices."""
    return any(isinstance(node, Index) for node in _outside_reads(condition))


def _outside_reads(expr: Expr) -> list[Expr]:
    if isinstance(expr, Read):
        return []
    return [expr, *(node for child in children(expr) for node in _outside_reads(child))]


def _mixed(ranges: list[Range], free: tuple[str, ...]) -> bool:
    """Whether a free index depends on one that is summed over."""
    return any(r.bounding - set(free) and r.index in free for r in ranges)
