"""Loops that run backwards."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.algebra.normal_form import bound, polynomial
from workbench.lang.derived.building import Building
from workbench.lang.derived.forward.stepping import overwrites, read, written
from workbench.lang.derived.placing.placement import renewed
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Expr, Index
from workbench.lang.operator import For, Range, Step, Target


def begins_anew(step: For, name: str, building: Building) -> bool:
    """Whether each iteration overwrites a tensor before it reads it."""
    for each in step.body:
        if isinstance(each, For):
            if any(name in read(s) | written(s) for s, _ in walked((each,))):
                return False
            continue
        if name in read(each):
            return False
        if name in written(each):
            return overwrites(each, building)
    return False


def reversed_loop(axis: Range, body: tuple[Step, ...]) -> For:
    """The loop whose first turn is the last: its axis counts the other way."""
    low, high = polynomial(axis.lower), polynomial(axis.upper)
    last = bound(low + high - 1 - polynomial(Index(axis.index)))
    return For(axis, tuple(_turned(each, {axis.index: last}) for each in body))


def _turned(step: Step, new: dict[str, Expr]) -> Step:
    if isinstance(step, For):
        return For(_turned_range(step.axis, new), tuple(_turned(each, new) for each in step.body))
    return replace(
        step,
        targets=tuple(Target(t.tensor, tuple(renewed(s, new) for s in t.subscripts)) for t in step.targets),
        values=tuple(renewed(value, new) for value in step.values),
        ranges=tuple(r if r.kind == "sequential" else _turned_range(r, new) for r in step.ranges),
    )


def _turned_range(of: Range, new: dict[str, Expr]) -> Range:
    return replace(of, lower=renewed(of.lower, new), upper=renewed(of.upper, new))
