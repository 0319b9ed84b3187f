"""Programs made for the steps that a random program seldom allows: products, producers with readers, recurrences."""

from __future__ import annotations

from random import Random

import workbench as wb
from tests.poly.making import CELLS, LOWEST, add, calc, mul, num, op, read, select, span, statement, tensor
from workbench.lang.expr import Expr, Index, Select
from workbench.lang.operator import For, Operator, Range, Statement, Step

BODIES = (
    ("float(M,K) A, float(K,N) B", "C(m,n) {by}=! A(m,k) {op} B(k,n)"),
    ("float(K,M) A, float(N,K) B", "C(m,n) {by}=! A(k,m) {op} B(n,k)"),
    ("float(M,K) A, float(K) B", "C(m) {by}=! A(m,k) {op} B(k)"),
    ("float(M) A, float(N) B", "C(m,n) = A(m) {op} B(n)"),
    ("float(M,N) A, float(M,N) B", "C(m) {by}=! A(m,n) {op} B(m,n)"),
    ("float(M,N) A", "C(n,m) = A(m,n)"),
    ("float(M) A, float(M) B", "C(m) = A(m) + B(m)"),
    ("float(N+K) A, float(K) B", "C(n) {by}=! A(n+k) {op} B(k) where n in 0:N, k in 0:K"),
    ("float(M,K) A, float(K,N) B, float(M) S", "C(m,n) {by}=! A(m,k) {op} B(k,n) {op} S(m)"),
    ("float(M,M) A, float(M) B", "C(m) {by}=! A(m,k) {op} B(k) where m in 0:M, k in 0:m+1"),
)
AFTER = ("D(*) = C(*) > 0 ? C(*) : 0", "D(*) = C(*) + C(*)", "D({first}) max=! C(*)", "C(*) = C(*) + 1", "")


def product(seed: int) -> Operator:
    """Something like a product, and something after it."""
    random = Random(seed)
    parameters, body = random.choice(BODIES)
    by, combine = random.choice((("+", "*"), ("+", "*"), ("+", "*"), ("max", "+"), ("min", "+"), ("*", "+")))
    subscripts = body[2 : body.index(")")]
    after = random.choice(AFTER).replace("*", subscripts, 9) if not body.startswith("C(n) {") else ""
    after = after.replace("{first}", subscripts.split(",")[0])
    outputs = [n for n in "CD" if f"{n}(" in body + after]
    if "D" in outputs and random.random() < 0.5:
        outputs = ["D"]
    first = body.format(by=by, op=combine)
    return wb.operator(f"def product({parameters}) -> ({', '.join(outputs)}) {{\n    {first}\n    {after}\n}}")


class Producers:
    """Arrays the program keeps to itself, who reads them, and who overwrites what they were made of."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.counter = 0

    def operator(self) -> Operator:
        tensors = [tensor("A", "input", CELLS, lower=LOWEST), tensor("X", "inout", CELLS, lower=LOWEST)]
        body: list[Step] = [self.made("T", ("A", "X", "X"))]
        names = ["T"]
        if self.random.random() < 0.4:
            names.append("U")
            body.append(self.made("U", ("A", "X", "T", "T")))
        readers = [self.reader("O", names)]
        if self.random.random() < 0.35:
            readers.append(self.reader("P", names))
        if self.random.random() < 0.55:
            readers.insert(self.random.randrange(len(readers) + 1), self.overwriting())
        body += readers
        if self.random.random() < 0.4:
            axis = span("t", self.random.choice((2, "N")), "sequential")
            body = [For(axis, tuple(self.inside(s, axis) for s in body if isinstance(s, Statement)))]
        tensors += [tensor(n, "temporary", CELLS, lower=LOWEST) for n in names]
        tensors += [tensor(n, "inout", CELLS, lower=LOWEST) for n in "OP" if any(s.name == n for s in readers)]
        return op("producers", tensors, body, "N M")

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    def inside(self, s: Statement, axis: Range) -> Statement:
        return Statement(s.name, s.targets, s.reduction, s.initialise, s.values, (axis, *s.ranges))

    def made(self, name: str, sources: tuple[str, ...]) -> Statement:
        """All cells that anybody reads, from what lies at hand."""
        i = Range(self.fresh("i"), num(-1), num(self.random.choice((5, 6))), "free")
        first = read(self.random.choice(sources), self.near(i))
        value = self.random.choice((first, add(first, read("A", i.index)), mul(first, read("A", self.near(i)))))
        if self.random.random() < 0.15:
            return statement((name, i.index), value, [i, span(self.fresh("k"), 2, "reduction")], "+", initialise=True)
        return statement((name, i.index), value, [i])

    def near(self, i: Range) -> Expr:
        index = Index(i.index)
        return self.random.choice((index, index, index, calc(index, "-", 1), calc(index, "+", 1)))

    def reader(self, name: str, sources: list[str]) -> Statement:
        i = span(self.fresh("i"), self.random.choice(("N", "M", 3, 4)))
        ranges = [i]
        index: Expr = Index(i.index)
        inner: Expr = index
        reduction = self.random.choice((None, None, "+", "max"))
        if reduction:
            k = span(self.fresh("k"), self.random.choice((2, 2, 1)), "reduction")
            ranges.append(k)
            inner = calc(index, "+", k.index)
        where = self.random.choice((inner, inner, calc(index, "/", 2), calc(3, "-", index), calc(inner, "-", 1)))
        values = [read(self.random.choice(sources), where), read(self.random.choice((*sources, "X", "A")), inner)]
        value = values[0] if self.random.random() < 0.5 else add(*values)
        if self.random.random() < 0.1:
            value = select(calc(index, "<", 2), value, values[1])
        return statement((name, index), value, ranges, reduction, initialise=bool(reduction), name=name)

    def overwriting(self) -> Statement:
        """Another value in what the producers read."""
        i = span(self.fresh("i"), self.random.choice(("N", 3, 4)))
        return statement(("X", i.index), read(self.random.choice(("A", "X", "T")), self.near(i)), [i], name="X")


class Recurrences(Producers):
    """What is computed from what was computed before: triangular sums, stencils in place."""

    def operator(self) -> Operator:
        tensors = [tensor("A", "input", CELLS, CELLS, lower=LOWEST), tensor("Z", "inout", CELLS, lower=LOWEST)]
        tensors.append(tensor("W", "inout", CELLS, CELLS, lower=LOWEST))
        makers = (self.triangular, self.triangular, self.stencil, self.plane, self.plane)
        body: list[Step] = [self.random.choice(makers)() for _ in range(self.random.choice((1, 1, 2)))]
        return op("recurrences", tensors, body, "N M")

    def triangular(self) -> Step:
        """Forward or backward substitution."""
        t = span(self.fresh("t"), self.random.choice(("N", 4, 5, 5)), "sequential")
        k = self.fresh("k")
        ranges = [Range(k, num(0), Index(t.index), "reduction")]
        if self.random.random() < 0.2:
            ranges = [Range(k, num(0), num(4), "reduction")]
        value = mul(read("A", t.index, k), read("Z", k))
        return For(t, (statement(("Z", t.index), value, [t, *ranges], "+"),))

    def stencil(self) -> Step:
        t = span(self.fresh("t"), self.random.choice(("M", 2, 3)), "sequential")
        i = Range(self.fresh("i"), num(1), self.random.choice((num(4), num(5), calc("N", "+", 1))), "free")
        shift = self.random.choice((-1, -1, 1, 2))
        value = add(read("Z", calc(i.index, "+", shift)), read("Z", self.near(i)))
        return For(t, (statement(("Z", i.index), value, [t, i]),))

    def plane(self) -> Step:
        """A cell from its neighbours in two dimensions."""
        i, j = (span(self.fresh("i"), self.random.choice(("N", "M", 4, 5))) for _ in "ij")
        if self.random.random() < 0.6:
            j = Range(j.index, num(0), calc(i.index, "+", 1), "free")
        near: list[Expr] = [calc(i.index, "+", self.random.choice((-1, 0, 0, 1))), self.near(j)]
        if self.random.random() < 0.2:
            near[0] = Select(calc(j.index, "<", 2), near[0], Index(i.index), near[0].dtype)
        value = add(read("W", *near), read("A", i.index, j.index))
        return statement(("W", i.index, j.index), value, [i, j])
