"""Surface syntax: what the parser returns, before any name is resolved.

Every node carries its `Span` in the text, so that an error can point at it; spans do not take part in
equality.  `resolve*.py` turns these nodes into the typed expressions of `expr.py`, `printer.py` prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Span(NamedTuple):
    """Character offsets `start <= position < end` in the source text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that holds both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)

# Binding strength of the binary operators, weakest first; one table for the parser and the printer.
LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"|"}),
    frozenset({"^"}),
    frozenset({"&"}),
    frozenset({"<", "<=", ">", ">=", "==", "!="}),
    frozenset({"<<", ">>"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
PRECEDENCE: dict[str, int] = {op: level for level, ops in enumerate(LEVELS, 1) for op in ops}


@dataclass(frozen=True, slots=True)
class Literal:
    """A number as written; `is_float` when it has a point or an exponent."""

    value: int | float
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A word: an index, size, scalar, let, rank-0 tensor, or `inf`, `nan`, `true`, `false`."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Apply:
    """`name(arguments)`: a tensor access, a cast, a builtin, or a call of another def."""

    name: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Prefix:
    """`-x`, `!x`, `~x`."""

    op: str
    operand: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Infix:
    """`left op right`; `op_span` is the operator's own place."""

    op: str
    left: Term
    right: Term
    op_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Ternary:
    """`condition ? then : otherwise`."""

    condition: Term
    then: Term
    otherwise: Term
    span: Span = field(default=NOWHERE, compare=False)


Term = Literal | Name | Apply | Prefix | Infix | Ternary


@dataclass(frozen=True, slots=True)
class TypeNode:
    """`element(dims)`; `element` may be a type variable."""

    element: Name
    dims: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """`type NAME`, or a plain `NAME` for an output (`type` is None)."""

    type: TypeNode | None
    name: Name


@dataclass(frozen=True, slots=True)
class RangeClause:
    """`index in lower:upper`."""

    index: Name
    lower: Term
    upper: Term
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class LetClause:
    """`name = value`."""

    name: Name
    value: Term


@dataclass(frozen=True, slots=True)
class ExistsClause:
    """`exists value`."""

    value: Term


Clause = RangeClause | LetClause | ExistsClause


@dataclass(frozen=True, slots=True)
class TargetNode:
    """The left-hand side of a statement."""

    name: Name
    subscripts: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class CallStep:
    """`(results) = callee(arguments)` with several results (one result parses as an Assign)."""

    results: tuple[TargetNode, ...]
    callee: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ForStep:
    """`for axis in lower:upper { body }`."""

    range: RangeClause
    body: tuple[StepNode, ...]
    span: Span = field(default=NOWHERE, compare=False)


StepNode = Assign | CallStep | ForStep


@dataclass(frozen=True, slots=True)
class PromiseNode:
    """`injective(idx)` or `in_range(idx, lo, hi)`."""

    kind: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Define:
    """A `def`."""

    name: Name
    generics: tuple[Name, ...]
    parameters: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    promises: tuple[PromiseNode, ...]
    body: tuple[StepNode, ...]


@dataclass(frozen=True, slots=True)
class MonoidNode:
    """A `monoid`."""

    name: Name
    generics: tuple[Name, ...]
    fields: tuple[Parameter, ...]
    identity: tuple[Term, ...]
    left: tuple[Name, ...]
    right: tuple[Name, ...]
    combine: tuple[Term, ...]
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole text: its definitions in textual order."""

    items: tuple[Define | MonoidNode, ...]

    def defs(self) -> tuple[Define, ...]:
        """The defs alone."""
        return tuple(item for item in self.items if isinstance(item, Define))

    def monoids(self) -> tuple[MonoidNode, ...]:
        """The monoids alone."""
        return tuple(item for item in self.items if isinstance(item, MonoidNode))


def operands(term: Term) -> tuple[Term, ...]:
    """Direct operands of a surface expression."""
    match term:
        case Literal() | Name():
            return ()
        case Apply(_, arguments, _):
            return arguments
        case Prefix(_, operand, _):
            return (operand,)
        case Infix(_, left, right, _, _):
            return (left, right)
        case Ternary(condition, then, otherwise, _):
            return (condition, then, otherwise)


def terms(term: Term) -> Iterator[Term]:
    """The expression and everything below it, parents first, without recursion."""
    stack = [term]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(operands(node)))


def names_in(term: Term) -> set[str]:
    """Every name that occurs as a value in the expression."""
    return {node.name for node in terms(term) if isinstance(node, Name)}


def statements_of(steps: tuple[StepNode, ...]) -> Iterator[Assign | CallStep]:
    """Every assignment and call below, in textual order."""
    for step in steps:
        if isinstance(step, ForStep):
            yield from statements_of(step.body)
        else:
            yield step
