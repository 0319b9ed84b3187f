"""Operators that mean the same up to renaming: one key for a definition, whatever its names are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from workbench.lang.expr import Binary, Call, Expr, Index, Read, Size, rebuild, transform
from workbench.lang.operator import For, Monoid, Operator, Range, Statement, Step

COMMUTATIVE = frozenset({"+", "*", "&", "|", "^", "==", "!="})
_MONOIDS = ("min", "max")


@lru_cache(maxsize=1024)
def definition_key(op: Operator) -> str:
    """A text that two operators share if they differ in names of tensors, sizes and indices only, and in the order of
    the operands of commutative operations.

    >>> from workbench.lang import operator
    >>> a = operator("def f(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }")
    >>> b = operator("def g(float(I,L) X, float(L,J) Y) -> (Z) { Z(i,j) +=! Y(l,j) * X(i,l) }")
    >>> definition_key(a) == definition_key(b)
    True
    """
    return repr(_Renaming(op).operator())


class _Renaming:
    """New names in order of occurrence: of tensors as the call has them, of sizes as the shapes do."""

    def __init__(self, op: Operator) -> None:
        self.op = op
        inner = [name for name in op.tensors if name not in op.parameters and name not in op.outputs]
        self.tensors = {name: f"t{at}" for at, name in enumerate((*op.parameters, *op.outputs, *inner))}
        self.sizes = {name: f"scalar{at}" for at, name in enumerate(op.scalars)}
        self.indices: dict[str, str] = {}
        for name in self.tensors:
            if name in op.tensors:
                tensor = op.tensors[name]
                for expr in (*tensor.extent, *tensor.lower):
                    self.expression(expr)

    def operator(self) -> object:
        """All that matters of the operator."""
        op = self.op
        tensors = [
            (self.tensors[n], t.dtype.name, t.role, t.times, self.many(t.lower), self.many(t.extent))
            for n, t in op.tensors.items()
        ]
        body = [self.step(step) for step in op.body]
        conditions = sorted(repr(self.expression(each.expr)) for each in op.conditions)
        promises = [(each.kind, self.tensors.get(each.tensor), self.many(each.arguments)) for each in op.promises]
        heads = [self.tensors[name] for name in (*op.parameters, *op.outputs)]
        return heads, sorted(tensors), body, conditions, promises, op.language

    def step(self, step: Step) -> object:
        if isinstance(step, For):
            return "for", self.range(step.axis), [self.step(each) for each in step.body]
        return self.statement(step)

    def statement(self, of: Statement) -> object:
        ranges = [self.range(each) for each in of.ranges]
        targets = [(self.tensors[each.tensor], self.many(each.subscripts)) for each in of.targets]
        condition = None if of.condition is None else repr(self.expression(of.condition))
        reduction = _monoid(of.reduction) if isinstance(of.reduction, Monoid) else of.reduction
        return ranges, targets, reduction, of.initialise, self.many(of.values), condition

    def range(self, of: Range) -> object:
        self.indices[of.index] = f"i{len(self.indices)}"
        return self.indices[of.index], of.kind, self.many((of.lower, of.upper))

    def many(self, exprs: Iterable[Expr]) -> list[str]:
        return [repr(self.expression(each)) for each in exprs]

    def expression(self, expr: Expr) -> Expr:
        return transform(expr, self.renamed)

    def renamed(self, node: Expr) -> Expr:
        match node:
            case Size(name, dtype):
                return Size(self.sizes.setdefault(name, f"s{len(self.sizes)}"), dtype)
            case Index(name, dtype):
                return Index(self.indices.get(name, name), dtype)
            case Read(tensor, subscripts, dtype):
                return Read(self.tensors.get(tensor, tensor), subscripts, dtype)
            case Binary(op, left, right, _) if op in COMMUTATIVE and repr(right) < repr(left):
                return rebuild(node, (right, left))
            case Call(function, (left, right), _) if function in _MONOIDS and repr(right) < repr(left):
                return rebuild(node, (right, left))
            case _:
                return node


def _monoid(of: Monoid) -> object:
    return of.fields, of.left, of.right, repr(of.identity), repr(of.combine)
