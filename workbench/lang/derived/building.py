"""A program being written: its statements so far, its tensors, names that are free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.algebra.polynomial import Polynomial
from workbench.lang.derived.systems import intervals
from workbench.lang.derived.text.source import Names
from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr, Index, Read
from workbench.lang.operator import IndexKind, Monoid, Range, Statement, Step, Target, Tensor
from workbench.lang.ranges.intervals import Interval, highest, lowest
from workbench.lang.unify import computed

Box = list[tuple[Polynomial, Polynomial]]


def box_of(tensor: Tensor) -> Box:
    """Lower bound and extent of every dimension."""
    return [(polynomial(a), polynomial(b)) for a, b in zip(tensor.lower, tensor.extent, strict=True)]


def cells(tensor: Tensor, names: Iterable[str]) -> dict[str, Interval]:
    """The range of every dimension under an index name."""
    return {
        name: Interval(low, low + extent) for name, (low, extent) in zip(names, box_of(tensor), strict=True)
    }


def ranges_of(intervals: dict[str, Interval], kind: IndexKind = "free") -> tuple[Range, ...]:
    """Intervals as ranges of a statement."""
    return tuple(Range(name, bound(each.lower), bound(each.upper), kind) for name, each in intervals.items())


@dataclass
class Building:
    """`steps` is what is written at present; `axes` are the loops around it, outermost first.

    `extrema` are the tensors of minima and maxima: where nothing was reduced they are infinite.
    """

    tensors: dict[str, Tensor]
    names: Names
    facts: Facts
    steps: list[Step] = field(default_factory=list)
    axes: tuple[Range, ...] = ()
    index_names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extrema: frozenset[str] = frozenset()

    def make(self, wanted: str, dtype: DType, around: dict[str, Interval], loops: Iterable[Range] = ()) -> str:
        """A new tensor with one dimension for each interval; its box holds them all, whatever the loops are at."""
        name = self.names(wanted)
        every = {**intervals((*self.axes, *loops)), **around}
        lower: list[Expr] = []
        extent: list[Expr] = []
        for each in around.values():
            low, high = lowest(each.lower, every, self.facts.sign), highest(each.upper, every, self.facts.sign)
            assert low is not None
            assert high is not None
            lower.append(bound(low))
            extent.append(bound(high - low))
        self.tensors[name] = Tensor(name, computed(dtype), tuple(lower), tuple(extent), "temporary")
        self.index_names[name] = tuple(around)
        return name

    def like(self, wanted: str, tensor: str) -> str:
        """A new tensor with the cells of another, to be computed with."""
        name = self.names(wanted)
        self.tensors[name] = replace(self.like_tensor(tensor), name=name)
        self.index_names[name] = self.indices(tensor)
        return name

    def like_tensor(self, tensor: str) -> Tensor:
        """The declaration of a temporary with the cells of another tensor."""
        of = self.tensors[tensor]
        return Tensor(of.name, computed(of.dtype), of.lower, of.extent, "temporary")

    def read(self, tensor: str, subscripts: Iterable[Expr]) -> Read:
        """One cell."""
        return Read(tensor, tuple(subscripts), self.tensors[tensor].dtype)

    def read_named(self, tensor: str, names: Iterable[str]) -> Read:
        """The cell of some indices."""
        return self.read(tensor, tuple(map(Index, names)))

    def assign(
        self, tensor: str, subscripts: Iterable[Expr], value: Expr, ranges: Iterable[Range],
        reduction: str | Monoid | None = None, *, initialise: bool = False,
    ) -> None:  # fmt: skip
        """One more statement; its ranges are those of its own indices."""
        target = Target(tensor, tuple(subscripts))
        self.steps.append(Statement(tensor, (target,), reduction, initialise, (value,), (*self.axes, *ranges)))

    def reduced(self, statement: Statement, wanted: str, op: str, value: Expr, dtype: DType) -> Read:
        """A reduction over the instances of a statement, for each of its cells."""
        ranges = tuple(r for r in statement.ranges if r.kind != "sequential")
        free = {r.index: r for r in ranges if r.kind == "free"}
        name = self.make(wanted, dtype, intervals(free.values()))
        self.assign(name, map(Index, free), value, ranges, op, initialise=True)
        return self.read_named(name, free)

    def fill(self, tensor: str, value: Expr, names: Iterable[str] | None = None) -> None:
        """One value, which may depend on the cell, for every cell."""
        names = tuple(names) if names is not None else self.indices(tensor)
        self.assign(tensor, map(Index, names), value, ranges_of(cells(self.tensors[tensor], names)))

    def indices(self, tensor: str) -> tuple[str, ...]:
        """Names for the dimensions of a tensor, none that a loop around has."""
        taken = {axis.index for axis in self.axes}
        known = self.index_names.get(tensor) or tuple(f"i{d}" for d in range(self.tensors[tensor].rank))
        return tuple(name if name not in taken else self.fresh_index(name, {*taken, *known}) for name in known)

    def fresh_index(self, wanted: str, taken: set[str]) -> str:
        """A name for an index beside others; indices of different statements may be called the same."""
        name, number = wanted, 1
        while name in taken or (name != wanted and name in self.names.taken):
            number += 1
            name = f"{wanted}_{number}"
        return name
