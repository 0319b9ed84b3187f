"""The polyhedral program: statement instances, the cells they touch, the order a person would write.

Plain data.  Sets and relations are kept as isl text (`sets/isl.py` turns them into isl objects and
memoises that); equality and hash come from names and text, never from isl objects.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr
from workbench.lang.operator import Condition, Monoid, Operator, Role
from workbench.poly.programs.tree import Tree
from workbench.records import Hashed, record

AccessKind = Literal["read", "write"]
DependenceKind = Literal["flow", "anti", "output", "reduction"]
StatementKind = Literal["assign", "initialise", "update"]
Part = Literal["computes", "moves", "neutral"]
Scope = Literal["global", "local"]


@record(slots=True)
class Padding:
    """The stride of one dimension, in elements, leaves the remainder `offset` when it is divided by `factor`."""

    dimension: int
    factor: int
    offset: int


@record(slots=True)
class Array:
    """A storage object: where the cells of one tensor live.

    Cell (x0, x1, ...) of the tensor is element `sum((x_d - lower_d) * strides_d)` of the array. Bounds and
    strides (in elements) are expressions over the program's symbols; a bound program has Consts only.

    A "local" array was made by a schedule step.  Its cells are named after instances, so that no two values share
    one; storage is found when the order is known: the loops around all its accesses share it, and only
    what they touch at once has a place (`poly.storage_of`).  Its first `times` dimensions name the iteration.

    `padding` asks for places between its rows that hold nothing.  `kept` are the dimensions that have places, where
    storage was found and these are not all.
    """

    name: str
    dtype: DType
    lower: tuple[Expr, ...]
    extent: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    role: Role
    partial: bool = False
    scope: Scope = "global"
    times: int = 0
    padding: tuple[Padding, ...] = ()
    kept: tuple[int, ...] | None = None

    @property
    def rank(self) -> int:
        return len(self.extent)


@record(slots=True)
class Access:
    """Which cells an instance touches: `relation` is isl text `[N] -> { S[i,j] -> A[i+1,j] : ... }`.

    `exact` is False for a may-access: a gather or scatter whose non-affine subscripts range over the whole
    extent. `guarded` says that it happens only where data allow it (the affine part of its guard is in
    `relation`); such an access is not exact either.  `accumulates` marks the read of an update that only
    fetches the old value of the cell the update writes. `subscripts` are the expressions as written (over
    dims, sizes and reads).
    """

    array: str
    kind: AccessKind
    relation: str
    subscripts: tuple[Expr, ...]
    exact: bool = True
    guarded: bool = False
    accumulates: bool = False


@record
class ProgramStatement(Hashed):
    """A statement of the program.

    `name` is the user's name: the tensor's (`C`), `C.init` for the initialisation of a reduction, `C.1` for
    the second statement that defines `C`, `C.1.init`.  `id` is its isl tuple name (`S0`, `S1`, ...). `dims`
    are its loop names in the order of the naive nest, `domain` isl text over them. `values` (one per
    target) are over Index(dim), Size and Read; for an update the value is the contribution, which
    `reduction` combines with the cell.  For `initialise` the values are the identity.

    What a schedule step made has a `part`: it "computes" what `origin` (isl text, instance → instance of the program
    before the step; empty for the same one) computes, it "moves" values from cell to cell, or it is "neutral", the
    beginning of a partial result.
    """

    id: str
    name: str
    kind: StatementKind
    dims: tuple[str, ...]
    domain: str
    targets: tuple[tuple[str, tuple[Expr, ...]], ...]
    values: tuple[Expr, ...]
    reduction: str | Monoid | None
    accesses: tuple[Access, ...]
    text: str = field(default="", compare=False)
    part: Part = field(default="computes", compare=False)
    origin: str = field(default="", compare=False)

    @cached_property
    def writes(self) -> tuple[Access, ...]:
        return tuple(a for a in self.accesses if a.kind == "write")

    @cached_property
    def reads(self) -> tuple[Access, ...]:
        """Cells read; an update also reads the cell it writes."""
        return tuple(a for a in self.accesses if a.kind == "read")

    @cached_property
    def digest(self) -> str:
        """A hash of everything it says."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


@record(slots=True)
class Nest:
    """The naive order: a loop over `dim` shared by everything in `body`."""

    dim: str
    body: tuple[Nest | str, ...]


@record(eq=False, repr=False)
class Program:
    """An operator lowered for some sizes.

    `sizes` are the bound symbols, `symbols` those left symbolic (isl parameters, in order).
    `context` is isl text, the parameter set under which the program is meant (`[N] -> { : N >= 0 }`).
    `order` is the naive nest: loops by dim name, statements by id.
    `definition` is the operator it was lowered from.

    A schedule step that changes instances or storage derives a program: `parent` is the one before it, `reference` the
    order in which it means the same (instead of `order`), `digest` a hash of both and of the statements.  `shown_by` is
    the program that was compared with the parent in its place, where its own statements no longer show what they read.
    """

    name: str
    operator: str
    sizes: dict[str, int]
    symbols: tuple[str, ...]
    context: str
    arrays: dict[str, Array]
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    statements: tuple[ProgramStatement, ...]
    order: tuple[Nest | str, ...]
    conditions: tuple[Condition, ...] = ()
    definition: Operator | None = field(default=None, repr=False)
    reference: Tree | None = None
    parent: Program | None = None
    shown_by: Program | None = None
    digest: str = ""

    @property
    def signed_symbols(self) -> frozenset[str]:
        """Symbols that may be below 0: scalars that shape the program, which no extent of an array tells."""
        definition = self.original.definition
        return frozenset() if definition is None else frozenset(definition.scalars)

    @property
    def original(self) -> Program:
        """The program of the operator itself."""
        return self if self.parent is None else self.parent.original

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What two equal programs share: the operator's text, the sizes and the layouts."""
        return (
            self.operator,
            tuple(sorted(self.sizes.items())),
            self.symbols,
            tuple(self.arrays.values()),
            self.digest,
        )

    @cached_property
    def bound(self) -> tuple[tuple[str, int], ...]:
        """The sizes, as something that can be asked for its hash."""
        return tuple(self.sizes.items())

    def statement(self, name: str) -> ProgramStatement:
        """The statement of that id, else of that user's name, which may look like an id (KeyError if there is none)."""
        found = self._by_id.get(name) or self.named(name)
        if found is None:
            raise KeyError(name)
        return found

    @cached_property
    def _by_id(self) -> dict[str, ProgramStatement]:
        return {s.id: s for s in self.statements}

    def named(self, name: str) -> ProgramStatement | None:
        """The statement of that user's name."""
        return next((s for s in self.statements if s.name == name), None)

    if TYPE_CHECKING:  # what the face gives it of a later room

        def __call__(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any: ...

    def __str__(self) -> str:
        return import_module("workbench.poly.programs.sheet").program_sheet(self)  # keeps printing out of start-up

    def __repr__(self) -> str:
        return f"<Program {self.name}: {', '.join(s.name for s in self.statements)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.operator, self.digest, frozenset(self.sizes.items())))  # cheap: caches ask all the time


@record(slots=True)
class Dependence:
    """`relation` (isl text) maps each source instance to the instances that must come after it.

    kind: "flow" (value written, then read), "anti" (read, then overwritten), "output" (written twice),
    "reduction" (two contributions to one cell: may be reordered, must not race).
    """

    kind: DependenceKind
    array: str
    source: str
    target: str
    relation: str
    exact: bool = True
