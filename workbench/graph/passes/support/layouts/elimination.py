"""The least sum of costs that each depend on few choices, found by eliminating one choice after the other.

That is dynamic programming along an order of the choices (bucket elimination, Dechter 1999): exact, and fast where
networks are long rather than wide.  Beside the least sum it finds the second least, so one knows whether there is
another solution as good.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from workbench.records import record

MOST_ENTRIES = 1 << 15
"""Of one table: wider networks are left to others."""

Array = np.ndarray


@record(eq=False)
class Table:
    """The cost of each combination of some choices, and of the next best way to get there."""

    choices: tuple[Hashable, ...]
    best: Array
    second: Array


@record(eq=False)
class Least:
    """What is chosen, by number, the sum of its costs, and by how much the second best costs more."""

    chosen: Mapping[Hashable, int]
    cost: float
    gap: float


def table(choices: Sequence[Hashable], costs: Array) -> Table:
    """Costs that depend on these choices, one axis each; infinite ones are forbidden."""
    return Table(tuple(choices), costs, np.full(costs.shape, np.inf))


def least(tables: Iterable[Table]) -> Least | None:
    """The least sum of one entry of each table; None where a table would be too large, or nothing is allowed.

    >>> costs = [table("a", np.array([3.0, 1.0])), table("ab", np.array([[0.0, 5.0], [4.0, 4.0]]))]
    >>> found = least(costs)
    >>> dict(found.chosen), found.cost, found.gap
    ({'b': 0, 'a': 0}, 3.0, 2.0)
    """
    waiting, decided = _Waiting(tables), []
    cost, gap = 0.0, np.inf
    while waiting.tables:
        choice = waiting.next()
        joined = _joined(waiting.without(choice), choice)
        if joined is None:
            return None
        left, argument = _without_last(joined)
        decided.append((choice, left.choices, argument))
        if left.choices:
            waiting.add(left)
        elif not np.isfinite(left.best):
            return None
        else:
            cost, gap = cost + float(left.best), min(gap, float(left.second - left.best))
    return Least(_chosen(decided), cost, gap)


class _Waiting:
    """The tables that are left, by choice, and the choices by how many others stand in their tables."""

    def __init__(self, tables: Iterable[Table]) -> None:
        self.tables: dict[Hashable, list[Table]] = {}
        self.place: dict[Hashable, int] = {}
        for each in tables:
            for choice in each.choices:
                self.tables.setdefault(choice, []).append(each)
                self.place.setdefault(choice, len(self.place))
        self.heap = [self._entry(choice) for choice in self.tables]
        heapify(self.heap)

    def _entry(self, choice: Hashable) -> tuple[int, int, Hashable]:
        return len({other for each in self.tables[choice] for other in each.choices}), self.place[choice], choice

    def next(self) -> Hashable:
        """The choice whose tables have the fewest others."""
        while True:
            entry = heappop(self.heap)
            if entry[2] in self.tables and self._entry(entry[2]) == entry:
                return entry[2]

    def without(self, choice: Hashable) -> list[Table]:
        """The tables of a choice, which are then no longer there."""
        own = self.tables.pop(choice)
        for other in {c for each in own for c in each.choices} - {choice}:
            self.tables[other] = [each for each in self.tables[other] if choice not in each.choices]
        return own

    def add(self, table: Table) -> None:
        """One more; the choices of it may now have fewer others, or more."""
        for choice in table.choices:
            self.tables[choice].append(table)
        for choice in table.choices:
            heappush(self.heap, self._entry(choice))


def _joined(tables: Sequence[Table], last: Hashable) -> Table | None:
    """The sum of tables over all their choices, one of them last."""
    lengths = {c: n for each in tables for c, n in zip(each.choices, each.best.shape, strict=True)}
    choices = (*(c for c in lengths if c != last), last)
    shape = tuple(lengths[c] for c in choices)
    if np.prod(shape, dtype=float) > MOST_ENTRIES:
        return None
    best, more = np.zeros(shape), np.full(shape, np.inf)
    for each in tables:
        own, second = (_along(choices, each, costs) for costs in (each.best, each.second))
        best = best + own
        with np.errstate(invalid="ignore"):
            more = np.fmin(more, second - own)
    return Table(choices, best, best + more)


def _along(choices: tuple[Hashable, ...], of: Table, costs: Array) -> Array:
    """Costs with an axis for every one of these choices."""
    order = sorted(range(len(of.choices)), key=lambda axis: choices.index(of.choices[axis]))
    lengths = dict(zip(of.choices, costs.shape, strict=True))
    return costs.transpose(order).reshape([lengths.get(choice, 1) for choice in choices])


def _without_last(of: Table) -> tuple[Table, Array]:
    """The table with the last choice made as well as can be, and how that is."""
    ordered = np.sort(of.best, axis=-1)
    others = ordered[..., 1] if of.best.shape[-1] > 1 else np.full(of.best.shape[:-1], np.inf)
    second = np.minimum(others, of.second.min(axis=-1))
    return Table(of.choices[:-1], ordered[..., 0], second), of.best.argmin(axis=-1)


def _chosen(decided: Sequence[tuple[Hashable, tuple[Hashable, ...], Array]]) -> dict[Hashable, int]:
    """The choices in the order in which they can be told: those that were eliminated last are known first."""
    found: dict[Hashable, int] = {}
    for choice, others, argument in reversed(decided):
        found[choice] = int(argument[tuple(found[each] for each in others)])
    return found
