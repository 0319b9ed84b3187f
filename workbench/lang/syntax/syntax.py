"""Surface syntax: what the parser returns, before any name is resolved; its expressions stand in `terms.py`.

`resolve/` turns these nodes into the typed expressions of `expr.py`, `printing/printer.py` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from workbench.lang.syntax.terms import NOWHERE, Name, Span, Term
from workbench.records import record


@record(slots=True)
class TypeNode:
    """`element(dims)`; `element` may be a type variable."""

    element: Name
    dims: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Parameter:
    """`type NAME`, or a plain `NAME` for an output (`type` is None)."""

    type: TypeNode | None
    name: Name


@record(slots=True)
class RangeClause:
    """`index in lower:upper`."""

    index: Name
    lower: Term
    upper: Term
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class LetClause:
    """`name = value`."""

    name: Name
    value: Term


@record(slots=True)
class ExistsClause:
    """`exists value`."""

    value: Term


Clause = RangeClause | LetClause | ExistsClause


@record(slots=True)
class TargetNode:
    """The left-hand side of a statement."""

    name: Name
    subscripts: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Assign:
    """`targets op values where clauses`.

    `op` is `=`, a reduction (`+=`, `+=!`, ...) or, for a tuple statement, the monoid's name followed by `=`
    or `=!`; then there may be several targets and values.
    """

    targets: tuple[TargetNode, ...]
    op: Name
    values: tuple[Term, ...]
    clauses: tuple[Clause, ...]
    is_tuple: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class CallStep:
    """`(results) = callee(arguments)` with several results (one result parses as an Assign)."""

    results: tuple[TargetNode, ...]
    callee: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class ForStep:
    """`for axis in lower:upper { body }`."""

    range: RangeClause
    body: tuple[StepNode, ...]
    span: Span = field(default=NOWHERE, compare=False)


StepNode = Assign | CallStep | ForStep


@record(slots=True)
class PromiseNode:
    """`injective(idx)` or `in_range(idx, lo, hi)`."""

    kind: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class GenericNode:
    """A type variable; `kind` names the class of the types it may stand for, None for any."""

    name: str
    kind: Name | None = None
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Define:
    """A `def`."""

    name: Name
    generics: tuple[GenericNode, ...]
    parameters: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    promises: tuple[PromiseNode, ...]
    body: tuple[StepNode, ...]


@record(slots=True)
class MonoidNode:
    """A `monoid`."""

    name: Name
    generics: tuple[GenericNode, ...]
    fields: tuple[Parameter, ...]
    identity: tuple[Term, ...]
    left: tuple[Name, ...]
    right: tuple[Name, ...]
    combine: tuple[Term, ...]
    clauses: tuple[Clause, ...]


@record(slots=True)
class Unit:
    """A whole text: its definitions in textual order."""

    items: tuple[Define | MonoidNode, ...]

    def defs(self) -> tuple[Define, ...]:
        """The defs alone."""
        return tuple(item for item in self.items if isinstance(item, Define))

    def monoids(self) -> tuple[MonoidNode, ...]:
        """The monoids alone."""
        return tuple(item for item in self.items if isinstance(item, MonoidNode))


def statements_of(steps: tuple[StepNode, ...]) -> Iterator[Assign | CallStep]:
    """Every assignment and call below, in textual order."""
    for step in steps:
        if isinstance(step, ForStep):
            yield from statements_of(step.body)
        else:
            yield step
