"""Operators built by hand and at random, without the parser: small sizes, every kind of subscript."""

from __future__ import annotations

from random import Random

from workbench.lang.dtypes import BOOL, FLOAT32, INT32
from workbench.lang.expr import Binary, Const, Expr, Index, Read, Select, Size
from workbench.lang.operator import Condition, For, Operator, Range, Statement, Step, Target, Tensor

LOWEST, CELLS = -4, 15


def num(value: int) -> Expr:
    return Const(value, INT32)


def lift(value: Expr | str | int) -> Expr:
    """A number, a size (upper case) or an index."""
    if isinstance(value, int):
        return num(value)
    if isinstance(value, str):
        return Size(value) if value[0].isupper() else Index(value)
    return value


def calc(left: Expr | str | int, op: str, right: Expr | str | int) -> Expr:
    comparison = op in ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
    return Binary(op, lift(left), lift(right), BOOL if comparison else INT32)


def read(tensor: str, *subscripts: Expr | str | int) -> Expr:
    return Read(tensor, tuple(map(lift, subscripts)), FLOAT32)


def add(a: Expr, b: Expr) -> Expr:
    return Binary("+", a, b, FLOAT32)


def mul(a: Expr, b: Expr) -> Expr:
    return Binary("*", a, b, FLOAT32)


def select(condition: Expr, then: Expr, otherwise: Expr | None = None) -> Expr:
    return Select(condition, then, otherwise or Const(0.0, FLOAT32), FLOAT32)


def tensor(name: str, role: str, *extents: Expr | str | int, lower: int = 0, dtype=FLOAT32) -> Tensor:
    return Tensor(name, dtype, tuple(num(lower) for _ in extents), tuple(map(lift, extents)), role)


def span(index: str, upper: Expr | str | int, kind: str = "free", lower: Expr | str | int = 0) -> Range:
    return Range(index, lift(lower), lift(upper), kind)


def statement(
    target: tuple,
    value: Expr,
    ranges: list[Range],
    reduction=None,
    *,
    initialise: bool = False,
    name: str = "",
) -> Statement:
    cell = Target(target[0], tuple(map(lift, target[1:])))
    return Statement(name or target[0], (cell,), reduction, initialise, (value,), tuple(ranges))


def op(
    name: str,
    tensors: list[Tensor],
    body: list[Step],
    sizes: str = "",
    scalars: tuple[str, ...] = (),
    conditions: tuple[Condition, ...] = (),
) -> Operator:
    return Operator(
        name,
        tuple(t.name for t in tensors if t.role == "input"),
        tuple(t.name for t in tensors if t.role in ("output", "inout")),
        {t.name: t for t in tensors},
        tuple(sizes.split()),
        scalars,
        tuple(body),
        repr((name, tensors, body, conditions)),
        conditions,
    )


def matmul() -> Operator:
    tensors = [
        tensor("A", "input", "M", "K"),
        tensor("B", "input", "K", "N"),
        tensor("C", "output", "M", "N"),
    ]
    ranges = [span("m", "M"), span("n", "N"), span("k", "K", "reduction")]
    body = [
        statement(
            ("C", "m", "n"), mul(read("A", "m", "k"), read("B", "k", "n")), ranges, "+", initialise=True
        )
    ]
    return op("matmul", tensors, body, "M N K")


def conv(stride: Expr | int = 1, scalars: tuple[str, ...] = ()) -> Operator:
    """A 7-deep convolution; the output extents P and Q are sizes of their own to keep the text short."""
    tensors = [
        tensor("I", "input", "N", "C", "H", "W"),
        tensor("F", "input", "K", "C", "R", "S"),
        tensor("O", "output", "N", "K", "P", "Q"),
    ]
    ranges = [span(d.lower(), d) for d in "NKPQ"] + [span(d.lower(), d, "reduction") for d in "CRS"]
    h, w = calc(calc(stride, "*", "p"), "+", "r"), calc(calc(stride, "*", "q"), "+", "s")
    value = mul(read("I", "n", "c", h, w), read("F", "k", "c", "r", "s"))
    body = [statement(("O", "n", "k", "p", "q"), value, ranges, "+", initialise=True)]
    return op("conv", tensors, body, "N C H W K R S P Q", scalars)


def seidel() -> Operator:
    """Gauss-Seidel in one dimension: in place, T sweeps."""
    t = span("t", "T", "sequential")
    i = span("i", calc("N", "-", 1), lower=1)
    value = add(add(read("A", calc("i", "-", 1)), read("A", "i")), read("A", calc("i", "+", 1)))
    body = [For(t, (statement(("A", "i"), value, [t, i]),))]
    return op("seidel", [tensor("A", "inout", "N")], body, "T N")


def jacobi() -> Operator:
    """Two statements in a time loop, ping and pong."""
    t = span("t", "T", "sequential")
    i = span("i", calc("N", "-", 1), lower=1)

    def around(name: str) -> Expr:
        return add(read(name, calc("i", "-", 1)), read(name, calc("i", "+", 1)))

    body = [For(t, (statement(("B", "i"), around("A"), [t, i]), statement(("A", "i"), around("B"), [t, i])))]
    return op("jacobi", [tensor("A", "inout", "N"), tensor("B", "temporary", "N")], body, "T N")


class Maker:
    """Random operators over sizes N and M: shifts, strides, triangles, guards, time loops, in-place
    updates.
    """

    def __init__(self, seed: int, *, gathers: bool = False) -> None:
        self.random = Random(seed)
        self.gathers = gathers
        self.tensors: dict[str, Tensor] = {}
        self.counter = 0

    def operator(self) -> Operator:
        for name in ("A", "B"):
            rank = self.random.choice((1, 1, 2))
            self.tensors[name] = tensor(name, "input", *[CELLS] * rank, lower=LOWEST)
        if self.gathers:
            self.tensors["idx"] = tensor("idx", "input", CELLS, lower=LOWEST, dtype=INT32)
        for name in ("X", "Y", "Z"):
            rank = self.random.choice((0, 1, 1, 2))
            self.tensors[name] = tensor(name, "inout", *[CELLS] * rank, lower=LOWEST)
        body: list[Step] = []
        for _ in range(self.random.choice((1, 2, 2, 3))):
            if self.random.random() < 0.3:
                axis = span(self.fresh("t"), self.random.choice(("N", 2, 3)), "sequential")
                body.append(
                    For(axis, tuple(self.statement((axis,)) for _ in range(self.random.choice((1, 2)))))
                )
            else:
                body.append(self.statement(()))
        return op("random", list(self.tensors.values()), body, "N M")

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def statement(self, axes: tuple[Range, ...]) -> Statement:
        target = self.tensors[self.random.choice("XYZ")]
        free: list[Range] = []
        subscripts: list[Expr] = []
        plain = self.random.random() < 0.7
        for _ in range(target.rank):
            index = self.range("i", "free", [*axes, *free])
            free.append(index)
            subscripts.append(Index(index.index) if plain else self.subscript([index]))
        reduction = self.random.choice((None, None, "+", "max", "*"))
        reduced: list[Range] = []
        if reduction is not None:
            for _ in range(self.random.choice((0, 1, 1, 2))):
                reduced.append(self.range("k", "reduction", [*axes, *free, *reduced]))
        ranges = [*axes, *free, *reduced]
        initialise = reduction is not None and self.random.random() < 0.6
        name = self.fresh(f"{target.name}.")
        value = self.value(ranges)
        return statement(
            (target.name, *subscripts), value, ranges, reduction, initialise=initialise, name=name
        )

    def range(self, stem: str, kind: str, before: list[Range]) -> Range:
        lower: Expr = num(self.random.choice((0, 0, 0, 1)))
        upper = lift(self.random.choice(("N", "M", 2, 3)))
        if before and self.random.random() < 0.25:
            other = Index(self.random.choice(before).index)
            if self.random.random() < 0.5:
                lower = other
            else:
                upper = calc(other, "+", 1)
        return Range(self.fresh(stem), lower, upper, kind)

    def subscript(self, ranges: list[Range]) -> Expr:
        if not ranges:
            return num(self.random.randrange(3))
        index = Index(self.random.choice(ranges).index)
        if self.gathers and self.random.random() < 0.4:
            return Read("idx", (index,), INT32)
        other = Index(self.random.choice(ranges).index)
        return self.random.choice(
            (
                index,
                index,
                index,
                calc(index, "+", 1),
                calc(index, "-", 1),
                calc(index, "+", other),
                calc(index, "-", other),
                calc(2, "*", index),
                calc(index, "/", 2),
                calc(index, "%", 2),
                calc(3, "-", index),
                Select(calc(index, "<", 1), num(0), calc(index, "-", 1), INT32),
            )
        )

    def value(self, ranges: list[Range]) -> Expr:
        terms = [self.term(ranges) for _ in range(self.random.choice((1, 2)))]
        return terms[0] if len(terms) == 1 else add(*terms)

    def term(self, ranges: list[Range]) -> Expr:
        source = self.random.choice([t for t in self.tensors.values() if t.name != "idx"])
        access = read(source.name, *(self.subscript(ranges) for _ in range(source.rank)))
        if ranges and self.random.random() < 0.3:
            condition = calc(self.subscript(ranges), self.random.choice(("<", "==", "!=", ">=")), num(1))
            if self.random.random() < 0.3:
                condition = calc(condition, self.random.choice(("&&", "||")), calc(ranges[0].index, ">", 0))
            return select(condition, access, read("A", *[0] * self.tensors["A"].rank))
        return access
