"""What a campaign judges: random programs with the sizes and the contents of index arrays to enumerate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import Any

import workbench as wb
from tests.poly.making import CELLS, LOWEST, Maker, tensor
from tests.properties.plain import Contents, Unknown, nothing, number
from tests.properties.renaming import with_hostile_sizes
from tests.properties.scenes import Scene
from tests.properties.shapes import Producers, Recurrences, product
from workbench import lower
from workbench.errors import WorkbenchError
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Expr, Index, Read, reads
from workbench.lang.operator import Operator, Promise, Range

LIMIT = 400  # instances of a program that is still quick to enumerate


class Gatherer(Maker):
    """Random operators some of whose subscripts are data (`idx`), of every second kind known to be injective."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.seed = seed

    def operator(self) -> Operator:
        self.tensors["idx"] = tensor("idx", "input", CELLS, lower=LOWEST, dtype=INT32)
        made = super().operator()
        promises = (Promise("injective", "idx"),) if self.seed % 10 == 5 else ()
        tensors = {**made.tensors, "idx": self.tensors["idx"]}
        return replace(made, tensors=tensors, promises=promises, text=f"gather {made.text} {promises}")

    def subscript(self, ranges: list[Range]) -> Expr:
        if ranges and self.random.random() < 0.2:
            return Read("idx", (Index(self.random.choice(ranges).index),), INT32)
        return super().subscript(ranges)

    def term(self, ranges: list[Range]) -> Expr:
        chosen = self.tensors.pop("idx")
        try:
            return super().term(ranges)
        finally:
            self.tensors["idx"] = chosen


MAKERS = {2: Gatherer, 5: Gatherer, 3: Producers, 7: Producers, 4: Recurrences, 6: Recurrences}


@dataclass
class Subject:
    """A program and where to look at it.

    `values` are what index arrays may hold; `least` the sizes below which the program means nothing.
    """

    name: str
    op: Operator
    program: Any
    values: range
    least: int = 0
    first: int = 0  # the lowest value in an index array that is promised to be injective
    scenes: dict[Any, Scene] = field(default_factory=dict)

    def at(self, sizes: Mapping[str, int], contents: int = 0) -> Scene:
        """The program at some sizes, with index arrays filled in one of many ways."""
        key = (tuple(sorted(sizes.items())), contents)
        if key not in self.scenes:
            if len(self.scenes) > 60:
                self.scenes.clear()
            found = filled(self.integers, self.values, contents)
            self.scenes[key] = Scene(self.op, self.program, sizes, promised(self, sizes, found, contents))
        return self.scenes[key]

    def some_sizes(self, random: Random) -> dict[str, int]:
        """Sizes for what the program leaves open."""
        most = 3 if len(self.program.symbols) > 2 else 4
        return {name: random.randint(self.least, most) for name in self.program.symbols}

    @property
    def gathers(self) -> bool:
        """Whether some subscript or choice is data."""
        return bool(self.integers)

    @property
    def injective(self) -> frozenset[str]:
        """The arrays no two cells of which hold the same."""
        return frozenset(p.tensor for p in self.op.promises if p.kind == "injective")

    @property
    def integers(self) -> frozenset[str]:
        """The inputs that may serve as subscripts."""
        found = (n for n, t in self.op.tensors.items() if t.dtype.kind in ("int", "uint") and t.role == "input")
        return frozenset(found)

    @property
    def special(self) -> bool:
        """A reduction, a gather or an update in place."""
        return self.gathers or any(s.reduction or _in_place(s) for s in self.op.statements())


def _in_place(statement: Any) -> bool:
    written = {t.tensor for t in statement.targets}
    return any(r.tensor in written for r in reads(*statement.values))


def filled(arrays: frozenset[str], values: range, seed: int) -> Contents:
    """Index arrays filled at random, the same for the same seed; of other data nothing is known."""

    def contents(tensor: str, cell: tuple[int, ...]) -> int:
        if tensor not in arrays:
            raise Unknown(f"{tensor}{cell}")
        mixed = hash((len(tensor), *cell, seed)) * 2654435761 >> 7
        return values[mixed % len(values)]

    return contents


def promised(of: Subject, sizes: Mapping[str, int], contents: Contents, seed: int) -> Contents:
    """The same, but arrays that are promised to be injective count their cells, upwards or downwards."""
    everything = {**of.program.sizes, **sizes}
    extents = {
        name: [number(e)(everything, nothing) for e in of.op.tensors[name].extent] for name in of.injective
    }

    def kept(tensor: str, cell: tuple[int, ...]) -> int:
        if tensor not in extents:
            return contents(tensor, cell)
        place = 0
        for x, n in zip(cell, extents[tensor], strict=True):
            place = place * n + x
        return of.first + (place if seed % 2 == 0 else prod(extents[tensor]) - 1 - place)

    return kept


def subject(seed: int) -> Subject | None:
    """The program of a seed; None if it is too large, does not lower, or cannot be enumerated."""
    random = Random(seed)
    try:
        found = _library(seed, random) if seed % 10 == 9 else _made(seed, random)
        return found if found is not None and len(found.at(found.some_sizes(Random(seed))).events) <= LIMIT else None
    except (WorkbenchError, OverflowError, Unknown):
        return None


def _made(seed: int, random: Random) -> Subject:
    if seed % 10 == 8:
        return _product(seed, random)
    op = MAKERS.get(seed % 10, Maker)(seed).operator()
    if random.random() < 0.3:
        op = _with_temporaries(op, random.sample(op.outputs, random.choice((1, 1, 2))))
    sizes = {n: random.choice((0, 1, 2, 2, 3, 3, 4)) for n in "NM"} if random.random() < 0.75 else {}
    if not sizes and seed % 3:
        op = with_hostile_sizes(op, seed // 3)
    return Subject(f"random {seed}", op, lower(op, sizes), range(3), first=LOWEST)


def _product(seed: int, random: Random) -> Subject:
    op = product(seed)
    sizes = {n: random.choice((1, 2, 3, 3, 4, 5)) for n in op.size_names}
    if random.random() < 0.25:
        del sizes[random.choice(list(sizes))]
    return Subject(f"product {seed}", op, lower(op, sizes), range(1), least=1)


def _with_temporaries(op: Operator, names: list[str]) -> Operator:
    """The operator with some of its results kept to itself."""
    tensors = {n: replace(t, role="temporary") if n in names else t for n, t in op.tensors.items()}
    outputs = tuple(n for n in op.outputs if n not in names)
    return replace(op, tensors=tensors, outputs=outputs, text=f"{op.text} without {names}")


def _library(seed: int, random: Random) -> Subject | None:
    """An operator of the library at tiny sizes, sometimes with one size open."""
    name = random.choice(wb.ops.list())
    op = wb.ops.load(name)
    if len(list(op.statements())) > 6:
        return None
    sizes = {n: random.randint(1, 3) for n in (*op.size_names, *op.scalars)}
    least = min(sizes.values(), default=1)
    if sizes and random.random() < 0.2:
        del sizes[random.choice(list(sizes))]
    return Subject(f"{name} {seed}", op, lower(op, sizes), range(least), least=1)
