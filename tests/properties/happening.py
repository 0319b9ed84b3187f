"""Happens-before of a schedule tree, instance by instance, from its definition.

Two instances are in order if the first time component in which they differ is a position in a sequence or the value
of a serial or unrolled loop.  A parallel loop orders nothing.  The lanes of a vector loop run in lockstep, as many at
a time as a register holds: of two instances in different lanes one comes first if its lane does and it would come
first in one lane, too; loops inside are counted from where each lane begins.  Blocks and threads order nothing either,
but a barrier orders what it parts (`barriers.py`).

Rows are evaluated with NumPy; nothing is asked of `workbench/poly` or `workbench/schedules`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.properties.barriers import Places, in_phases, passed, threaded
from tests.properties.plain import column
from tests.properties.touching import Event, Key
from workbench.poly.programs.marks import AtomicUpdates, ExecutedBy
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Tree
from workbench.poly.programs.tree import Sequence as Children

Ids = np.ndarray


@dataclass
class Instances:
    """The instances of one run by statement: which events they are and a column for each dim."""

    events: Sequence[Event]
    dims: Mapping[str, tuple[str, ...]]
    sizes: Mapping[str, int]

    @classmethod
    def of(cls, keys: Sequence[Key], dims: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int]) -> Instances:
        """Instances of which only the names are known."""
        nothing: frozenset[Any] = frozenset()
        return cls([Event(key, (), (), nothing, nothing, None) for key in keys], dims, sizes)

    def __post_init__(self) -> None:
        numbers: dict[str, list[int]] = {s: [] for s in self.dims}
        for n, event in enumerate(self.events):
            numbers[event.key[0]].append(n)
        self.numbers = {s: np.array(found, dtype=np.int64) for s, found in numbers.items()}
        self.place = np.zeros(len(self.events), dtype=np.int64)  # of an event among those of its statement
        self.columns: dict[str, dict[str, Any]] = {}
        for s, found in self.numbers.items():
            self.place[found] = np.arange(len(found))
            rows = [self.events[n].key[1] for n in found]
            table = np.array(rows, dtype=np.int64).reshape(len(rows), len(self.dims[s]))
            self.columns[s] = {**self.sizes, **{d: table[:, i] for i, d in enumerate(self.dims[s])}}
        self.statement = [e.key[0] for e in self.events]


class Times:
    """The time components of every instance under one tree."""

    def __init__(self, instances: Instances, tree: Tree) -> None:
        self.instances, self.tree = instances, tree
        self.components: dict[str, list[tuple[Loop | None, Any]]] = {}
        self.atomic: set[str] = set()
        self.begins: dict[tuple[Any, ...], int] = {}
        self._visit(tree, [])
        self.places = Places.of(tree)
        if self.places.barriers:
            passed(self.places, self._rows())

    def _rows(self) -> Iterator[tuple[str, list[int]]]:
        """Every instance: its statement and its time."""
        for statement, numbers in self.instances.numbers.items():
            columns = [values for _, values in self.values(statement)]
            for at in range(len(numbers)):
                yield statement, [int(values[at]) for values in columns]

    @property
    def divergent(self) -> bool:
        """Whether some threads wait where others of their block do not."""
        return any(barrier.uneven() for barrier in self.places.barriers)

    def _visit(self, tree: Tree, above: list[tuple[Loop | None, Any]]) -> None:
        match tree:
            case Leaf(s):
                self.components[s] = above
            case Mark(note, child):
                self._visit(_at_once(child) if isinstance(note, ExecutedBy) and _single(child) else child, above)
                self.atomic |= _statements(child) if isinstance(note, AtomicUpdates) else set()
            case Band(loops, child):
                self._visit(child, [*above, *((loop, None) for loop in loops)])
            case Children(parts):
                for position, part in enumerate(parts):
                    self._visit(part, [*above, (None, position)])

    @property
    def concurrent(self) -> bool:
        """Whether any loop lets iterations run at once."""
        own = (loop for parts in self.components.values() for loop, _ in parts)
        return any(loop is not None and loop.kind not in ("serial", "unroll") for loop in own)

    def values(self, statement: str) -> list[tuple[Loop | None, np.ndarray]]:
        """(loop or None for a position, value for each instance of the statement), outermost first."""
        own = self.components[statement]
        if own and isinstance(own, list):
            count, columns = len(self.instances.numbers[statement]), self.instances.columns[statement]
            self.components[statement] = own = tuple(  # type: ignore[assignment]
                (loop, _spread(position if loop is None else column(loop.row(statement))(columns), count))
                for loop, position in own
            )
        return own  # type: ignore[return-value]

    def counted(self, statement: str) -> list[tuple[Loop | None, np.ndarray]]:
        """The same with the loops inside lanes counted from where they begin in each."""
        if not self.begins:
            for s in self.components:
                for key, value in self._inside_lanes(s):
                    self.begins[key] = min(self.begins.get(key, value), value)
            self.begins[()] = 0
        own, found = self.values(statement), []
        for place, (loop, column_) in enumerate(own):
            if loop is not None and any(x is not None and x.kind == "vector" for x, _ in own[:place]):
                starts = [self.begins[key] for key in self._keys(own, place)]
                column_ = column_ - np.array(starts, dtype=np.int64)
            found.append((loop, column_))
        return found

    def _inside_lanes(self, statement: str) -> Iterator[tuple[tuple[Any, ...], int]]:
        """(loop and where it stands, value) for each iteration of a loop inside lanes."""
        own = self.values(statement)
        for place, (loop, values) in enumerate(own):
            if loop is not None and any(x is not None and x.kind == "vector" for x, _ in own[:place]):
                yield from zip(self._keys(own, place), values.tolist(), strict=True)

    @staticmethod
    def _keys(own: Sequence[tuple[Loop | None, np.ndarray]], place: int) -> list[tuple[Any, ...]]:
        rows = zip(*(values.tolist() for _, values in own[:place]), strict=True)
        return [(own[place][0], *row) for row in rows]

    def compare(self, source: str, target: str, a: Ids, b: Ids, *, relaxed: bool = False) -> tuple[Ids, list[str], Ids]:
        """For each pair of events: 1 if `a` comes first, -1 if `b` does, 0 if they run at once.

        Also the name of the loop that decides ("" for a position, or equal times), and whether lanes do.  `relaxed` is
        for two updates of one reduction: lanes keep partial results, so different lanes are as good as an order.
        """
        first, second = self.instances.place[a], self.instances.place[b]
        result, lanes = np.zeros(len(a), dtype=np.int64), np.zeros(len(a), dtype=np.int64)
        open_, names = np.ones(len(a), dtype=bool), [""] * len(a)
        lane_names = [""] * len(a)
        for place, ((loop, x), (_, y)) in enumerate(
            zip(self.counted(source), self.counted(target), strict=False)
        ):
            sign = np.sign(y[second] - x[first])
            here = open_ & (sign != 0)
            if not here.any():
                continue
            kind = "position" if loop is None else loop.kind
            if kind == "vector" and not relaxed:
                clash = here & (lanes != 0) & (lanes != sign)
                lanes[here & (lanes == 0)] = sign[here & (lanes == 0)]
                _name(lane_names, here, loop.name)
                open_ &= ~clash
                continue
            if not threaded(kind):
                agrees = here & ((lanes == 0) | (lanes == sign))
                result[agrees] = sign[agrees]
            elif self.places.barriers:
                self._meet(result, np.flatnonzero(here), (source, target), (first, second), place)
            if loop is not None:
                _name(names, here, loop.name)
            open_ &= ~here
            if loop is None:
                break
        return result, [lane or inner for inner, lane in zip(names, lane_names, strict=True)], lanes != 0

    def _meet(self, result: Ids, pairs: Ids, ends: tuple[str, str], at: tuple[Ids, Ids], place: int) -> None:
        """The order that barriers give to pairs on different threads of the loop at a place in their paths."""
        key = self.places.keys[ends[0]][place]
        for barrier in (b for b in self.places.barriers if key in b.waiting):
            for n in pairs.tolist():
                times = []
                for end, ids in zip(ends, at, strict=True):
                    own = [int(values[ids[n]]) for _, values in self.values(end)]
                    times.append(barrier.time_of(self.places.keys[end], own))
                result[n] = result[n] or barrier.parts(*times)

    def dates(self, mixed: Mapping[str, Any] | None = None) -> list[tuple[int, ...]]:
        """A time for each event: one execution that the tree allows.

        `mixed` permutes values: `mixed["parallel"]` those of parallel loops, `mixed["vector"]` those of lanes, `width`
        of which run in lockstep.
        """
        found: list[tuple[int, ...]] = [()] * len(self.instances.events)
        for statement, numbers in self.instances.numbers.items():
            columns = [*self._columns(statement, mixed or {})]
            table = np.stack(columns, axis=1).tolist() if columns and len(numbers) else [[]] * len(numbers)
            for n, row in zip(numbers.tolist(), table, strict=True):
                found[n] = tuple(row)
        return found

    def _columns(self, statement: str, mixed: Mapping[str, Any]) -> list[np.ndarray]:
        columns, lanes = [], []
        for loop, values in self.counted(statement):
            kind = "" if loop is None else loop.kind
            if threaded(kind) and "parallel" in mixed:
                values = mixed["parallel"](values)
            elif kind == "vector" and "vector" in mixed:
                lanes.append(mixed["vector"](values))
                values = values // mixed["width"]
            columns.append(values)
        if self.places.barriers:
            columns = [columns[n] for n in in_phases(self.places, statement)]
        return [*columns, *lanes]


def _statements(tree: Tree) -> set[str]:
    """Ids of the statements below, but for those of micro-kernels."""
    match tree:
        case Leaf(s):
            return {s}
        case Mark(ExecutedBy(), _):
            return set()
        case Band(_, child) | Mark(_, child):
            return _statements(child)
        case Children(parts):
            return set().union(*map(_statements, parts))


def _single(tree: Tree) -> bool:
    """Whether loops stand around one statement: of anything else no micro-kernel is made."""
    match tree:
        case Band(_, child) | Mark(_, child):
            return _single(child)
    return isinstance(tree, Leaf)


def _at_once(tree: Tree) -> Tree:
    """The part that a micro-kernel executes: nobody knows in which order, so its iterations are like lanes."""
    match tree:
        case Band(loops, child):
            return Band(tuple(replace(loop, kind="vector") for loop in loops), _at_once(child))
        case Mark(note, child):
            return Mark(note, _at_once(child))
        case Children(parts):
            return Children(tuple(map(_at_once, parts)))
    return tree


def _spread(value: Any, count: int) -> np.ndarray:
    return np.broadcast_to(np.asarray(value, dtype=np.int64), (count,))


def _name(names: list[str], where: np.ndarray, name: str) -> None:
    for n in np.flatnonzero(where).tolist():
        names[n] = names[n] or name


def collisions(instances: Instances, times: Times) -> list[tuple[int, int]]:
    """Two events of one statement that have one time, for each time that several have."""
    found = []
    for statement, numbers in instances.numbers.items():
        seen: dict[tuple[int, ...], int] = {}
        table = [values.tolist() for _, values in times.values(statement)]
        for n, key in zip(numbers.tolist(), zip(*table, strict=True) if table else [()] * len(numbers), strict=True):
            if key in seen:
                found.append((seen[key], n))
            seen.setdefault(key, n)
    return found
