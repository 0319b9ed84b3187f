"""An operator as mathematics: equations with the ranges of their indices, loops over sequential axes."""

from __future__ import annotations

from collections import Counter

from workbench.lang.expr import reads
from workbench.lang.operator import For, Monoid, Operator, Range, Statement, Step
from workbench.records import record
from workbench.viz.math_of import STRENGTH, math_of
from workbench.viz.math_tree import Big, Fence, Math, Name, Script, Sign, listed, row


@record
class Equation:
    """One statement; `ranges` are those of its own indices, sequential axes left to the loop around."""

    statement: str
    math: Math
    ranges: tuple[Math, ...]


@record
class Repeat:
    """`for axis: body`."""

    axis: Math
    body: tuple[Equation | Repeat, ...]


def formula_data(op: Operator) -> tuple[Equation | Repeat, ...]:
    """The operator's statements in order."""
    writes = Counter(t.tensor for s in op.statements() for t in s.targets)
    again = {name for name, n in writes.items() if n > 1} | {n for n, t in op.tensors.items() if t.role == "inout"}
    return tuple(_step(step, again, ()) for step in op.body)


def _step(step: Step, again: set[str], axes: tuple[str, ...]) -> Equation | Repeat:
    if isinstance(step, For):
        body = tuple(_step(s, again, (*axes, step.axis.index)) for s in step.body)
        return Repeat(range_math(step.axis), body)
    own = tuple(range_math(r) for r in step.ranges if r.index not in axes)
    return Equation(step.name, _equation(step, again), own)


def range_math(r: Range) -> Math:
    """`0 ≤ m < M`."""
    lower, upper = math_of(r.lower, STRENGTH["<"][0] + 1), math_of(r.upper, STRENGTH["<"][0] + 1)
    return row(lower, Sign("≤"), Name(r.index), Sign("<"), upper)


def _equation(s: Statement, again: set[str]) -> Math:
    targets = [_cell(t.tensor, tuple(math_of(e) for e in t.subscripts)) for t in s.targets]
    values = [math_of(v) for v in s.values]
    left = targets[0] if len(targets) == 1 else Fence("(", listed(targets), ")")
    reads_itself = any(read.tensor in {t.tensor for t in s.targets} for read in reads(*s.values))
    repeated = bool(again & {t.tensor for t in s.targets}) or reads_itself
    right = _reduced(s, values)
    if s.reduction is None or s.initialise:
        return row(left, Sign("←" if repeated else "="), right)
    return row(left, Sign("←"), _combined(s.reduction, left, right))


def _cell(tensor: str, subscripts: tuple[Math, ...]) -> Math:
    return Script(Name(tensor), subscripts) if subscripts else Name(tensor)


def _reduced(s: Statement, values: list[Math]) -> Math:
    """The values under a sum, product, maximum or the monoid's name."""
    over = tuple(Name(i) for i in s.indices("reduction"))
    symbol = s.reduction.name if isinstance(s.reduction, Monoid) else str(s.reduction)
    value = values[0] if len(values) == 1 else Fence("(", listed(values), ")")
    if not over:
        return value
    weak = symbol in ("+", "*") and _is_sum(s)
    return Big(symbol, over, Fence("(", value, ")") if weak else value)


def _is_sum(s: Statement) -> bool:
    """Whether the value holds together more weakly than a product."""
    return math_of(s.values[0]) != math_of(s.values[0], STRENGTH["*"][0])


def _combined(reduction: str | Monoid, old: Math, new: Math) -> Math:
    """The old value of the cell combined with the new one."""
    match reduction:
        case "+":
            return row(old, Sign("+"), new)
        case "*":
            return row(old, Sign("·"), new)
    name = reduction.name if isinstance(reduction, Monoid) else reduction
    return row(Name(name, upright=True), Fence("(", listed([old, new]), ")"))
