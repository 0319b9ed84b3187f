"""Expressions at instances: where what they read was written, and which numbers they are."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.algebra.identities import combined, identity
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Select, children, reads
from workbench.lang.operator import Monoid
from workbench.poly.dataflow.last_writers import Assignment, Dataflow
from workbench.poly.programs.affine import affine_text, guard
from workbench.poly.sets import isl
from workbench.poly.sets.unpack import maps
from workbench.records import record

FOLDED = {"abs": lambda given: abs(given[0]), "max": max, "min": min}
DEEPEST = 24


@record
class Value:
    """An expression of an assignment at some of its instances: `where` leads there from each instance that asks.

    `depth` counts how many assignments lie between.
    """

    flow: Dataflow
    step: Assignment
    where: isl.Map
    expr: Expr
    depth: int = 0

    def part(self, expr: Expr) -> Value:
        """Another expression there."""
        return replace(self, expr=expr)

    def on(self, asking: isl.Set) -> Value:
        """Only for these that ask."""
        return replace(self, where=self.where.intersect_domain(asking))

    def sources(self) -> isl.UnionMap:
        """Where what is read was written; the expression must be a read."""
        return isl.UnionMap.from_map(self.where).apply_range(self.flow.read(self.step, self.expr))

    def cases(self, sources: isl.UnionMap | None = None) -> list[Value] | None:
        """What it is in other words, each for some that ask: what `sources` of a read write (all of them, if they are
        not given), or the branches of a choice that instances decide.

        A source `zero` gives 0.  None if there are no such words: where it is not certain which source is read, or
        where one would look through too many assignments.
        """
        match self.expr:
            case Select(condition, then, otherwise, _):
                text, exact = guard(condition)
                holds = isl.parse_set(f"{{ {self.step.tuple} : {text or 'true'} }}")
                yes, no = self.where.intersect_range(holds), self.where.subtract_range(holds)
                return [replace(self, where=yes, expr=then), replace(self, where=no, expr=otherwise)] if exact else None
            case Read() as read if not any(reads(*read.subscripts)) and self.depth < DEEPEST:
                given = self.sources() if sources is None else sources
                found = [value for piece in maps(given) if (value := self._written(piece))]
                return found if len(found) == len(maps(given)) and given.is_single_valued() else None
        return None

    def _written(self, source: isl.Map) -> Value | None:
        step = self.flow.steps.get(name := str(source.get_tuple_name(isl.dim.out)))
        if step is not None and step.certain:
            return Value(self.flow, step, source, step.value, self.depth + 1)
        zero = Const(0.0 if self.expr.dtype.is_float else 0, self.expr.dtype)
        return Value(self.flow, self.step, source, zero, self.depth + 1) if name == "zero" else None

    def number(self) -> isl.Map:
        """Index arithmetic by its value, for each that asks; NotAffine if it has none."""
        return self.where.apply_range(isl.parse_map(f"{{ {self.step.tuple} -> [{affine_text(self.expr)}] }}"))

    def constant(self) -> int | float | None:
        """The number that it is for all that ask, whatever the data; None if it is not known to be one.

        Reads are followed through certain writes.  Floats are folded as doubles.
        """
        match self.expr:
            case Const(value, _):
                return value
            case Read() | Select():
                cases = self.cases()
                found = {case.constant() for case in cases if not case.where.is_empty()} if cases else {None}
            case Cast(operand, dtype) if dtype.holds(operand.dtype):
                return self.part(operand).constant()
            case Binary("+" | "-" | "*") | Call("abs" | "max" | "min"):
                given = [self.part(e).constant() for e in children(self.expr)]
                found = {_folded(self.expr, [v for v in given if v is not None]) if None not in given else None}
            case _:
                return None
        return found.pop() if len(found) == 1 else None


def _folded(expr: Expr, given: list[int | float]) -> int | float | None:
    match expr:
        case Binary(op, _, _, _):
            return {"+": given[0] + given[1], "-": given[0] - given[1], "*": given[0] * given[1]}[op]
        case Call(name, _, _):
            return FOLDED[name](given)
    return None


def changes_nothing(update: Value, reduction: str | Monoid | None) -> bool:
    """Whether an update by a reduction, an assignment `x = x ⊕ e`, leaves its cells as they are (no tuple's)."""
    target = update.step.own.targets[0]
    operands = children(update.expr)
    added = [e for e in operands if not (isinstance(e, Read) and (e.tensor, e.subscripts) == target)]
    if not isinstance(reduction, str) or len(operands) != 2 or len(added) != 1:
        return False
    unit = identity(reduction, 0, added[0].dtype)
    made = update.expr in combined(reduction, 0, operands[:1], operands[1:])
    return made and isinstance(unit, Const) and update.part(added[0]).constant() == unit.value


def exactly_converted(expr: Expr) -> Expr | None:
    """What a conversion to a type that has every number of the narrower one converts: the same number."""
    exact = isinstance(expr, Cast) and expr.dtype.holds(expr.operand.dtype)
    return expr.operand if isinstance(expr, Cast) and exact else None
