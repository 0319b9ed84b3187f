"""Loop code as isl's scanner finds it, before any target: five frozen nodes.

Expressions are language expressions of dtype int64: Index(loop variable), Size(symbol), Const, + - * / %,
min, max and comparisons joined by && and ||.  `/` and `%` floor.
"""

from __future__ import annotations

from workbench.lang.expr import Expr
from workbench.poly.programs.tree import LoopKind
from workbench.records import record


@record(slots=True)
class Block:
    """Statements one after another."""

    body: tuple[Code, ...]


@record(slots=True)
class ForLoop:
    """`for (variable = lower; variable < upper; variable += step)`; `loop` is the schedule's loop name.

    The variable's name is the loop's name made unique.
    """

    variable: str
    loop: str
    lower: Expr
    upper: Expr
    step: int
    kind: LoopKind
    body: Code


@record(slots=True)
class If:
    """A guard."""

    condition: Expr
    then: Code
    otherwise: Code | None = None


@record(slots=True)
class Let:
    """A degenerate loop: `variable` has the single value `value` in `body`."""

    variable: str
    loop: str
    value: Expr
    body: Code


@record(slots=True)
class Visit:
    """Execute one instance of a statement: `arguments[d]` is the value of its dim `d`."""

    statement: str
    arguments: tuple[Expr, ...]


Code = Block | ForLoop | If | Let | Visit
