"""Random ranges of indices: full, shifted, triangular, those of a box that exists."""

from __future__ import annotations

from tests.properties.forms import Form, lift
from tests.properties.scene import Axis
from tests.properties.values import Values

BUDGET = 600  # instances of one statement


class Ranges(Values):
    """Chooses the indices of a statement and what they run over."""

    counter = 0

    def fresh(self, letters: str = "ijklmnpqr") -> str:
        self.counter += 1
        around = self.counter // len(letters)
        return letters[self.counter % len(letters)] + (f"_{around}" if around else "")

    def axis(self, before: list[Axis]) -> Axis:
        """An index over a range; the ranges of a statement together stay small."""
        used = 1
        for a in before:
            used *= max(1, self.number(a.high) - self.number(a.low) + 1)
        for _ in range(12):
            made = self.any_axis(before)
            if used * (self.number(made.high) - self.number(made.low) + 1) <= BUDGET:
                return made
        return self.between(lift(0), lift(self.random.choice((1, 2))))

    def any_axis(self, before: list[Axis]) -> Axis:
        size = lift(self.random.choice(list(self.sizes)))
        c = self.random.choice((1, 1, 2))
        match self.random.choice("SSSSSSScccn+-tta"):
            case "c":
                return self.between(lift(0), lift(self.random.choice((1, 2, 3, 4))))
            case "n":
                return self.between(lift(-c), size)
            case "+":
                return self.between(lift(c), size + self.random.choice((0, 2)))
            case "-":
                return self.between(lift(0), size - c)
            case "a":
                return self.between(lift(0), size * self.random.choice([2, *self.scalars]))
            case "t" if before:
                return self.triangle(self.random.choice(before), size)
        return self.between(lift(0), size)

    def between(self, low: Form, upper: Form, slack: tuple[int, int] = (0, 0)) -> Axis:
        """`low:upper`; a range that is empty whatever the sizes is an error, so it is not made."""
        if not (upper - low).names and (upper - low).at({}) <= 0:
            low, upper, slack = low - slack[0], low - slack[0] + 1, (0, 0)
        name = self.fresh()
        return Axis(name, low, upper - 1, f"{name} in {low}:{upper}", slack=slack)

    def triangle(self, a: Axis, size: Form) -> Axis:
        name = self.fresh()
        match self.random.choice("<>=w"):
            case "<":
                return Axis(name, lift(0), a.high - 1, f"{name} in 0:{a.name}", triangular=True)
            case ">":
                return Axis(name, a.low + 1, size - 1, f"{name} in {a.name} + 1:{size}", triangular=True)
            case "=":
                return Axis(name, lift(0), a.high, f"{name} in 0:{a.name} + 1", triangular=True)
        return Axis(name, a.low, a.high + 1, f"{name} in {a.name}:{a.name} + 2", triangular=True)

    def like(self, low: Form, high: Form, before: list[Axis]) -> Axis:
        """An index over the range of a box, if that is not too much."""
        used = 1
        for a in before:
            used *= max(1, self.number(a.high) - self.number(a.low) + 1)
        if used * (self.number(high) - self.number(low) + 1) > BUDGET:
            return self.axis(before)
        return self.between(low, high + 1)

    def part(self, low: Form, high: Form) -> Axis:
        """An index over a box, or over all but its rim."""
        down, up = self.random.choice(((0, 0), (0, 0), (0, 0), (1, 0), (0, 1), (1, 1)))
        return self.between(low + down, high + 1 - up, slack=(down, up))
