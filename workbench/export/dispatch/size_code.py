"""Sizes as C: expressions over the sizes of a call, and the function that finds them from shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.helpers import Helpers
from workbench.codegen.c.names import Names
from workbench.export.dispatch.family import Family
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Const, Expr, Size, size_names, transform
from workbench.lang.printing.printer import show

PRELUDE = "#define WB_INLINE static inline __attribute__((unused))\n"


@dataclass
class SizeCode:
    """Prints what the sizes of a family say; `names` are those of C, `helpers` the functions that were needed."""

    family: Family
    names: Names = field(default_factory=Names)
    helpers: Helpers = field(default_factory=Helpers)

    def __post_init__(self) -> None:
        for own in ("a", "s", "which", "shape", "dense"):
            self.names("own", own)
        signed = frozenset(self.family.op.scalars)
        self.values = Values({}, self.names, self.helpers, set(), signed=signed)
        for symbol in self.family.symbols:
            self.names("size", symbol)

    def text(self, expr: Expr) -> str:
        """A whole number or a condition over sizes."""
        return self.values.text(in_64_bits(expr))

    def place(self, symbol: str) -> int:
        return self.family.symbols.index(symbol)

    def known(self, *exprs: Expr) -> str:
        """Declarations of the sizes that some expressions use, from the array `s`."""
        used = set().union(*(size_names(e) for e in exprs))
        declared = [f"{self.names('size', n)} = s[{self.place(n)}]" for n in self.family.symbols if n in used]
        return f"    const int64_t {', '.join(declared)};\n" if declared else "    (void)s;\n"

    def helper_texts(self) -> str:
        return PRELUDE + "\n".join(self.helpers.texts.values())


def in_64_bits(expr: Expr) -> Expr:
    """The expression in 64 bits."""
    return transform(expr, lambda node: replace(node, dtype=INT64) if node.dtype.is_integral else node)


def quoted(text: str) -> str:
    """A text as a literal of C."""
    plain = text.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{plain}"'


def printed(text: str) -> str:
    """A text as a format of printf; `@` in it is a whole number."""
    return quoted(text.replace("%", "%%")).replace("@", "%lld")


@dataclass
class Solver:
    """Writes `solve`: sizes from shapes, as a call of the operator in Python finds them."""

    code: SizeCode
    lines: list[str] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)

    def write(self) -> str:
        family, names = self.code.family, self.code.names
        own = ", ".join(f"{names('size', n)} = s[{self.code.place(n)}]" for n in family.symbols)
        for place, dimension, extent in self._telling():
            if isinstance(extent, Size) and extent.name not in family.op.scalars:
                self._plain(place, dimension, extent.name)
        self._arithmetic()
        for place, dimension, extent in self._telling():
            if not isinstance(extent, Size) or extent.name in family.op.scalars:
                self._check(place, dimension, extent)
        back = [f"s[{self.code.place(n)}] = {names('size', n)};" for n in self.solved]
        head = [f"int64_t {own};"] if own else ["(void)s;"]
        body = "".join(f"    {line}\n" for line in [*head, "(void)a;", *self.lines, *back, "return wb_holds(s);"])
        return f"static int wb_solve(const wb_array *a, int64_t *s)\n{{\n{body}}}\n"

    @property
    def solved(self) -> tuple[str, ...]:
        """The sizes that shapes tell, in the family's order."""
        return tuple(n for n in self.code.family.symbols if n in self.origin)

    def _telling(self) -> Iterator[tuple[int, int, Expr]]:
        """(place among the arrays, dimension, extent) of inputs, and of outputs that are updated."""
        op = self.code.family.op
        everything = (*self.code.family.inputs, *op.outputs)
        for place, name in enumerate(everything):
            if place < len(self.code.family.inputs) or op.tensors[name].role == "inout":
                for dimension, extent in enumerate(op.tensors[name].extent):
                    yield place, dimension, extent

    def _name(self, place: int) -> str:
        return (*self.code.family.inputs, *self.code.family.op.outputs)[place]

    def _plain(self, place: int, dimension: int, size: str) -> None:
        c_name, here = self.code.names("size", size), f"{self._name(place)}, dimension {dimension}"
        found = f"a[{place}].shape[{dimension}]"
        if size not in self.origin:
            self.origin[size] = here
            self.lines.append(f"{c_name} = {found};")
            return
        known = f"mismatched sizes for {size}: {size} = @ from {self.origin[size]}"
        self._refuse(f"{found} != {c_name}", f"{self.code.family.op.name}: {known}; {here} has @", c_name, found)

    def _refuse(self, condition: str, text: str, *numbers: str, status: str = "WB_BAD_SHAPE") -> None:
        """Lines that end the function; `@` in the text is a number."""
        given = "".join(f", (long long)({n})" for n in numbers)
        self.lines.append(f"if ({condition})")
        self.lines.append(f"    return wb_fail({status}, {printed(text)}{given});")

    def _arithmetic(self) -> None:
        """Dimensions that are arithmetic, each solved for its one unknown."""
        family = self.code.family
        unknown = [n for n in family.op.size_names if n not in self.origin]
        progress = True
        while unknown and progress:
            progress = False
            for place, dimension, extent in self._telling():
                free = size_names(extent) & set(unknown)
                if len(free) == 1:
                    (name,) = free
                    self._root(place, dimension, extent, name)
                    unknown.remove(name)
                    progress = True

    def _root(self, place: int, dimension: int, extent: Expr, name: str) -> None:
        c_name, here = self.code.names("size", name), f"{self._name(place)}, dimension {dimension}"
        self.origin[name] = here
        at = [self.code.text(_with(extent, name, n)) for n in range(3)]
        self.lines += [
            "{",
            f"    const int64_t wb_0 = {at[0]}, wb_slope = ({at[1]}) - wb_0;",
            f"    if (!wb_slope || ({at[2]}) - wb_0 != 2 * wb_slope)",
            f"        return wb_fail(WB_BAD_SHAPE, {printed(f'{self.code.family.op.name}: no shape tells {name}')});",
            f"    {c_name} = (a[{place}].shape[{dimension}] - wb_0) / wb_slope;",
            "}",
        ]

    def _check(self, place: int, dimension: int, extent: Expr) -> None:
        text, found = self.code.text(extent), f"a[{place}].shape[{dimension}]"
        least = f"(({text}) > 0 ? ({text}) : 0)"
        spelt = f"{show(extent)} = @" if not isinstance(extent, Const) else "the constant size @"
        here = f"{self.code.family.op.name}: {self._name(place)}, dimension {dimension} expected {spelt} but found @"
        self._refuse(f"{least} != {found}", here, least, found)


def _with(expr: Expr, name: str, value: int) -> Expr:
    def change(node: Expr) -> Expr:
        return Const(value, INT64) if isinstance(node, Size) and node.name == name else node

    return transform(in_64_bits(expr), change)


def holds_text(code: SizeCode) -> str:
    """`wb_holds`: no size is negative, and the operator's conditions hold."""
    op, lines = code.family.op, []
    for name in op.size_names:
        c_name = code.names("size", name)
        text = printed(f"{op.name}: the size {name} must not be negative, got @")
        lines.append(f"    if ({c_name} < 0) return wb_fail(WB_BAD_SIZE, {text}, (long long){c_name});\n")
    for condition in op.conditions:
        text = printed(f"{op.name}: {show(condition.expr)} does not hold: {condition.reason}")
        lines.append(f"    if (!({code.text(condition.expr)})) return wb_fail(WB_BAD_SIZE, {text});\n")
    sizes = [Size(n) for n in op.size_names]
    head = code.known(*sizes, *(c.expr for c in op.conditions))
    return f"static int wb_holds(const int64_t *s)\n{{\n{head}{''.join(lines)}    return 0;\n}}\n"
