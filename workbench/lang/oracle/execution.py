"""One execution of a statement by the NumPy oracle: what its steps share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from workbench.lang.expr import Expr, Read
from workbench.lang.operator import Range, Statement
from workbench.lang.oracle.blocks import Block
from workbench.lang.oracle.contractions import factors
from workbench.lang.oracle.numbers import Arithmetic
from workbench.lang.oracle.scalars import is_small
from workbench.lang.oracle.values import Memory, Values
from workbench.records import record


@record
class Execution:
    """One execution of a statement: for given sizes and values of the enclosing axes."""

    statement: Statement
    fixed: Mapping[str, int]
    memory: Memory
    arithmetic: Arithmetic
    own: list[Read]
    reading: dict[int, bool]

    @cached_property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(r for r in self.statement.ranges if r.kind != "sequential")

    @cached_property
    def factors(self) -> tuple[Expr, ...] | None:
        """The factors of a sum of products that may be contracted as a whole, or None."""
        return None if self.own else factors(self.statement)

    @cached_property
    def one_by_one(self) -> bool:
        """Whether the statement can be run by `run_instances`."""
        return is_small(self.statement) and len(self.statement.targets) == 1 and bool(self.ranges)

    def values(self, block: Block) -> Values:
        return Values(self.memory, block, self.arithmetic, self.statement.name, self.reading)
