"""`wb.jvp`: the operator that computes directional derivatives next to values, from an operator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.lang.derived.building import Building
from workbench.lang.derived.calculus.algebra import ONE, ZERO, both, compared_by, if_then_else, over, plus, times
from workbench.lang.derived.calculus.pullback import all_of, derivatives
from workbench.lang.derived.differentiable import active, index_names_of, inputs_chosen
from workbench.lang.derived.forward.plain import plain_steps
from workbench.lang.derived.systems import facts_of
from workbench.lang.derived.text.source import Names, source
from workbench.lang.derived.text.writing import Derived
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Cast, Const, Expr
from workbench.lang.operator import For, Operator, Statement, Step


def jvp(op: Operator, wrt: str | Iterable[str] | None = None) -> Operator:
    """The operator that computes values and their derivatives in one direction, by forward accumulation (Wengert 1964).

    `<name>_jvp` takes what the operator takes, then `t_<input>`, the direction, for every input in `wrt` (by default
    every one of floats); it returns the outputs, then `t_<output>` for every output of floats.  An output that is
    given as `out=` has its direction given there too.

    >>> from workbench.lang import operator
    >>> print(jvp(operator("def square(float(N) x) -> (y) { y(i) = x(i) * x(i) }")))
    def square_jvp(float(N) x, float(N) t_x) -> (y, t_y) {
        t_y(i) = t_x(i) * (2.0 * x(i))
        y(i) = x(i) * x(i)
    }
    """
    return _Tangents(op, wrt).operator()


class _Tangents:
    """One program with the statements of its tangents between its own."""

    def __init__(self, op: Operator, wrt: str | Iterable[str] | None) -> None:
        self.source = source(op, "jvp")
        self.op = taken = self.source.op
        chosen = inputs_chosen(self.source, wrt)
        self.initial = [name for name in chosen if name in taken.outputs]
        self.chosen = [name for name in chosen if name not in taken.outputs]
        self.names = Names(self.source.taken())
        self.building = Building(dict(taken.tensors), self.names, facts_of(taken), index_names=index_names_of(taken))
        self.steps = plain_steps(taken.body, self.building)
        self.active = active(self.steps, chosen, self.building.tensors, set())
        floats = {name for name in taken.outputs if taken.tensors[name].dtype.is_float}
        self.tangents = {name: self._tangent(name) for name in sorted({*self.active, *floats, *self.chosen})}

    def _tangent(self, name: str) -> str:
        building = self.building
        new = self.names(f"t_{name}")
        given = name in self.chosen or name in self.initial
        of = building.tensors[name] if given or name in self._annotated() else building.like_tensor(name)
        building.tensors[new] = replace(of, name=new)
        building.index_names[new] = building.indices(name)
        return new

    def _annotated(self) -> set[str]:
        return {p.name.name for p in self.source.define.outputs if p.type is not None}

    def operator(self) -> Operator:
        op, narrow = self.op, set(self.source.narrow)
        self._write(self.steps)
        own = [name for name in op.outputs if op.tensors[name].dtype.is_float]
        typed = self._annotated()
        narrow |= {self.tangents[x] for x in self.tangents if x in narrow and (x in self.chosen or x in typed)}
        derived = Derived(
            self.source, f"{op.name}_jvp",
            (*op.parameters, *(self.tangents[name] for name in self.chosen)),
            (*op.outputs, *(self.tangents[name] for name in own)),
            {name: each for name, each in self.building.tensors.items() if name not in op.parameters},
            tuple(self.building.steps), frozenset(narrow), op.promises,
            annotated=frozenset({*typed, *(self.tangents[name] for name in own if name in typed)}),
        )  # fmt: skip
        return derived.operator()

    def _write(self, steps: tuple[Step, ...]) -> None:
        building = self.building
        for step in steps:
            if isinstance(step, Statement):
                self._statement(step)
                continue
            outer, axes = building.steps, building.axes
            building.steps, building.axes = [], (*axes, step.axis)
            self._write(step.body)
            outer.append(For(step.axis, tuple(building.steps)))
            building.steps, building.axes = outer, axes

    def _statement(self, statement: Statement) -> None:
        """Tangents that need the values before the statement come first, those of a choice after it."""
        if statement.reduction not in (None, "+", "*"):
            self.building.steps.append(statement)
            self._of_choice(statement)
            return
        for target, value in zip(statement.targets, statement.values, strict=True):
            if target.tensor in self.tangents:
                self._of_value(statement, target.tensor, value)
        self.building.steps.append(statement)

    def _directional(self, value: Expr) -> Expr:
        """The derivative of a value in the direction of all tangents."""
        total: Expr = ZERO
        for node, shares in derivatives(value, self.active).items():
            seed = self.building.read(self.tangents[node.tensor], node.subscripts)
            for guard, factor in shares.items():
                total = plus(total, if_then_else(all_of(guard), times(seed, factor)))
        return total

    def _of_value(self, statement: Statement, name: str, value: Expr) -> None:
        building = self.building
        total = self._directional(value)
        own = tuple(r for r in statement.ranges if r.kind != "sequential")
        subscripts, reduction = statement.targets[0].subscripts, statement.reduction
        if reduction == "*":
            total, reduction = times(total, self._others(statement, value)), "+"
        if total == ZERO:
            self._cleared(statement, name)
            return
        building.assign(self.tangents[name], subscripts, total, own, reduction, initialise=statement.initialise)

    def _cleared(self, statement: Statement, name: str) -> None:
        building = self.building
        if statement.reduction is not None and not statement.initialise:
            return
        if statement.reduction is not None and statement.initialises_all:
            building.fill(self.tangents[name], ZERO)
            return
        own = tuple(r for r in statement.ranges if r.kind == "free")
        building.assign(self.tangents[name], statement.targets[0].subscripts, ZERO, own)

    # --- reductions

    def _others(self, statement: Statement, value: Expr) -> Expr:
        """The product of all other factors, also where some are 0."""
        is_null = compared_by("==", value, ZERO)
        one = Cast(ONE, value.dtype)
        others = self.building.reduced(statement, "others", "*", if_then_else(is_null, ONE, value), value.dtype)
        nulls = self.building.reduced(statement, "nulls", "+", if_then_else(is_null, one), value.dtype)
        only = if_then_else(both(compared_by("==", nulls, ONE), is_null), others)
        return if_then_else(compared_by("==", nulls, ZERO), over(others, value), only)

    def _of_choice(self, statement: Statement) -> None:
        """Equal places of a minimum or maximum have equal shares."""
        building = self.building
        wins: Expr = Const(True, BOOL)
        for target, value in zip(statement.targets, statement.values, strict=True):
            wins = both(wins, compared_by("==", value, building.read(target.tensor, target.subscripts)))
        own = tuple(r for r in statement.ranges if r.kind != "sequential")
        for target, value in zip(statement.targets, statement.values, strict=True):
            if target.tensor not in self.tangents:
                continue
            total = self._directional(value)
            if total == ZERO:
                self._cleared(statement, target.tensor)
                continue
            cell = building.read(target.tensor, target.subscripts)
            one = if_then_else(wins, Cast(ONE, cell.dtype))
            count = self.building.reduced(statement, "count", "+", one, cell.dtype)
            shared = if_then_else(wins, over(total, count))
            building.assign(self.tangents[target.tensor], target.subscripts, shared, own, "+", initialise=True)
