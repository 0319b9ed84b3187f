"""Random operators, as text, with sizes and what their inputs hold."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.properties.forms import cover, lift
from tests.properties.scene import INTS, Slot
from tests.properties.statements import Statements


@dataclass(frozen=True)
class Case:
    """A random operator: its text, sizes at which to run it, and what its inputs hold.

    `data` says of each input how it is filled: ("small" | "extreme" | "index", lower, upper).  `bounds` gives the
    error allowed in each output: 0 where the result is exact.
    """

    text: str
    sizes: dict[str, int]
    scalars: dict[str, int]
    data: dict[str, tuple[str, int, int]]
    bounds: dict[str, float]

    def __str__(self) -> str:
        return f"{self.text}\n# {self.sizes | self.scalars}"


class Writer(Statements):
    """Writes one operator: `Writer(random).case("name")`."""

    def __init__(self, random: Random) -> None:
        names = random.sample("NMKL", random.choice((1, 1, 2, 2, 3)))
        sizes = {n: random.choice((0, 1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 33, 37)) for n in sorted(names)}
        scalars = {n: random.choice((1, 2, 3)) for n in ("s", "d") if random.random() < 0.15}
        super().__init__(random, sizes, scalars)

    def case(self, name: str) -> Case:
        for _ in range(self.random.choice((1, 1, 2, 2, 3, 3, 4, 5))):
            if self.chance(0.14):
                self.loop()
            else:
                self.statement([])
        return self.finished(name)

    def loop(self) -> None:
        """A sequential axis around one or two statements."""
        axis = self.between(lift(self.random.choice((0, 0, 1))), lift(self.random.choice((2, 3, 4))))
        if self.chance(0.3):
            small = [n for n, v in self.sizes.items() if v <= 5]
            if small:
                axis = self.between(axis.low, lift(self.random.choice(small)))
        self.lines.append(f"    for {axis.where} {{")
        for _ in range(self.random.choice((1, 1, 2))):
            self.statement([axis])
        self.lines.append("    }")

    def finished(self, name: str) -> Case:
        computed = [s for s in self.slots.values() if s.computed]
        computed[-1].output = True
        inputs = [s for s in self.slots.values() if not s.computed]
        body = "\n".join(self.lines)
        used = {n for n in self.sizes if any(n in _words(line) for line in self.lines)}
        used |= {n for s in self.slots.values() for f in (*s.low, *s.high) for n in f.names if n in self.sizes}
        for size in sorted(used - {n for s in inputs for f in s.high for n in f.names}):
            inputs.append(self.sized(inputs, size))
        inputs = list(dict.fromkeys(s.name for s in inputs))
        parameters = [_declared(self.slots[n]) for n in inputs]
        dims = {n for s in self.slots.values() for f in s.high if not s.computed or s.fixed for n in f.names}
        scalars = {n: v for n, v in self.scalars.items() if n in dims or any(n in _words(x) for x in self.lines)}
        parameters += [f"int32 {n}" for n in scalars]
        self.random.shuffle(parameters)
        outputs = [_declared(s) if s.fixed else s.name for s in computed if s.output or s.inout or s.fixed]
        head = "\n".join(self.helpers) + ("\n" if self.helpers else "")
        text = f"{head}def {name}({', '.join(parameters)}) -> ({', '.join(outputs)}) {{\n{body}\n}}"
        data = {n: self.filled(self.slots[n]) for n in inputs}
        bounds = {s.name: self.bound(s) for s in computed}
        return Case(text, {n: v for n, v in self.sizes.items() if n in used}, scalars, data, bounds)

    def sized(self, inputs: list[Slot], size: str) -> Slot:
        """An input that a size can be read off."""
        candidates = [s for s in inputs if s.rank and s.fill != "index"]
        if not candidates:
            slot = Slot(self.name("X"), "float", [lift(0)], [lift(size) - 1])
            self.slots[slot.name] = slot
            return slot
        slot = self.random.choice(candidates)
        slot.high[0] = cover(slot.high[0], lift(size) - 1)
        return slot

    def filled(self, slot: Slot) -> tuple[str, int, int]:
        if slot.indexes is None:
            return slot.fill, 0, 0
        other, d = slot.indexes
        return "index", self.number(other.low[d]), self.number(other.high[d])

    def bound(self, slot: Slot) -> float:
        """The error allowed in a cell: nothing, or some roundings of the largest value."""
        if slot.exact or slot.dtype in INTS or slot.dtype == "bool":
            return 0.0
        eps = 2.0**-7 if slot.wide_error else 2.0**-23
        return 128 * eps * slot.limit


def _words(line: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def _declared(slot: Slot) -> str:
    dims = f"({', '.join(str(h + 1) for h in slot.high)})" if slot.rank else ""
    return f"{slot.dtype}{dims} {slot.name}"
