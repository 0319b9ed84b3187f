"""Surface expressions: what the parser makes of an expression, before any name is resolved.

Every node carries its `Span` in the text, so that an error can point at it; spans do not take part in
equality.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import NamedTuple

from workbench.records import record


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


@record(slots=True)
class Literal:
    """A number as written; `is_float` when it has a point or an exponent."""

    value: int | float
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Name:
    """A word: an index, size, scalar, let, rank-0 tensor, or `inf`, `nan`, `true`, `false`."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Apply:
    """`name(arguments)`: a tensor access, a cast, a builtin, or a call of another def."""

    name: Name
    arguments: tuple[Term, ...]
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Prefix:
    """`-x`, `!x`, `~x`."""

    op: str
    operand: Term
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Infix:
    """`left op right`; `op_span` is the operator's own place."""

    op: str
    left: Term
    right: Term
    op_span: Span = field(default=NOWHERE, compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@record(slots=True)
class Ternary:
    """`condition ? then : otherwise`."""

    condition: Term
    then: Term
    otherwise: Term
    span: Span = field(default=NOWHERE, compare=False)


Term = Literal | Name | Apply | Prefix | Infix | Ternary


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
