"""Small random C functions: loops of every kind, triangular bounds, conditions, scalars, updates in place."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

EXTENT = 24
SHIFT = 8
ARRAYS = {"A": 1, "B": 2, "C": 2}
UPDATES = ("=", "=", "=", "+=", "-=", "*=")


@dataclass
class Writer:
    """Writes one function `void f(int n, double x, double A[24], double B[24][24], double C[24][24])`.

    Values stay small integers, most of the time, so that every order of rounding gives the same bits.
    """

    random: Random
    loops: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    fresh: int = 0

    def function(self) -> str:
        """The text."""
        body = "".join(self.statement(0) for _ in range(self.random.randint(1, 3)))
        taken = "int n, double x, double A[24], double B[24][24], double C[24][24], int idx[24]"
        return f"void f({taken})\n{{\n{body}}}\n"

    def statement(self, depth: int) -> str:
        """A loop, an `if`, a scalar or an assignment, indented."""
        kinds = ["assign"] * (1 + 2 * depth) + ["loop"] * (4 if depth < 3 else 0)
        kinds += ["if", "data", "scalar"] if depth else []
        match self.random.choice(kinds):
            case "loop":
                return self.loop(depth)
            case "if":
                return self.branch(depth, self.condition())
            case "data":
                return self.branch(depth, f"{self.cell()} {self.random.choice(['<', '>=', '!='])} {self.value(1)}")
            case "scalar":
                return self.scalar(depth)
        return self.assignment(depth)

    def indent(self, depth: int) -> str:
        return "    " * (depth + 1)

    def loop(self, depth: int) -> str:
        """Up or down, by 1, 2 or 3, from and to sizes, constants or loops around."""
        name = "ijk"[len(self.loops)] if len(self.loops) < 3 else f"l{len(self.loops)}"
        low, high = self.bound(), self.random.choice(["n", "n - 1", "6", "5", self.bound()])
        step = self.random.choice([1, 1, 1, 2, 3])
        by = f"{name}++" if step == 1 else f"{name} += {step}"
        head = f"for (int {name} = {low}; {name} {self.random.choice(['<', '<='])} {high}; {by})"
        if self.random.random() < 0.25:
            by = f"{name}--" if step == 1 else f"{name} -= {step}"
            head = f"for (int {name} = {high}; {name} {self.random.choice(['>', '>='])} {low}; {by})"
        self.loops.append(name)
        known = len(self.scalars)
        body = "".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 3)))
        self.loops.pop()
        del self.scalars[known:]
        return f"{self.indent(depth)}{head} {{\n{body}{self.indent(depth)}}}\n"

    def bound(self) -> str:
        return self.random.choice(["0", "0", "1", "2", *self.loops, *(f"{v} + 1" for v in self.loops)])

    def branch(self, depth: int, condition: str) -> str:
        known = len(self.scalars)
        text = f"{self.indent(depth)}if ({condition}) {{\n{self.statement(depth + 1)}{self.indent(depth)}}}"
        del self.scalars[known:]
        if self.random.random() < 0.4:
            text += f" else {{\n{self.statement(depth + 1)}{self.indent(depth)}}}"
            del self.scalars[known:]
        return text + "\n"

    def condition(self) -> str:
        """Affine, with C's own division now and then."""
        left = self.random.choice(
            [*self.loops, f"{self.loops[0]} + {self.loops[-1]}", f"{self.loops[-1]} % 2"]
        )
        right = self.random.choice(["n / 2", "2", "1", *self.loops])
        text = f"{left} {self.random.choice(['<', '<=', '>', '==', '!='])} {right}"
        if self.random.random() < 0.3:
            text = (
                f"{text} {self.random.choice(['&&', '||'])} {self.loops[0]} - 3 < {self.random.choice(self.loops)} / 2"
            )
        return text

    def scalar(self, depth: int) -> str:
        value = self.value(1)
        self.fresh += 1
        self.scalars.append(f"s{self.fresh}")
        return f"{self.indent(depth)}double s{self.fresh} = {value};\n"

    def assignment(self, depth: int) -> str:
        target = self.random.choice(self.scalars) if self.scalars and self.random.random() < 0.3 else self.cell()
        op = self.random.choice(UPDATES)
        value = self.value(0) if op == "*=" else self.value(2)
        return f"{self.indent(depth)}{target} {op} {value};\n"

    def cell(self) -> str:
        array = self.random.choice(list(ARRAYS))
        return array + "".join(f"[{self.subscript()}]" for _ in range(ARRAYS[array]))

    def subscript(self) -> str:
        """Affine, shifted into the array; a gather now and then."""
        if not self.loops:
            return str(self.random.randint(0, 9))
        if self.random.random() < 0.06:
            return f"idx[{self.random.choice(self.loops)} + {SHIFT}]"
        v, w = self.random.choice(self.loops), self.random.choice(self.loops)
        forms = [
            v,
            v,
            f"{v} + 1",
            f"{v} - 1",
            f"{v} - {w}",
            f"{v} + {w} / 2",
            f"({v} - 2) / 2",
            f"({v} - 3) % 3",
            "n - 1",
        ]
        return f"{self.random.choice(forms)} + {SHIFT}"

    def value(self, size: int) -> str:
        leaves = [self.cell(), self.cell(), "x", "1", "2.0", *self.scalars, *self.loops]
        if size <= 0:
            return self.random.choice(leaves)
        a, b = self.value(size - 1), self.value(size - 2)
        loop = self.random.choice(self.loops or ["n"])
        forms = [
            f"{a} + {b}",
            f"{a} - {b}",
            f"({a} > {b} ? {a} : {b})",
            f"fmax({a}, {b})",
            f"-({a})",
            a,
            f"{loop} / 2 + {b}",
        ]
        return self.random.choice(forms)


def random_function(seed: int) -> str:
    """A function that does little work: nothing in it leaves its arrays for n up to 6."""
    return Writer(Random(seed)).function()
