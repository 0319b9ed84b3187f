"""Results with the shapes of inputs: their types are written where their cells do not follow from the statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.errors import OperatorError
from workbench.lang.algebra.normal_form import bound, extreme, is_plain, polynomial
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Const, Expr
from workbench.lang.operator import For, Operator, Statement, Step, Target, Tensor

Make = Callable[[tuple[Step, ...], tuple[str, ...]], Operator]


def with_shapes(make: Make, results: tuple[Tensor, ...], body: tuple[Step, ...]) -> Operator:
    """The operator that `make` reads from a body and the names of results whose types are written."""
    try:
        found = make(body, ())
    except OperatorError:
        unclear = tuple(each.name for each in results if each.name in _computed(body))
        if not unclear:
            raise
    else:
        unclear = tuple(each.name for each in results if each.extent != found.tensors[each.name].extent)
        if not unclear:
            return found
    typed = make(body, unclear)
    loops = {t.tensor for s, axes in walked(body) if axes for t in s.targets} & {*unclear}
    doubted = {name for name in loops if any(f" of {name} is annotated" in c.reason for c in typed.conditions)}
    boxes = {each.name: each for each in results if each.name in doubted}
    return make(tuple(_inside(step, boxes) for step in body), unclear) if boxes else typed


def _computed(body: tuple[Step, ...]) -> set[str]:
    """Tensors of which some cell is found through data."""
    targets = (target for statement, _ in walked(body) for target in statement.targets)
    return {target.tensor for target in targets if not all(map(is_plain, target.subscripts))}


def _inside(step: Step, boxes: dict[str, Tensor], *, within: bool = False) -> Step:
    """A step whose targets are seen to be cells, inside loops whose bounds depend on one another."""
    if isinstance(step, For):
        return For(step.axis, tuple(_inside(each, boxes, within=True) for each in step.body))
    if not within or not any(target.tensor in boxes for target in step.targets):
        return step
    return _clamped(step, boxes)


def _clamped(statement: Statement, boxes: dict[str, Tensor]) -> Statement:
    targets = tuple(
        Target(t.tensor, tuple(map(_between, t.subscripts, boxes[t.tensor].extent))) if t.tensor in boxes else t
        for t in statement.targets
    )
    return replace(statement, targets=targets)


def _between(subscript: Expr, extent: Expr) -> Expr:
    """A subscript of a result, whose cells begin at 0."""
    if not is_plain(subscript) or isinstance(subscript, Const):
        return subscript
    least = polynomial(Const(0, extent.dtype))
    last = polynomial(extent) - 1
    return bound(extreme("max", [extreme("min", [polynomial(subscript), last]), least]))
