"""What a run computes, as terms: each cell holds a number that stands for the expression its value came from.

Equal terms have equal numbers.  Updates of a reduction make a multiset of contributions, so their order does not
matter; a contribution that is itself a multiset of the same reduction (a partial result) is poured into it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from operator import add, mul
from typing import Any

from tests.properties.touching import Cell, Event, Shape

NEUTRAL = {"+": {0}, "*": {1}, "max": {float("-inf")}, "min": {float("inf")}}

EXACT = {"+": add, "*": mul}  # worked out on numbers: what padding adds is neutral


class Terms:
    """The numbers of terms; two runs that share one can be compared.  Nothing stands in the arrays `empty`."""

    def __init__(self, empty: Iterable[str] = ()) -> None:
        self.empty = frozenset(empty)
        self.numbers: dict[Hashable, int] = {}
        self.terms: list[Any] = []

    def number(self, term: tuple[Any, ...]) -> int:
        """The number of a term over numbers."""
        found = self.numbers.setdefault(term, len(self.terms))
        if found == len(self.terms):
            self.terms.append(term)
        return found

    def text(self, number: int, depth: int = 6) -> str:
        """The term as a person reads it."""
        what, *operands = self.terms[number]
        if what in ("cell before", "number") or not depth:
            return f"{operands[0]}" if what != "number" else repr(operands[0])
        if what == "reduction":
            name, parts, place = operands
            inside = ", ".join(
                " & ".join(self.text(n, depth - 1) for n in part) + (f" x{count}" if count > 1 else "")
                for part, count in parts
            )
            return f"{name}{place or ''}{{{inside}}}"
        return f"{what}({', '.join(self.text(n, depth - 1) for n in operands)})"


@dataclass(eq=False, slots=True)
class Partial:
    """A reduction in progress: what was contributed so far to its cells."""

    name: str | None
    cells: tuple[Cell, ...]
    parts: Counter[tuple[int, ...]]


class Memory:
    """Cells while instances run."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.cells: dict[Cell, int | Partial] = {}

    def read(self, cell: Cell) -> int:
        """The term in a cell; before anything was written, the cell's own symbol."""
        found = self.cells.get(cell)
        if isinstance(found, Partial):
            parts, place = tuple(sorted(found.parts.items())), found.cells.index(cell)
            if len(found.cells) == 1 and len(parts) == 1 and parts[0][1] == 1:
                return parts[0][0][0]  # combined with nothing but the identity
            return self.terms.number(("reduction", found.name, parts, place))
        if found is not None:
            return found
        return self.terms.number(("cell before", cell[0] if cell[0] in self.terms.empty else f"{cell[0]}{cell[1]}"))

    def value(self, shape: Shape) -> int:
        """The term of an expression over cells."""
        what, *parts = shape
        if what == "cell":
            return self.read(parts[0])
        if what == "number":
            return self.terms.number(("number", _plain(parts[0])))
        operands = [self.value(part) for part in parts]
        known = [self.terms.terms[n] for n in operands]
        if what in EXACT and all(term[0] == "number" for term in known):
            found = EXACT[what](*(term[1] for term in known))
            if found in (0, 1) or abs(found) == float("inf"):  # what steps fill gaps with; NaN is none of it
                return self.terms.number(("number", _plain(found)))
        return self.terms.number((what, *operands))

    def run(self, event: Event) -> None:
        """Execute one instance."""
        if event.begins:
            self.cells |= dict.fromkeys(event.writes, Partial(event.reduction, event.writes, Counter()))
            return
        new = tuple(map(self.value, event.shapes))
        if event.reduction is None:
            self.cells |= dict(zip(event.writes, new, strict=True))
        else:
            self.partial(event.reduction, event.writes).parts.update(self._parts(event.reduction, new))

    def partial(self, name: str, cells: tuple[Cell, ...]) -> Partial:
        """The reduction in progress in some cells; it begins with what they hold."""
        found = [self.cells.get(cell) for cell in cells]
        first = found[0]
        same = isinstance(first, Partial) and (first.name, first.cells) == (name, cells)
        if not isinstance(first, Partial) or not same or found.count(first) < len(cells):
            first = Partial(name, cells, Counter(self._parts(name, tuple(map(self.read, cells)))))
            self.cells |= dict.fromkeys(cells, first)
        return first

    def _parts(self, name: str, values: tuple[int, ...]) -> dict[tuple[int, ...], int]:
        """The contributions that values are made of: those of a partial result, none for the identity, or they."""
        terms = [self.terms.terms[v] for v in values]
        first = terms[0]
        if all(t[0] == "reduction" and t[1:3] == (name, first[2]) and t[3] == n for n, t in enumerate(terms)):
            return dict(first[2])
        if len(values) == 1 and first[0] == "number" and first[1] in NEUTRAL.get(name, ()):
            return {}
        return {values: 1}


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()) else value


def values(terms: Terms, events: Iterable[Event]) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What the instances compute, and leave in their cells, when the events run one after another."""
    memory, found = Memory(terms), set()
    for event in events:
        computed = tuple(map(memory.value, event.shapes))
        memory.run(event)
        found.add((computed, tuple(map(memory.read, event.writes))))
    return found


def final(terms: Terms, events: Iterable[Event]) -> dict[Cell, int]:
    """What the cells written hold after the events ran one after another."""
    memory = Memory(terms)
    for event in events:
        memory.run(event)
    return {cell: memory.read(cell) for cell in memory.cells}


def difference(wanted: Mapping[Cell, int], found: Mapping[Cell, int], outputs: Iterable[str], terms: Terms) -> str:
    """The first cell of an output that holds another term; empty when there is none."""
    outputs, memory = set(outputs), Memory(terms)
    for cell in sorted(c for c in {*wanted, *found} if c[0] in outputs):
        a, b = (run.get(cell, memory.read(cell)) for run in (wanted, found))
        if a != b:
            return f"{cell[0]}{cell[1]} is {terms.text(b)}, not {terms.text(a)}"
    return ""
