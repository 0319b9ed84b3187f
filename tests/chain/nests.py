"""Random C functions: nests that update small arrays of every type in place, with all conversions of C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

INTEGERS = ("signed char", "uint8_t", "short", "uint16_t", "int", "uint32_t", "long", "uint64_t", "_Bool")
FLOATS = ("float", "double", "double")
LITERALS = ("1", "2", "3", "7", "100", "5u", "4ul", "3l", "0x80", "255", "40000", "2147483647", "4294967295u")
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)


@dataclass
class Block:
    """An array: its type and how far each dimension is used, from 0; `low` and `high` hold at the sizes of the case."""

    name: str
    ctype: str
    high: list[int]
    symbolic: list[bool]


@dataclass(frozen=True)
class Loop:
    """A variable with its first and last value."""

    name: str
    low: int
    high: int


@dataclass(frozen=True)
class Nest:
    """A C function, the values of its integers, and the shape and type of each array."""

    text: str
    sizes: Mapping[str, int]
    arrays: Mapping[str, tuple[str, tuple[int, ...]]]
    numbers: Mapping[str, str]


@dataclass
class Nests:
    """Writes one function.  Subscripts are kept inside the arrays; all else is as wild as C allows."""

    random: Random
    arrays: list[Block] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    scalars: list[tuple[str, str]] = field(default_factory=list)
    fresh: int = 0
    straight: bool = False

    def nest(self, name: str) -> Nest:
        """The function and what it is called with."""
        self.n = self.random.choice(SIZES)
        tight = self.straight = self.chance(0.5)
        self.open = not tight and self.chance(0.5)
        common = self.random.choice((*INTEGERS, *FLOATS)) if tight else ""
        for letter in "ABCD"[: self.random.choice((1, 2, 2, 3, 4))]:
            rank = self.random.choice((1, 2, 2, 2) if tight else (1, 1, 2, 2, 2, 3))
            ctype = common or self.random.choice(INTEGERS if self.chance(0.6) else FLOATS)
            symbolic = [self.open and self.chance(0.5) for _ in range(rank)]
            self.arrays.append(Block(letter, ctype, [0] * rank, symbolic))
        self.number = self.random.choice((*INTEGERS[:-1], "double"))
        one = self.tight if tight else self.loop
        body = "".join(one(1) for _ in range(self.random.choice((1, 1, 1, 2, 2, 3))))
        sizes = {"n": self.n} if self.open else {}
        given = [f"int {s}" for s in sizes] + [f"{self.number} x"] + [self.declared(a) for a in self.arrays]
        text = f"void {name}({', '.join(given)})\n{{\n{body}}}\n"
        arrays = {a.name: (a.ctype, tuple(h + 1 for h in a.high)) for a in self.arrays}
        return Nest(text, sizes, arrays, {"x": self.number})

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def declared(self, block: Block) -> str:
        dims = ""
        for d, high in enumerate(block.high):
            if block.symbolic[d]:
                block.high[d] = high = max(high, self.n - 1)
                dims += f"[n + {high + 1 - self.n}]"
            else:
                dims += f"[{high + 1}]"
        return f"{block.ctype} {block.name}{dims}"

    # -- statements

    def tight(self, depth: int) -> str:
        """A perfect nest of short loops around one statement: what compilers reorder gladly, and wrongly."""
        low, count = self.random.choice((0, 0, 1)), self.random.choice(SIZES)
        name, indent = "ijk"[depth - 1], "    " * depth
        self.loops.append(Loop(name, low, low + count - 1))
        last = depth == 3 or (depth == 2 and self.chance(0.6))
        if last:
            block = self.random.choice(self.arrays)
            operator = self.random.choice(("=", "=", "=", "+="))
            body = f"{indent}    {self.cell(block)} {operator} {self.terms(block)};\n"
        else:
            body = self.tight(depth + 1)
        self.loops.pop()
        return f"{indent}for (int {name} = {low}; {name} < {low + count}; {name}++) {{\n{body}{indent}}}\n"

    def terms(self, block: Block) -> str:
        """A sum of a few cells, first of all of the array itself, shifted."""
        count = self.random.choice((1, 1, 2, 3))
        cells = [self.cell(self.random.choice((block, block, *self.arrays))) for _ in range(count)]
        whole = ("2 * {0}", "{0}", "{0}", "{0} % 3", "{0} / 2", "({0} < {1}) % 2", "(~{0} & 7)")
        shapes = ("{0} * 0.5", "{0}", "2 * {0}") if block.ctype in FLOATS else whole
        return " + ".join(self.random.choice(shapes).format(c, cells[0]) for c in cells)

    def loop(self, depth: int) -> str:
        """A loop up or down, often of a few iterations known to the compiler."""
        name, indent = "ijkl"[len(self.loops)], "    " * depth
        low = self.random.choice((0, 0, 0, 1, 2))
        count = self.random.choice(SIZES if depth < 3 else SIZES[:6])
        end = str(low + count)
        if self.open and self.chance(0.6):
            count, end = self.n, f"n + {low}" if low else "n"
        start, inner = str(low), [v for v in self.loops if v.low == low]
        if inner and self.chance(0.2):
            start = self.random.choice(inner).name
        step, kind = self.random.choice((1, 1, 1, 1, 2, 3)), self.random.choice(("int", "int", "int", "long"))
        head = f"for ({kind} {name} = {start}; {name} < {end}; {name}{'++' if step == 1 else f' += {step}'})"
        if self.chance(0.15) and step == 1:
            head = f"for ({kind} {name} = {end} - 1; {name} >= {start}; {name}--)"
        self.loops.append(Loop(name, low, low + count - 1))
        known = len(self.scalars)
        more = depth < 3 and self.chance((0, 0.85, 0.35)[depth])
        body = self.loop(depth + 1) if more else ""
        for _ in range(self.random.choice((0, 0, 1) if more else (1, 1, 1, 2, 3))):
            body += self.statement(depth + 1)
        self.loops.pop()
        del self.scalars[known:]
        return f"{indent}{head} {{\n{body}{indent}}}\n"

    def statement(self, depth: int) -> str:
        indent = "    " * depth
        match self.random.choice("aaaaaaasif"):
            case "s":
                ctype = self.random.choice((*INTEGERS, "double"))
                self.fresh += 1
                text = f"{indent}{ctype} s{self.fresh} = {self.value(ctype, 2)};\n"
                self.scalars.append((f"s{self.fresh}", ctype))
                return text + self.statement(depth)
            case "i" | "f" as kind:
                condition = self.affine() if kind == "f" else self.condition(1)
                known = len(self.scalars)
                text = f"{indent}if ({condition}) {{\n{self.statement(depth + 1)}{indent}}}"
                del self.scalars[known:]
                if self.chance(0.3):
                    text += f" else {{\n{self.statement(depth + 1)}{indent}}}"
                    del self.scalars[known:]
                return text + "\n"
        block = self.random.choice(self.arrays)
        ops = ("=", "=", "=", "+=", "-=") if block.ctype in FLOATS else ("=", "=", "=", "+=", "-=", "*=", "^=", "|=")
        target = self.cell(block)
        return f"{indent}{target} {self.random.choice(ops)} {self.value(block.ctype, 3)};\n"

    def cell(self, block: Block) -> str:
        return block.name + "".join(f"[{self.subscript(block, d)}]" for d in range(len(block.high)))

    def subscript(self, block: Block, d: int) -> str:
        """Affine in one or two loops, shifted so that it is never negative."""
        a, b = self.random.choice(self.loops), self.random.choice(self.loops)
        form = self.random.choice("aaaaaaa+-2rc")
        if self.straight and self.chance(0.8):
            a, form = self.loops[min(d, len(self.loops) - 1)], "a"
        match form:
            case "+" if a is not b:
                text, low, high = f"{a.name} + {b.name}", a.low + b.low, a.high + b.high
            case "-" if a is not b:
                text, low, high = f"{a.name} - {b.name}", a.low - b.high, a.high - b.low
            case "2":
                text, low, high = f"2 * {a.name}", 2 * a.low, 2 * a.high
            case "r":
                text, low, high = f"{a.high} - {a.name}", 0, a.high - a.low
            case "c":
                text, low, high = "", 0, 0
            case _:
                text, low, high = a.name, a.low, a.high
        shift = max(-low, 0) + self.random.choice((0, 0, 1, 1, 2, 3)) - (low if low > 0 and self.chance(0.3) else 0)
        block.high[d] = max(block.high[d], high + shift, 0)
        if not text:
            return str(shift)
        return text + (f" + {shift}" if shift > 0 else f" - {-shift}" if shift else "")

    # -- values

    def value(self, ctype: str, size: int) -> str:
        """An expression for a cell of a type; floats keep to values whose products are exact, most of the time."""
        return self.real(size) if ctype in FLOATS else self.integer(size)

    def real(self, size: int) -> str:
        blocks = [a for a in self.arrays if a.ctype in FLOATS]
        if size <= 0 or self.chance(0.2):
            leaf = self.random.choice("rrrrcis")
            if leaf == "r" and blocks:
                return self.cell(self.random.choice(blocks))
            if leaf == "s" and (whole := [s for s, t in self.scalars if t not in FLOATS]):
                return f"({self.random.choice(whole)} & 7)"
            if leaf == "i":
                return f"({self.integer(1)} & 15)"
            return self.random.choice(("0.5", "2.0", "3", "1.0f", self.random.choice(self.loops).name))
        a, b = self.real(size - 1), self.real(size - 2)
        return self.random.choice((
            f"({a} + {b})", f"({a} - {b})", f"{a} * 0.5", f"0.5f * {a}", f"{a} * 2", f"-({a})", f"fmax({a}, {b})",
            f"({self.condition(size - 1)} ? {a} : {b})", f"({a} + {self.condition(size - 1)})", f"(float)({a})",
        ))  # fmt: skip

    def integer(self, size: int) -> str:
        if size <= 0 or self.chance(0.15):
            return self.leaf()
        a, b = self.integer(size - 1), self.integer(size - 2)
        match self.random.choice("+++---**&|^/%/%<>c?n~tt"):
            case "/" | "%" as op:
                by = self.random.choice(("2", "3", "7", "-3", "5u", f"(({b} & 7) + 1)", f"({b} | 1)"))
                return f"({a} {op} {by})"
            case "<":
                return f"({a} << {self.random.choice(('1', '3', f'({b} & 7)'))})"
            case ">":
                return f"({a} >> {self.random.choice(('1', '3', f'({b} & 7)'))})"
            case "c":
                return f"({self.condition(size - 1)})"
            case "?":
                return f"({self.condition(size - 1)} ? {a} : {b})"
            case "n":
                return f"-({a})" if self.chance(0.7) else f"!{self.leaf()}"
            case "~":
                return f"~({a})"
            case "t":
                if self.chance(0.15) and size > 1:
                    return f"({self.random.choice(INTEGERS[2:])})({self.real(1)})"
                return f"({self.random.choice(INTEGERS)})({a})"
            case op:
                return f"({a} {op} {b})"

    def leaf(self) -> str:
        blocks = [a for a in self.arrays if a.ctype not in FLOATS]
        match self.random.choice("rrrrrrlivsn"):
            case "r" if blocks:
                return self.cell(self.random.choice(blocks))
            case "l":
                return self.random.choice(LITERALS)
            case "s" if any(t not in FLOATS for _, t in self.scalars):
                return self.random.choice([s for s, t in self.scalars if t not in FLOATS])
            case "n" if self.number not in FLOATS:
                return "x"
        return self.random.choice(self.loops).name

    def condition(self, size: int) -> str:
        """A comparison: of integers of any two types, of floats, of loops."""
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        match self.random.choice("iiiffa&|"):
            case "f":
                return f"{self.real(size - 1)} {op} {self.real(size - 2)}"
            case "a":
                return self.affine()
            case "&" | "|" as join if size > 0:
                return f"({self.condition(size - 1)} {join}{join} {self.condition(size - 2)})"
        return f"{self.integer(size - 1)} {op} {self.integer(size - 2)}"

    def affine(self) -> str:
        """Loops against numbers; with unsigned ones now and then."""
        a, b = self.random.choice(self.loops).name, self.random.choice(self.loops).name
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        right = self.random.choice((b, "2", "3", f"{b} + 1", "n / 2" if self.open else "4", f"{b} % 3"))
        if self.chance(0.2):
            return self.random.choice((f"{a} - 3 {op} 5u", f"(unsigned)({a} - 2) {op} 4u", f"{a} - 1 {op} 2ul"))
        return f"{a} {op} {right}" if self.chance(0.8) else f"({a} + {b}) % 2 == 0"
