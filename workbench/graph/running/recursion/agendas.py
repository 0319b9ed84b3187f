"""Tensors that are computed when somebody looks: calls of segments wait on an agenda until their values are asked for.

What waits is independent of what waits on its level, so that equal calls there become one (Looks et al., "Deep
Learning with Dynamic Computation Graphs", ICLR 2017; Neubig, Goldberg and Dyer, "On-the-fly Operation Batching in
Dynamic Computation Graphs", NIPS 2017).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np

from workbench.errors import CallError, WorkbenchError
from workbench.graph.evaluation.values import Cell, Data
from workbench.graph.running.recording.recordings import Array

Kind = tuple[tuple[int, ...], np.dtype[Any]]
"""Shape and element type."""
MOST_BYTES = 1 << 27
"""What waits is computed when its results would take more."""


class Tensor:
    """A tensor of a run: row `at` of `rows` once these are computed, before that nothing but its kind and level.

    Of level n is what a call gives whose inputs are of lower levels; what is computed is of level 0.
    """

    __slots__ = ("agenda", "at", "kind", "level", "rows")

    def __init__(self, kind: Kind, level: int, agenda: Agenda, rows: Array | None = None) -> None:
        self.kind, self.level, self.agenda, self.rows, self.at = kind, level, agenda, rows, 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents, known before its elements."""
        return self.kind[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements."""
        return self.kind[1]

    def array(self) -> Array:
        """Its elements; what waits is computed."""
        if self.rows is None:
            self.agenda.run()
            if self.rows is None:
                raise CallError("a value is asked for that was not computed, because an earlier call failed")
        return self.rows[self.at, ...]

    def row(self) -> Array:
        """The same behind an axis of extent one."""
        if self.rows is None:
            self.array()
        assert self.rows is not None
        return self.rows[self.at : self.at + 1]


class Group(Protocol):
    """What computes equal calls together."""

    def compute(self, calls: list[Waiting]) -> None:
        """Give the outputs of these calls their rows."""
        ...


class Waiting:
    """A call that waits: the tensors that it takes and gives."""

    __slots__ = ("inputs", "outputs")

    def __init__(self, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        self.inputs, self.outputs = inputs, outputs


class Agenda:
    """What waits in one call of a model, by level, and by what computes it."""

    def __init__(self) -> None:
        self.levels: list[dict[Group, list[Waiting]]] = []
        self.known: dict[int, tuple[Any, Tensor]] = {}
        self.written: dict[Cell, None] = {}
        self.kinds: dict[Kind, Kind] = {}
        self.bytes = self.known_bytes = 0

    def noted(self, array: Any) -> Tensor:
        """An array that was given or computed, as a tensor: the same one whenever it comes."""
        found = self.known.get(id(array))
        if found is None:
            plain = np.asarray(array)
            flags = plain.flags
            if not (flags.c_contiguous and flags.aligned and plain.dtype.isnative):
                plain = np.array(plain, plain.dtype.newbyteorder("="), order="C")
            if self.known_bytes > MOST_BYTES and not self.levels:
                self.known, self.known_bytes = {}, 0
            kind = plain.shape, plain.dtype
            tensor = Tensor(self.kinds.setdefault(kind, kind), 0, self, plain[None])
            found = self.known[id(array)] = array, tensor
            self.known_bytes += plain.nbytes
        return found[1]

    def add(self, group: Group, level: int, call: Waiting, size: int) -> None:
        """A call whose inputs are of lower levels; its outputs take so many bytes."""
        while len(self.levels) < level:
            self.levels.append({})
        self.levels[level - 1].setdefault(group, []).append(call)
        self.bytes += size
        if self.bytes > MOST_BYTES:
            self.run()

    def run(self) -> None:
        """Compute all that waits."""
        levels, self.levels, self.bytes = self.levels, [], 0
        for level in levels:
            for group, calls in level.items():
                group.compute(calls)

    def write(self, cell: Cell, value: Any) -> tuple[()]:
        """Put a value into a cell, perhaps one that waits; the cell is looked at once more in the end."""
        cell.value = value
        self.written[cell] = None
        return ()

    def finished(self, result: Any) -> Any:
        """The result of the call with its elements computed, and so is what its cells hold."""
        self.run()
        for cell in self.written:
            cell.value = computed(cell.value)
        return computed(result)

    def abandon(self) -> None:
        """After an error: no cell that somebody may look at keeps what waits and can be computed."""
        for cell in self.written:
            with suppress(WorkbenchError):
                cell.value = computed(cell.value)


def plain(value: Any) -> Any:
    """A tensor's elements; anything else as it is."""
    return value.array() if type(value) is Tensor else value


def computed(value: Any) -> Any:
    """A value without tensors that wait: arrays of their own in their place; the same value where there are none.

    Values may be as deep as they like; what is shared stays shared.
    """
    if not isinstance(value, Tensor | tuple | Data | Cell):
        return value
    done: dict[int, Any] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        each, is_inside_done = stack.pop()
        if id(each) in done and not is_inside_done:
            continue
        if isinstance(each, Tensor):
            done[id(each)] = _own(each)
        elif is_inside_done:
            done[id(each)] = _rebuilt(each, lambda inside: done.get(id(inside), inside))
        else:
            inside = [part for part in _parts(each) if isinstance(part, Tensor | tuple | Data | Cell)]
            if isinstance(each, Cell):
                done[id(each)] = each  # which may be inside itself
            if inside:
                stack.append((each, True))
                stack += [(part, False) for part in reversed(inside)]
    return done.get(id(value), value)


def _parts(value: Any) -> tuple[Any, ...]:
    match value:
        case tuple():
            return value
        case Cell(inside):
            return (inside,)
        case _:
            return value.fields


def _rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    old = _parts(value)
    new = tuple(map(change, old))
    if isinstance(value, Cell):
        (value.value,) = new
        return value
    if all(a is b for a, b in zip(old, new, strict=True)):
        return value
    return new if isinstance(value, tuple) else Data(value.constructor, new)


def _own(tensor: Tensor) -> Array:
    """Its elements in memory that no other tensor has."""
    array = tensor.array()
    assert tensor.rows is not None
    return np.asarray(array) if len(tensor.rows) == 1 else np.array(array)
