"""Sums whose terms are not all there: what they take comes from a copy with zeros in between and around."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.algebra.polynomial import number
from workbench.lang.derived.building import Building
from workbench.lang.derived.calculus.algebra import both, if_then_else
from workbench.lang.derived.calculus.products import Product, product
from workbench.lang.derived.calculus.pullback import Guard
from workbench.lang.derived.placing.placement import (
    Placement,
    conditions,
    divisible,
    renewed,
    solved_index,
    substituted,
)
from workbench.lang.derived.systems import holds_within, inequalities, intervals
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Const, Expr, Index, Read, index_names, walk
from workbench.lang.operator import Range
from workbench.lang.ranges.intervals import Interval, highest, lowest

Shares = list[tuple[Guard, Expr]]
TRUE = Const(True, BOOL)


@dataclass
class Padding:
    """Copies that are written so far stand in `known`."""

    building: Building
    known: dict[object, Read]
    dtype: DType

    def without_holes(
        self, found: Placement, shares: Shares, ranges: tuple[Range, ...], left: set[str]
    ) -> tuple[Shares, Placement, Expr]:
        """The shares over a padded copy where that rids the sum of its conditions; else the conditions.

        A sum over positions of windows (the indices on the left) has few terms: its ranges are better than zeros.
        """
        positions = any({*found.solved[name][0].indices} & {*found.rest} & left for name in found.hidden - left)
        if found.rest and found.hidden and found.system != found.easier and not positions:
            padded = self._padded(found, shares, ranges)
            if padded is not None:
                found.system = found.easier
                return padded, found, TRUE
        return shares, found, divisible(found.solved)

    def _padded(self, found: Placement, shares: Shares, ranges: tuple[Range, ...]) -> Shares | None:
        """Every factor that has a hidden index comes from a copy that is 0 where no instance is."""
        if len(shares) != 1 or shares[0][0]:
            return None
        hidden = found.hidden
        senders, others = product(shares[0][1]).parts(lambda each: bool(index_names(each) & hidden))
        names = list(dict.fromkeys(n.name for n in walk(senders.expr()) if isinstance(n, Index)))
        partners = {x for name in hidden for x in found.solved[name][0].indices} & set(found.rest)
        kinds = {r.index: r for r in ranges}
        axes = {r.index for r in ranges if r.kind == "sequential"}
        if senders.is_trivial or partners & set(names) or not hidden <= set(names):
            return None
        copied = self._copy(found, senders, [name for name in names if name not in axes], kinds)
        if copied is None:
            return None
        return [((), Product((copied, *others.above), others.below).expr())]

    def _copy(self, found: Placement, senders: Product, names: list[str], kinds: dict[str, Range]) -> Read | None:
        """The copy, read at the numerators of its hidden indices; it is written here."""
        building, hidden = self.building, found.hidden
        own = intervals(kinds.values())
        rests = {**own, **found.around, **found.added}
        box: dict[str, Interval] = {}
        for name in names:
            if name not in hidden:
                box[name] = own.get(name) or found.added[name]
                if box[name].indices:
                    return None
                continue
            above = found.solved[name][0]
            low, high = lowest(above, rests, building.facts.sign), highest(above, rests, building.facts.sign)
            if low is None or high is None or low.indices or high.indices:
                return None
            box[name] = Interval(low, high + 1)
        sender = self._guarded_sender(found, senders, box, kinds)
        if sender is None:
            return None
        guard, value = sender
        key = ("copy", value, guard, tuple(box.items()))
        if key not in self.known:
            of = next((node.tensor for node in walk(senders.expr()) if isinstance(node, Read)), "copy")
            name = building.make(f"{of.partition('@')[0]}_padded", self.dtype, box)
            building.fill(name, if_then_else(guard, value), tuple(box))
            self.known[key] = building.read_named(name, box)
        copy = self.known[key]
        for name in hidden:  # the copy has a cell for every numerator
            found.solved[name] = (found.solved[name][0], number(1))
        return copy

    def _guarded_sender(
        self, found: Placement, senders: Product, box: dict[str, Interval], kinds: dict[str, Range]
    ) -> tuple[Expr, Expr] | None:
        """When a cell of the copy holds something, and what; None if that depends on more than the cell."""
        own = {name: (polynomial(Index(name)), found.solved[name][1]) for name in sorted(found.hidden)}
        forms = [substituted(form, own) for form in inequalities(kinds[name] for name in sorted(found.hidden))]
        facts = self.building.facts
        left = tuple(form for form in forms if form is not None and not holds_within(form, box, facts))
        if None in forms or any(not form.indices <= box.keys() for form in left):
            return None
        guard = both(divisible(own), conditions(left, facts))
        return guard, renewed(senders.expr(), {name: solved_index(*pair) for name, pair in own.items()})
