"""The Operator: what a definition means after names, types and ranges are resolved.

A frozen value.  Equality and hash come from the printed text, so two operators that print alike
are the same operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr, Index, index_names
from workbench.records import record

Role = Literal["input", "output", "inout", "temporary"]
IndexKind = Literal["sequential", "free", "reduction"]


@record(slots=True)
class Tensor:
    """A tensor of the operator.

    It holds the cells `lower[d] <= index < lower[d] + extent[d]`; both are expressions over the
    size symbols (only Size, Const, +, -, *, /, %, min and max occur).  Inputs start at 0.
    `partial` says that some cell may be written by no statement.  A tensor with `times` stands for a variable that is
    declared inside so many loops: its first subscripts are theirs, so each iteration has its own.
    """

    name: str
    dtype: DType
    lower: tuple[Expr, ...]
    extent: tuple[Expr, ...]
    role: Role
    partial: bool = False
    times: int = 0

    @property
    def rank(self) -> int:
        return len(self.extent)


@record(slots=True)
class Range:
    """`lower <= index < upper`.

    Bounds are integer expressions over size symbols and over indices that stand earlier in the
    statement's `ranges` (triangular).  `derivation` says in words where the range came from.
    """

    index: str
    lower: Expr
    upper: Expr
    kind: IndexKind
    derivation: str = field(default="", compare=False)

    @property
    def bounding(self) -> set[str]:
        """Names of the indices that its bounds use."""
        return index_names(self.lower) | index_names(self.upper)


@record(slots=True)
class Monoid:
    """A declared associative, commutative reduction over a tuple of fields.

    `combine[f]` is an expression over `Read(left[f], ())` and `Read(right[f], ())`, the field
    names of the two operands; `identity[f]` is a constant expression of type `dtypes[f]`.
    """

    name: str
    fields: tuple[str, ...]
    dtypes: tuple[DType, ...]
    identity: tuple[Expr, ...]
    left: tuple[str, ...]
    right: tuple[str, ...]
    combine: tuple[Expr, ...]


@record(slots=True)
class Target:
    """The cell a statement writes.  Subscripts are expressions (a plain Index in Tensor Comprehensions)."""

    tensor: str
    subscripts: tuple[Expr, ...]


@record(slots=True)
class Statement:
    """One assignment, executed for all its instances before the next statement starts.

    `name` is the tensor's name, with `.1`, `.2`, ... from its second statement on.  `ranges` lists
    every index in loop order: the enclosing sequential axes, the free indices in the order of the
    left-hand side, the reduction indices in the order in which the right-hand side reads them
    (moved only when a triangular bound needs it).  Instances run in lexicographic order of
    `ranges`; that order only matters when the statement reads what it writes.

    `reduction` is None for `=`, else "+", "*", "min", "max" or a Monoid; `initialise` is the `!`:
    each execution first sets every cell of the free ranges (of the whole tensor if a target
    subscript is not a plain index, or stands twice) to the identity.
    `values` holds one expression per target, already cast to the target's element type.
    `condition`, an affine one over sizes and indices, says which instances there are (an `if` of C).
    """

    name: str
    targets: tuple[Target, ...]
    reduction: str | Monoid | None
    initialise: bool
    values: tuple[Expr, ...]
    ranges: tuple[Range, ...]
    text: str = field(default="", compare=False)
    condition: Expr | None = None

    @property
    def initialises_all(self) -> bool:
        """Whether `!` sets every cell of the targets: a subscript is computed, or a free index stands twice."""
        axes = self.indices("sequential")
        for target in self.targets:
            own = [e.name for e in target.subscripts if isinstance(e, Index) and e.name not in axes]
            if len(set(own)) < len(own) or not all(isinstance(e, Index) for e in target.subscripts):
                return True
        return False

    def indices(self, *kinds: IndexKind) -> tuple[str, ...]:
        """Names of the indices of the given kinds (all when none is given), in loop order."""
        return tuple(r.index for r in self.ranges if not kinds or r.kind in kinds)


@record(slots=True)
class For:
    """`for axis in lower:upper { body }`: a sequential axis around a block of statements."""

    axis: Range
    body: tuple[Step, ...]


Step = Statement | For


@record(slots=True)
class Promise:
    """`injective(idx)` or `in_range(idx, lo, hi)`: a promise about an input's data, checked at the call."""

    kind: Literal["injective", "in_range"]
    tensor: str
    arguments: tuple[Expr, ...] = ()
    text: str = ""


@record(slots=True)
class Condition:
    """A boolean expression over the sizes that must hold at the call, and why."""

    expr: Expr
    reason: str


@record(eq=False)
class Operator:
    """A tensor operator: parameters in call order, then outputs, temporaries and statements.

    `parameters` names the positional arguments of a call in order: input tensors and scalars (a
    scalar that shapes the program is in `scalars`, one that carries data is a rank-0 Tensor).
    `outputs` are the results in order; one whose role is "inout" must be given through `out=`.
    `size_names` are the size symbols inferred from shapes.  `language` is that of `text`.
    """

    name: str
    parameters: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: dict[str, Tensor]
    size_names: tuple[str, ...]
    scalars: tuple[str, ...]
    body: tuple[Step, ...]
    text: str
    conditions: tuple[Condition, ...] = ()
    promises: tuple[Promise, ...] = ()
    monoids: tuple[Monoid, ...] = ()
    warnings: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    doc: str = ""
    language: Literal["operator", "c"] = "operator"

    if TYPE_CHECKING:  # what the face gives it of other modules (`METHODS` in workbench/face.py)

        def __call__(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any: ...
        def plan(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any: ...
        def evaluate(self, *arrays: Any, out: Any = None, **scalars: Any) -> Any: ...
        def astype(self, element: Any) -> Operator: ...
        def flops(self, **sizes: int) -> int: ...
        def bytes(self, **sizes: int) -> int: ...
        def sizes(self, *arrays: Any, out: Any = None, **scalars: Any) -> dict[str, int]: ...
        @property
        def examples(self) -> tuple[dict[str, int], ...]: ...

    def statements(self) -> Iterator[Statement]:
        """Every statement in textual order."""
        yield from all_statements(self.body)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Operator {self.name}({', '.join(self.parameters)}) -> ({', '.join(self.outputs)})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operator) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def all_statements(body: Iterable[Step]) -> Iterator[Statement]:
    """Every statement of some steps, in textual order."""
    for step in body:
        if isinstance(step, For):
            yield from all_statements(step.body)
        else:
            yield step
