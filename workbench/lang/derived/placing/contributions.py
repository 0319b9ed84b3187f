"""Contributions to adjoints: each is placed, its sum taken apart, and written down so that nothing is computed twice.

A sum over indices becomes a statement of its own over the indices that its terms have; factors that do not vary
with the summed indices are multiplied afterwards.  A window that moves in strides is taken apart; where a
border lets only some instances contribute, what is summed is first copied with zeros around.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from workbench.lang.algebra.normal_form import bound, is_plain, polynomial
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.calculus.algebra import both, if_then_else
from workbench.lang.derived.calculus.products import Product, grouped_divisors, invariants, is_costly, product
from workbench.lang.derived.calculus.pullback import Guard, all_of
from workbench.lang.derived.placing.padding import TRUE, Padding, Shares
from workbench.lang.derived.placing.phases import in_phases
from workbench.lang.derived.placing.placement import Placement, conditions, placed_indices, renewed, substituted
from workbench.lang.derived.placing.targets import Contribution, Targets, guarded_sum
from workbench.lang.derived.systems import (
    System,
    compares_indices,
    eliminated,
    holds_within,
    inequalities,
    intervals,
    is_nonempty,
    is_void,
    loop_ranges,
    needed,
    simplified,
)
from workbench.lang.dtypes import FLOAT64
from workbench.lang.expr import Expr, Index, Read, index_names, transform, walk
from workbench.lang.operator import Range
from workbench.lang.ranges.intervals import Interval

Vanishes = Callable[[Expr, tuple[Range, ...]], bool]


class Contributions:
    """Turns the derivative of one read into contributions, and writes what they need before.

    `vanishes` says of a value and ranges whether its sum is 0.
    """

    def __init__(self, building: Building, vanishes: Vanishes) -> None:
        self.building, self.vanishes = building, vanishes
        self.known: dict[object, Read] = {}
        self.targets, self.dtype = Targets(building, ""), FLOAT64

    def of(self, name: str, read: Read, shares: Shares, ranges: tuple[Range, ...], left: set[str]) -> Contribution:
        """What the read of a cell sends to the adjoint `name`; `left` are the indices of the statement's target."""
        building = self.building
        self.targets, self.dtype = Targets(building, name), building.tensors[name].dtype
        box = box_of(building.tensors[name])
        places = [f"cell@{d}" for d in range(len(box))]
        found = placed_indices(read.subscripts, ranges, box, places, left, building.facts, _elsewhere(read, shares))
        if found is None:
            return self.targets.scattered(read, shares, ranges)
        before, shares = shares, self._without_certain(found, shares)
        apart = self._in_phases(name, Read(name, read.subscripts, read.dtype), found, shares, ranges, left)
        if apart is not None:
            return apart
        shares, found, guard = Padding(building, self.known, self.dtype).without_holes(found, shares, ranges, left)
        renaming = self._renaming(name, found)
        new = _Turned(found, renaming)
        values = [(tuple(map(new.expr, conditions)), new.expr(value)) for conditions, value in shares]
        guard = renewed(guard, new.renaming)
        spans = {renaming[cell]: each for cell, each in found.cells.items()}
        values = [(needed(conditions, spans, building.facts), value) for conditions, value in values]
        free = ranges_of({renaming[cell]: each for cell, each in found.cells.items()})
        target = tuple(renewed(each, new.renaming) for each in found.subscripts)
        return self._summed(new, target, values, guard, free) or self.targets.scattered(read, before, ranges)

    def _without_certain(self, found: Placement, shares: Shares) -> Shares:
        """The shares without conditions that hold for every cell, as that its place is one."""

        def left(own: Guard) -> Guard:
            turned = partial(substituted, solved=found.solved)
            known = (simplified(each, found.cells, self.building.facts, turned) for each in own)
            return tuple(each for each in known if each != TRUE)

        return [(left(own), value) for own, value in shares]

    def _in_phases(
        self, name: str, read: Read, found: Placement, shares: Shares, ranges: tuple[Range, ...], left: set[str]
    ) -> Contribution | None:
        """What a window that moves in strides sends, from a tensor of sums by phases; None if it is no such window."""
        building, known, steps = self.building, dict(self.known), list(self.building.steps)
        apart = in_phases(building, name, read, found, shares, ranges, left)
        if apart is None:
            return None
        sent = building.read(apart.tensor, apart.subscripts)
        part = self.of(apart.tensor, sent, apart.shares, apart.ranges, left | apart.phases)
        self.targets, self.dtype = Targets(building, name), building.tensors[name].dtype
        if not part.whole:
            self.known, building.steps = known, steps
            del building.tensors[apart.tensor]
            return None
        every = (*part.free, *part.sums)
        value = self.hoisted(part.value, every)
        added = "+" if part.sums or apart.remainders else None
        building.assign(apart.tensor, apart.target(part.target), value, every, added, initialise=bool(added))
        free = ranges_of(cells(building.tensors[name], building.indices(name)))
        return Contribution(tuple(Index(r.index) for r in free), apart.taken, free, (), True)

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
        summed = loop_ranges(inner, rest, around, building.facts) if rest else []
        if summed is None:  # the ranges of the hidden indices bound nothing: they become a condition
            easier = tuple(new.form(form) for form in found.easier)
            forms = tuple(form for form in easier if form.indices & set(rest))
            summed = loop_ranges(forms, rest, around, building.facts)
            guard = both(guard, conditions(inner, building.facts))
        if summed is None:
            return None
        order = tuple(r.index for r in free)
        limited = bool(rest) or not found.is_whole
        part = loop_ranges((*outer, *inequalities(free)), order, around, building.facts) if outer and limited else None
        if part is None and outer and not found.is_whole:
            return None
        if part is None or (guard != TRUE and found.is_whole):
            part, guard = list(free), both(guard, conditions(outer, building.facts))
            outer = ()
        some = tuple(replace(r, kind="free") for r in part)
        if is_void((*some, *summed), building.facts):
            return self.targets.nothing()
        if len(values) == 1 and found.is_whole:
            inside = conditions(outer, building.facts)
            return self._pulled(target, values[0], guard, (free, some, inside), tuple(summed))
        whole = Contribution(target, guarded_sum(values, guard), some, tuple(summed), found.is_whole and not outer)
        return whole if found.is_whole else self.targets.inside(whole, [both(guard, all_of(x)) for x, _ in values])

    def _pulled(
        self, target: tuple[Expr, ...], share: tuple[Guard, Expr], guard: Expr,
        reached: tuple[tuple[Range, ...], tuple[Range, ...], Expr], sums: tuple[Range, ...],
    ) -> Contribution:  # fmt: skip
        """Factors that do not vary with the sum stand outside; the sum has the indices of its terms only.

        `reached` are the ranges of all cells, of those that get something, and the condition for it.
        """
        (own, value), (free, some, inside_some) = share, reached
        condition = both(guard, all_of(own))
        if not sums:
            return Contribution(target, if_then_else(condition, value), free, (), True)
        summed = {r.index for r in sums}
        factors = product(value)
        inside, outside = factors.parts(lambda each: bool(index_names(each) & summed))
        if any(map(self._may_be_infinite, outside.above)) and not is_nonempty(sums, self.building.facts):
            inside, outside = factors, Product((), ())
        stays = bool(index_names(condition) & summed)
        reached_by = self._reach((outside.expr(), TRUE if stays else condition), some, sums)
        within_sum, after = condition, TRUE
        if stays:
            if compares_indices(condition) or outside.below or any(map(is_costly, outside.above)):
                reached_by = None  # factors may be no cells, or no numbers, elsewhere
        elif compares_indices(condition):
            after = condition
        else:
            within_sum, after = TRUE, condition
        if reached_by is None:
            inside, outside, within_sum, after = factors, Product((), ()), condition, TRUE
        if within_sum == TRUE and self.vanishes(inside.expr(), sums):
            return self.targets.nothing()
        used = index_names(inside.expr()) | index_names(within_sum)
        used |= {name for r in sums for name in r.bounding}
        if outside.is_trivial and within_sum == condition and {r.index for r in free} <= used:
            return Contribution(target, if_then_else(within_sum, inside.expr()), some, sums, inside_some == TRUE)
        whole = self._sum_of(inside.expr(), within_sum, some, sums)
        joined = Product((whole, *outside.above), outside.below).expr()
        there = both(both(inside_some, reached_by or TRUE), after)
        return Contribution(target, if_then_else(there, joined), free, (), True)

    def _may_be_infinite(self, factor: Expr) -> bool:
        """Whether it reads an extremum, which is infinite where there is nothing: times a sum of nothing, no number."""
        return any(isinstance(node, Read) and base(node) in self.building.extrema for node in walk(factor))

    def _reach(self, outside: tuple[Expr, ...], some: tuple[Range, ...], sums: tuple[Range, ...]) -> Expr | None:
        """When a sum has terms, where what stands outside may be no cells otherwise; None if that is not found."""
        building = self.building
        spans = intervals((*building.axes, *some))
        if all(self._is_cell(node, spans) for each in outside for node in walk(each) if isinstance(node, Read)):
            return TRUE
        system: System | None = inequalities(sums)
        for r in reversed(sums):
            system = eliminated(system, r.index, building.facts) if system is not None else None
        if system is None:
            return None
        known = inequalities(some)
        left = (form for form in system if form.indices and form not in known)
        return conditions(tuple(form for form in left if not holds_within(form, spans, building.facts)), building.facts)

    def _is_cell(self, read: Read, spans: dict[str, Interval]) -> bool:
        box, facts = box_of(self.building.tensors[base(read)]), self.building.facts
        return all(
            is_plain(each)
            and holds_within(polynomial(each) - low, spans, facts)
            and holds_within(low + extent - 1 - polynomial(each), spans, facts)
            for each, (low, extent) in zip(read.subscripts, box, strict=True)
        )

    def _sum_of(self, value: Expr, condition: Expr, free: tuple[Range, ...], sums: tuple[Range, ...]) -> Read:
        """A statement that sums; the same sum is written once."""
        building = self.building
        used = index_names(value) | index_names(condition) | {name for r in sums for name in r.bounding}
        for r in reversed(free):
            used |= r.bounding if r.index in used else set()
        kept = tuple(r for r in free if r.index in used)
        key = ("sum", value, condition, kept, sums)
        if key not in self.known:
            value = self.hoisted(if_then_else(condition, value), (*kept, *sums))
            name = building.make("sum", self.dtype, intervals(kept))
            building.assign(name, [Index(r.index) for r in kept], value, (*kept, *sums), "+", initialise=True)
            self.known[key] = building.read_named(name, [r.index for r in kept])
        return self.known[key]

    def hoisted(self, value: Expr, ranges: Iterable[Range]) -> Expr:
        """The value with costly parts that vary with some of the indices only taken from statements of their own."""
        own = {r.index: replace(r, kind="free", derivation="") for r in ranges}
        parts: dict[Expr, Expr] = {}
        value = grouped_divisors(value, set(own), lambda part: self._taken(part, own) or part)
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


def base(read: Read) -> str:
    """The tensor of which a read wants some version."""
    return read.tensor.partition("@")[0]


class _Turned:
    """Old indices to new ones with their final names."""

    def __init__(self, found: Placement, names: dict[str, str]) -> None:
        self.found, self.names = found, names
        self.renaming: dict[str, Expr] = {old: Index(new) for old, new in names.items()}

    def expr(self, expr: Expr) -> Expr:
        return renewed(self.found.rewritten(expr), self.renaming)

    def form(self, form: Polynomial) -> Polynomial:
        return polynomial(renewed(bound(form), self.renaming))


def _elsewhere(read: Read, shares: Shares) -> set[str]:
    """Indices of what is sent, but for those in the very subscripts of the cell to which it goes."""

    def hidden(node: Expr) -> Expr:
        same = isinstance(node, Read) and node.subscripts == read.subscripts
        return Read(read.tensor, (), node.dtype) if same else node

    return {name for own, value in shares for each in (*own, value) for name in index_names(transform(each, hidden))}
