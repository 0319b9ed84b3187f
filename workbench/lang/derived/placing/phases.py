"""Windows that move in strides, taken apart: each phase of a cell's place meets its own places of the window only.

Where the instances `y` and `k` read the cell `s·y + d·k`, the cell's adjoint would sum over all `k`, and for most of
them there is no whole `y`.  With `k = s·a + p` the cell is `s·q + d·p` for `q = y + d·a`: for each phase `p < s` a
dense sum over `a`, in which no stride is left (as Shi et al. 2016 compute transposed convolutions).  Sums are kept by
the remainder of `d·p`, which is `p` itself where `d` is 1, and the cell `h` takes the one of `h % s` at `h / s`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import gcd

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, divide, polynomial, remainder
from workbench.lang.algebra.polynomial import ZERO, Polynomial, split_linear
from workbench.lang.derived.building import Building, box_of
from workbench.lang.derived.placing.padding import Shares
from workbench.lang.derived.placing.placement import Placement, renewed
from workbench.lang.derived.systems import holds_within, index_polynomial
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr, Index, Read
from workbench.lang.operator import Range
from workbench.lang.ranges.intervals import Interval


@dataclass
class Strided:
    """A dimension in which a window moves: its cell is `stride·start + step·place + offset`.

    `phase` is the name of the index for the remainder of `place`, once it has one.
    """

    start: str
    stride: Polynomial
    place: Range
    step: Polynomial
    offset: Polynomial
    phase: str = ""

    @property
    def first(self) -> Polynomial:
        """The cell of the window's first place if it starts at 0."""
        return self.offset + self.step * polynomial(self.place.lower)

    def of_cell(self, cell: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Under which remainder a cell's sum is kept, and where."""
        return remainder(cell - self.first, self.stride), divide(cell - self.first, self.stride)

    def kept(self, facts: Facts) -> tuple[Expr, Polynomial]:
        """Under which remainder an instance's share is kept, and where."""
        moved = self.step * index_polynomial(self.phase)
        around = {self.phase: Interval(ZERO, self.stride)}
        alone = holds_within(moved, around, facts) and holds_within(self.stride - 1 - moved, around, facts)
        below, behind = (moved, ZERO) if alone else (remainder(moved, self.stride), divide(moved, self.stride))
        return bound(below), index_polynomial(self.start) + self.step * index_polynomial(self.place.index) + behind

    def places(self) -> tuple[Range, Range]:
        """The phases, and the places of one: every `stride`-th."""
        length = polynomial(self.place.upper) - polynomial(self.place.lower)
        count = divide(length - index_polynomial(self.phase) + self.stride - 1, self.stride)
        phases = Range(self.phase, bound(ZERO), bound(self.stride), "free")
        return phases, replace(self.place, lower=bound(ZERO), upper=bound(count))

    def replacement(self) -> Expr:
        """The place by the new index and the phase."""
        place = self.stride * index_polynomial(self.place.index) + index_polynomial(self.phase)
        return bound(place + polynomial(self.place.lower))


@dataclass
class Phases:
    """A contribution by phases: `shares` go to the cells `subscripts` of a new tensor, and a cell gets `taken` of it.

    `remainders` are what stands for an index of phases where sums are kept by remainders.
    """

    tensor: str
    subscripts: tuple[Expr, ...]
    remainders: dict[int, Expr]
    shares: Shares
    ranges: tuple[Range, ...]
    phases: set[str]
    taken: Read

    def target(self, cell: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Where the sum for a cell is kept."""
        own = {each.name: at for each, at in zip(self.subscripts, cell, strict=True) if isinstance(each, Index)}
        return tuple(renewed(self.remainders[d], own) if d in self.remainders else at for d, at in enumerate(cell))


def in_phases(
    building: Building, name: str, read: Read, found: Placement, shares: Shares, ranges: tuple[Range, ...],
    left: set[str],
) -> Phases | None:  # fmt: skip
    """What a read sends to the adjoint of `name`, by phases; None where no window moves in strides."""
    if not found.is_whole or len(shares) != 1 or shares[0][0]:
        return None
    windows = _windows(found, {r.index: r for r in ranges}, left)
    if not windows:
        return None
    names = building.indices(name)
    used = {*names, *(r.index for r in (*ranges, *building.axes))}
    for d, each in windows.items():
        each.phase = building.fresh_index(f"{names[d]}_phase", used)
        used.add(each.phase)
    return _apart(building, name, read, windows, shares, ranges)


def _windows(found: Placement, ranges: dict[str, Range], left: set[str]) -> dict[int, Strided]:
    """The dimensions with a stride; none where one of them has another form."""
    windows: dict[int, Strided] = {}
    for start, (above, below) in found.solved.items():
        if below.constant == 1:
            continue
        one = _strided(found, start, above, below, ranges) if start in left else None
        if one is None:
            return {}
        (dimension,) = (d for d, cell in enumerate(found.cells) if cell in above.indices)
        windows[dimension] = one
    return windows if len({each.place.index for each in windows.values()}) == len(windows) else {}


def _strided(
    found: Placement, start: str, above: Polynomial, below: Polynomial, ranges: dict[str, Range]
) -> Strided | None:
    """`start = (cell - step·place - offset) / below`, if it has this form."""
    cells, places = [x for x in found.cells if x in above.indices], [x for x in found.rest if x in above.indices]
    if len(cells) != 1 or len(places) != 1 or places[0] not in ranges:
        return None
    parts = split_linear(index_polynomial(cells[0]) - above, Index(places[0], INT64))
    place = ranges[places[0]]
    if parts is None or parts[0].indices or parts[1].indices or place.bounding or ranges[start].bounding:
        return None
    if not _meets_every_remainder(parts[0], below):
        return None
    return Strided(start, below, place, *parts)


def _meets_every_remainder(step: Polynomial, stride: Polynomial) -> bool:
    """Whether the window reaches cells of every remainder, as far as is known: sums are kept of no others."""
    return step.constant is None or stride.constant is None or gcd(step.constant, stride.constant) == 1


def _apart(
    building: Building, name: str, read: Read, windows: dict[int, Strided], shares: Shares, ranges: Iterable[Range]
) -> Phases:
    names, spans, kept = building.indices(name), dict[str, Interval](), dict[str, Expr]()
    moved = {each.place.index: each.replacement() for each in windows.values()}
    remainders, taken = dict[str, Expr](), dict[str, Expr]()
    for d, (n, (low, extent)) in enumerate(zip(names, box_of(building.tensors[name]), strict=True)):
        if d not in windows:
            spans[n], kept[n], taken[n] = Interval(low, low + extent), renewed(read.subscripts[d], moved), Index(n)
            continue
        each = windows[d]
        first, last = each.of_cell(low)[1], each.of_cell(low + extent - 1)[1]
        remainders[each.phase], at = each.kept(building.facts)
        spans[n], kept[n] = Interval(first, last + 1), bound(at)
        taken[each.phase], taken[n] = map(bound, each.of_cell(index_polynomial(n)))
    phases = {each.phase: Interval(ZERO, each.stride) for each in windows.values()}
    kept |= {each: Index(each) for each in phases}
    order = [*names[: min(windows)], *phases, *names[min(windows) :]]
    tensor = building.make(f"d_{name}_phases", building.tensors[name].dtype, {x: (spans | phases)[x] for x in order})
    every = [each.places() for each in windows.values()]
    changed = {place.index: place for _, place in every}
    return Phases(
        tensor,
        tuple(kept[x] for x in order),
        {order.index(x): below for x, below in remainders.items() if below != Index(x)},
        [((), renewed(shares[0][1], moved))],
        (*(phase for phase, _ in every), *(changed.get(r.index, r) for r in ranges)),
        {*phases},
        building.read(tensor, [taken[x] for x in order]),
    )
