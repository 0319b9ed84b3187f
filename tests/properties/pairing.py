"""Legality by pairs: every two dependent instances of a program against the order of a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.properties.happening import Ids, Instances, Times, collisions
from tests.properties.touching import Cell, Event, Key

Group = tuple[str, str, bool]  # statements of source and target; two updates of one reduction


@dataclass(frozen=True)
class Wrong:
    """Two instances whose order the program needs and a tree does not give."""

    source: Key
    target: Key
    reason: str
    loop: str | None


@dataclass
class Pairs:
    """The pairs of instances that must stay in order, from a run in the order of the program's text.

    `certain` leaves out the cells that are touched only if data say so; `events` are the same instances touching other
    cells.
    """

    instances: Instances
    groups: dict[Group, tuple[Ids, Ids]] = field(default_factory=dict)

    @classmethod
    def of(cls, instances: Instances, events: Sequence[Event] | None = None, *, certain: bool = False) -> Pairs:
        found: dict[Group, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for touches in _by_cell(events or instances.events, certain=certain).values():
            for group, a, b in _conflicts(touches):
                found[group][0].append(a)
                found[group][1].append(b)
        arrays = {g: (np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)) for g, (a, b) in found.items()}
        return cls(instances, arrays)

    def wrong(self, times: Times, *, every: bool = False) -> list[Wrong]:
        """What is out of order or at once; the first of each group of pairs, or `every` one."""
        found = [
            Wrong(self.instances.events[a].key, self.instances.events[b].key, "order", None)
            for a, b in collisions(self.instances, times)
        ]
        for (source, target, relaxed), (a, b) in self.groups.items():
            if relaxed and source in times.atomic:
                continue
            sign, names, lanes = times.compare(source, target, a, b, relaxed=relaxed)
            bad = np.flatnonzero(sign == 0 if relaxed else sign != 1)
            for n in bad if every else bad[:1]:
                raced = lanes[n] or (sign[n] == 0 and names[n])
                first, second = (self.instances.events[ids[n]].key for ids in (a, b))
                found.append(Wrong(first, second, "race" if raced else "order", names[n] or None))
        return found

    def races(self, times: Times) -> list[Wrong]:
        """Pairs that nothing orders, whichever comes first."""
        found = []
        for (source, target, relaxed), (a, b) in self.groups.items():
            if relaxed and source in times.atomic:
                continue
            sign, names, _ = times.compare(source, target, a, b, relaxed=relaxed)
            for n in np.flatnonzero(sign == 0)[:1]:
                first, second = (self.instances.events[ids[n]].key for ids in (a, b))
                found.append(Wrong(first, second, "race", names[n] or None))
        return found


Touch = tuple[int, str, str]  # event, "read", "write" or "update", statement


def _by_cell(events: Sequence[Event], *, certain: bool) -> dict[Cell, list[Touch]]:
    """Who touches each cell, in the order of the events."""
    found: dict[Cell, list[Touch]] = defaultdict(list)
    for n, event in enumerate(events):
        statement = event.key[0]
        for cell in event.reads if certain else event.reads | event.maybe:
            found[cell].append((n, "read", statement))
        kind = "update" if event.updates else "write"
        for cell in dict.fromkeys(event.writes):
            found[cell].append((n, kind, statement))
    return found


def _conflicts(touches: list[Touch]) -> Iterator[tuple[Group, int, int]]:
    if all(kind == "read" for _, kind, _ in touches):
        return
    for position, (b, later, target) in enumerate(touches):
        for a, earlier, source in touches[:position]:
            if a != b and not (earlier == later == "read"):
                yield (source, target, earlier == later == "update" and source == target), a, b
