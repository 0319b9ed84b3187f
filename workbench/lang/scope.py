"""What names mean while a def is resolved: tensors with their boxes, sizes, scalars, axes, type variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

from workbench.lang.diagnostics import Diagnostics, Problem
from workbench.lang.dtypes import BOOL, DType
from workbench.lang.expr import Expr, Index
from workbench.lang.facts import Facts
from workbench.lang.operator import Condition, Monoid, Promise, Range, Role
from workbench.lang.polynomial import Polynomial
from workbench.lang.shaping import Shaping
from workbench.lang.syntax import Define, MonoidNode, RangeClause
from workbench.lang.terms import NOWHERE, Span

Box = list[tuple[Polynomial, Polynomial]]


class AlreadyReported(Problem):
    """Work cannot go on because of a problem that was recorded before."""

    def __init__(self) -> None:
        super().__init__("", NOWHERE)


@dataclass
class TensorState:
    """A tensor of the operator while its statements are resolved.

    `box` is what is known of its cells so far (None before the first write), `declared` the box of its
    annotation.  `covered` lists the boxes that are certainly written in full.
    """

    name: str
    role: Role
    span: Span
    dtype: DType | None = None
    declared: Box | None = None
    box: Box | None = None
    written: bool = False
    read: bool = False
    broken: bool = False
    covered: list[Box] = field(default_factory=list)
    statements: int = 0

    @property
    def rank(self) -> int | None:
        """Number of dimensions, or None before the first write."""
        known = self.box if self.box is not None else self.declared
        return None if known is None else len(known)


@dataclass
class Scope:
    """The names of one def (or of one inlined call of it)."""

    define: Define
    types: dict[str, DType] = field(default_factory=dict)
    values: dict[str, Expr] = field(default_factory=dict)
    tensors: dict[str, TensorState] = field(default_factory=dict)
    axes: dict[str, Index] = field(default_factory=dict)
    inlined: bool = False
    inputs: frozenset[str] = frozenset()

    @property
    def truths_from_types(self) -> bool:
        """Whether a type variable is bool here: then truth values are no numbers, which such a text is written for."""
        return any(dtype == BOOL for dtype in self.types.values())

    def known(self) -> list[str]:
        """Every name that an expression may use, for messages."""
        return [*self.tensors, *self.values, *self.axes]


@dataclass
class Local:
    """The names of one statement: lets, indices in order of appearance, and their `where` ranges."""

    lets: dict[str, Expr] = field(default_factory=dict)
    indices: dict[str, Index] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    ranges: dict[str, tuple[Expr, Expr]] = field(default_factory=dict)
    clauses: dict[str, RangeClause] = field(default_factory=dict)


@dataclass
class Context:
    """One operator being resolved: what all its scopes share."""

    defs: dict[str, Define]
    monoids: dict[str, MonoidNode]
    diagnostics: Diagnostics
    strict: bool = False
    facts: Facts = field(default_factory=Facts)
    states: dict[str, TensorState] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    axes: list[Range] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    promises: list[Promise] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    used_monoids: dict[str, Monoid] = field(default_factory=dict)
    used_items: set[str] = field(default_factory=set)
    calls: list[str] = field(default_factory=list)

    @cached_property
    def shaping(self) -> Shaping:
        """Which scalars of which def shape the program."""
        return Shaping(self.defs)

    @cached_property
    def words(self) -> set[str]:
        """Every word of the text."""
        return set(re.findall(r"\w+", self.diagnostics.text))

    def fresh(self, wanted: str) -> str:
        """A name for a tensor that nothing else in the text bears; remembered as taken."""
        name = free_name(wanted, self.taken | self.words)
        self.taken.add(name)
        return name

    def require(self, condition: Condition) -> None:
        """Add a condition on the sizes, once."""
        if condition not in self.conditions:
            self.conditions.append(condition)


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or with `_2`, `_3`, ... behind it if that is taken."""
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    return name
