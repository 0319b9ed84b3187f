"""A statement on its way: resolved expressions, before its ranges are known."""

from __future__ import annotations

from workbench.lang.expr import Expr, Index, walk
from workbench.lang.operator import Monoid
from workbench.lang.scopes.scope import Local, TensorState
from workbench.lang.syntax.syntax import Assign
from workbench.lang.syntax.terms import Span
from workbench.records import record


@record(frozen=False)
class Draft:
    """Target tensors with their subscripts, values and the expressions of `exists`, with the local names."""

    node: Assign
    states: list[TensorState]
    subscripts: list[tuple[Expr, ...]]
    values: list[Expr]
    exists: list[Expr]
    local: Local
    reduction: str | Monoid | None
    initialise: bool

    @property
    def span(self) -> Span:
        """Where the statement stands."""
        return self.node.span

    def free_indices(self) -> list[str]:
        """Indices of the left-hand side, in order."""
        return ordered_indices(self.subscripts[0])

    def all_indices(self) -> list[str]:
        """Indices of the left-hand side, then those of the values in the order of reading."""
        return ordered_indices((*self.subscripts[0], *self.values))


def ordered_indices(exprs: tuple[Expr, ...]) -> list[str]:
    """Names of the iteration variables, in order of first appearance."""
    return list(dict.fromkeys(node.name for expr in exprs for node in walk(expr) if isinstance(node, Index)))
