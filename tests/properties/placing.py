"""Where local arrays lie: the instances of a derived program with the places their cells share.

What steps say of storage (`poly.storage_of`, plain data) is taken as given and applied: two cells with one place are
one cell.  A run on places that gives the operator's terms shows that the storage is large enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tests.properties.barriers import threaded
from tests.properties.happening import Times
from tests.properties.plain import nothing, number
from tests.properties.touching import Cell, Event, Shape


class NoRoom(Exception):
    """A cell lies outside the storage of its array."""


def placed(events: list[Event], times: Times, storage: Any, sizes: Mapping[str, int]) -> list[Event]:
    """The events with each cell of a local array replaced by its place."""
    local = {s.array.name: s for s in storage}
    homes = [_Homes(times, s) for s in storage]
    here = {home.storage.array.name: home for home in homes}
    found = []
    for n, event in enumerate(events):
        cells = {c for c in (*event.writes, *event.reads, *event.maybe) if c[0] in local}
        places = {cell: here[cell[0]].place(n, cell, sizes) for cell in cells}
        found.append(moved(event, places) if places else event)
    return found


class _Homes:
    """The loops around everything that touches one local array, and their values at each event."""

    def __init__(self, times: Times, storage: Any) -> None:
        self.storage, self.instances = storage, times.instances
        self.values: dict[str, list[tuple[Any, np.ndarray]]] = {
            s: [(loop, v) for loop, v in times.values(s) if loop is not None] for s in times.instances.numbers
        }

    def place(self, n: int, cell: Cell, sizes: Mapping[str, int]) -> Cell:
        """The place of a cell in the iteration of an event; each iteration of a parallel loop has its own."""
        own = self.values[self.instances.statement[n]][: len(self.storage.home)]
        at = int(self.instances.place[n])
        env = {**sizes, **{loop.name: int(values[at]) for loop, values in own}}
        private = tuple(int(values[at]) for loop, values in own if threaded(loop.kind))
        coordinates = tuple(self._coordinate(cell, env))
        return f"place of {cell[0]}", (*private, *coordinates)

    def _coordinate(self, cell: Cell, env: Mapping[str, int]) -> Iterator[int]:
        own = {**env, **{f"coordinate {d}": x for d, x in enumerate(cell[1])}}  # a bound may speak of other coordinates
        for position, lower, extent in self.storage.kept:
            value = cell[1][position] - number(lower)(own, nothing)
            room = number(extent)(env, nothing)
            if not 0 <= value < room:
                raise NoRoom(f"{cell} is number {value} of {room} places")
            yield value


def moved(event: Event, places: Mapping[Cell, Cell]) -> Event:
    """The event with other cells."""

    def at(cell: Cell) -> Cell:
        return places.get(cell, cell)

    return replace(
        event,
        writes=tuple(map(at, event.writes)),
        shapes=tuple(_renamed(s, places) for s in event.shapes),
        reads=frozenset(map(at, event.reads)),
        maybe=frozenset(map(at, event.maybe)),
    )


def _renamed(shape: Shape, places: Mapping[Cell, Cell]) -> Shape:
    what, *parts = shape
    if what == "cell":
        return ("cell", places.get(parts[0], parts[0]))
    return shape if what == "number" else (what, *(_renamed(p, places) for p in parts))
