"""Random operators that update small tensors in place: sequential axes, cells just written, all integer types."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.properties.writer import Case

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = (*INTEGERS, "float", "float", "double", "double", "double")
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)


@dataclass
class Places:
    """Writes one operator: tensors copied from inputs, then rewritten by loops of known length."""

    random: Random
    tensors: dict[str, tuple[str, list[int]]] = field(default_factory=dict)
    inputs: dict[str, tuple[str, list[int]]] = field(default_factory=dict)

    def case(self, name: str) -> Case:
        """The text, with what its inputs hold."""
        self.open = self.random.random() < 0.3
        self.n = self.random.choice(SIZES)
        lines = [self.copied(letter) for letter in "STU"[: self.random.choice((1, 1, 2))]]
        for _ in range(self.random.choice((1, 1, 2, 3))):
            lines += self.loop() if self.chance(0.6) else [f"    {self.update([])}"]
        if self.chance(0.4):
            lines.append(f"    {self.derived()}")
        given = ", ".join(self.declared(n, *box) for n, box in self.inputs.items())
        outputs = ", ".join([*self.tensors, *(["o"] if lines[-1].startswith("    o(") else [])])
        text = f"def {name}({given}) -> ({outputs}) {{\n" + "\n".join(lines) + "\n}"
        sizes = {"N": self.n} if self.open else {}
        data = {n: ("small" if t in ("float", "double") else self.random.choice(("small", "extreme")), 0, 0)
                for n, (t, _) in self.inputs.items()}  # fmt: skip
        return Case(text, sizes, {}, data, {})

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def declared(self, name: str, dtype: str, extents: list[int]) -> str:
        dims = [f"N + {x - self.n}" if self.open and d == 0 else str(x) for d, x in enumerate(extents)]
        if self.open and extents[0] == self.n:
            dims[0] = "N"
        return f"{dtype}({', '.join(dims)}) {name}"

    def copied(self, letter: str) -> str:
        """`S(i,j) = A(i,j)`: what is rewritten later."""
        dtype, rank = self.random.choice(TYPES), self.random.choice((1, 2, 2, 2, 3))
        extents = [self.random.choice(SIZES) + self.random.choice((0, 2, 4)) for _ in range(rank)]
        if self.open:
            extents[0] = self.n + self.random.choice((0, 0, 2, 4))
        self.tensors[letter] = self.inputs["ABC"["STU".index(letter)]] = (dtype, extents)
        names = ", ".join("ijk"[:rank])
        return f"    {letter}({names}) = {'ABC'['STU'.index(letter)]}({names})"

    def loop(self) -> list[str]:
        """`for i in 0:8 { S(i+4,j+2) = S(i+3,j+1) * 0.5 where j in 0:5 }`"""
        first = self.random.choice(list(self.tensors))
        extent = self.tensors[first][1][0]
        count = self.random.randint(1, max(1, min(extent, 12)))
        end = f"N - {self.n - count}" if self.open and self.chance(0.5) and count <= self.n else str(count)
        write = self.shifted if self.chance(0.5) else self.update
        statements = [f"        {write([('t', count)])}" for _ in range(self.random.choice((1, 1, 2)))]
        return [f"    for t in 0:{end} {{", *statements, "    }"]

    def update(self, outer: list[tuple[str, int]]) -> str:
        """One statement on a tensor that exists; indices run over parts of it."""
        name = self.random.choice(list(self.tensors))
        dtype, extents = self.tensors[name]
        axes, subscripts, ranges = list(outer), [], []
        for d, extent in enumerate(extents):
            fits = [a for a in outer if a[1] <= extent and a[0] not in "".join(subscripts)]
            if fits and self.chance(0.7):
                axis = fits[0]
            else:
                axis = ("ijk"[d], self.random.randint(1, extent))
                axes.append(axis)
                ranges.append(f"{axis[0]} in 0:{axis[1]}")
            subscripts.append(self.place(axis, extent))
        value = self.value(dtype, axes, 2)
        operator = self.random.choice(("=", "=", "=", "+=", "max=" if dtype != "bool" else "="))
        where = f" where {', '.join(ranges)}" if ranges else ""
        return f"{name}({', '.join(subscripts)}) {operator} {value}{where}"

    def shifted(self, outer: list[tuple[str, int]]) -> str:
        """`S(t+4,j+2) = S(t+3,j+1) * 0.5 where j in 0:5`: a tensor from its own cells a little way off."""
        name = self.random.choice(list(self.tensors))
        dtype, extents = self.tensors[name]
        target, source, ranges = [], [], []
        for d, extent in enumerate(extents):
            index, count = outer[0] if d == 0 and outer[0][1] <= extent else ("ijk"[d], 0)
            if not count:
                count = max(1, extent - self.random.choice((0, 1, 2, 4)))
                ranges.append(f"{index} in 0:{count}")
            shift = self.random.randint(0, extent - count)
            near = min(max(shift + self.random.choice((-2, -1, -1, 0, 1)), 0), extent - count)
            target.append(f"{index} + {shift}")
            source.append(f"{index} + {near}")
        cell = f"{name}({', '.join(source)})"
        value = self.random.choice((f"{cell} / 2", f"{cell} * 3 + 1", f"{cell} % 5") if dtype in INTEGERS else
                                   (f"{cell} * 0.5", f"{cell} * 0.5", f"-{cell}"))  # fmt: skip
        where = f" where {', '.join(ranges)}" if ranges else ""
        return f"{name}({', '.join(target)}) = {dtype}({value}){where}"

    def place(self, axis: tuple[str, int], extent: int) -> str:
        """An index shifted to somewhere inside."""
        name, count = axis
        shift = self.random.randint(0, extent - count)
        if self.chance(0.15):
            return f"{count - 1 + shift} - {name}"
        return f"{name} + {shift}" if shift else name

    def read(self, axes: list[tuple[str, int]], dtypes: tuple[str, ...]) -> str | None:
        """A cell of a tensor or an input of one of these types."""
        known = [(n, x) for n, (t, x) in {**self.inputs, **self.tensors}.items() if t in dtypes]
        if not known:
            return None
        name, extents = self.random.choice(known)
        subscripts = []
        for extent in extents:
            fits = [a for a in axes if a[1] <= extent]
            chosen = self.random.choice(fits) if fits and self.chance(0.9) else None
            subscripts.append(self.place(chosen, extent) if chosen else str(self.random.randrange(extent)))
        return f"{name}({', '.join(subscripts)})"

    def derived(self) -> str:
        """A reduction, or an elementwise map with booleans in arithmetic, to a tensor of its own."""
        name = self.random.choice(list(self.tensors))
        dtype, extents = self.tensors[name]
        axes = list(zip("ijk", extents, strict=False))
        cell = f"{name}({', '.join(a for a, _ in axes)})"
        if len(axes) > 1 and self.chance(0.5):
            ranges = ", ".join(f"{a} in 0:{n}" for a, n in axes)
            return f"o(i) {self.random.choice(('+=!', 'max=!', 'min=!'))} {cell} where {ranges}"
        ranges = ", ".join(f"{a} in 0:{n}" for a, n in axes)
        value = self.integer(axes, 3, "int32") if dtype in INTEGERS else self.real(axes, 2, dtype)
        return f"o({', '.join(a for a, _ in axes)}) = {value} where {ranges}"

    # -- values

    def value(self, dtype: str, axes: list[tuple[str, int]], size: int) -> str:
        if dtype in INTEGERS:
            return f"{dtype}({self.integer(axes, size, dtype)})"
        return f"{dtype}({self.real(axes, size, dtype)})"

    def real(self, axes: list[tuple[str, int]], size: int, dtype: str) -> str:
        a = self.read(axes, (dtype,)) or "1.0"
        if size <= 0:
            return a
        b = self.real(axes, size - 1, dtype)
        return self.random.choice((
            f"{a} * 0.5", f"{a} * 0.5", f"({a} + {b}) * 0.5", f"({a} - {b})", f"max({a}, {b})", f"-{a}",
            f"({self.condition(axes)} ? {a} : {b})", f"{dtype}(int32({self.condition(axes)})) + {a}",
        ))  # fmt: skip

    def integer(self, axes: list[tuple[str, int]], size: int, dtype: str) -> str:
        if size <= 0:
            leaf = self.random.choice(("own", "own", "any", "axis", "number"))
            found = self.read(axes, (dtype,) if leaf == "own" else INTEGERS) if leaf in ("own", "any") else None
            return found or (self.random.choice(axes)[0] if leaf == "axis" and axes else self.random.choice("123579"))
        a, b = self.integer(axes, size - 1, dtype), self.integer(axes, self.random.randrange(size), dtype)
        match self.random.choice("+++--**/%/%&|^<>cct"):
            case "/" | "%" as op:
                return f"({a} {op} {self.random.choice(('2', '3', '7', b, b))})"
            case "<" | ">" as op:
                return f"({a} {op}{op} {self.random.choice(('1', '3', f'({b} & 7)'))})"
            case "c":
                return f"({self.condition(axes)} ? {a} : {b})" if self.chance(0.5) else self.counted(axes)
            case "t":
                return f"{self.random.choice(INTEGERS)}({a})"
            case op:
                return f"({a} {op} {b})"

    def counted(self, axes: list[tuple[str, int]]) -> str:
        """`int32(a < b) % 2`: a truth in arithmetic."""
        made = f"{self.random.choice(INTEGERS)}({self.condition(axes)})"
        return self.random.choice((made, f"({made} % 2)", f"({made} / 2)", f"(-{made})", f"({made} * 3)"))

    def condition(self, axes: list[tuple[str, int]]) -> str:
        op = self.random.choice(("<", "<=", ">", ">=", "==", "!="))
        dtype = self.random.choice(INTEGERS) if self.chance(0.6) else self.random.choice(("float", "double"))
        a, b = self.read(axes, (dtype,)), self.read(axes, (dtype,))
        if a is None or b is None:
            a, b = self.integer(axes, 1, "int32"), self.integer(axes, 0, "int32")
        return f"({a} {op} {b})"
