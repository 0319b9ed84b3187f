"""Statements that are read once are written where they are read."""

from __future__ import annotations

from dataclasses import replace

from workbench.lang.algebra.normal_form import is_plain, polynomial
from workbench.lang.algebra.polynomial import ZERO, atom
from workbench.lang.derived.forward.stepping import read, written
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Expr, Index, Read, reads, substitute, transform
from workbench.lang.operator import For, Statement, Step


def inlined(steps: list[Step], kept: set[str]) -> list[Step]:
    """The steps without the pointwise ones whose result one other pointwise statement reads; `kept` stay."""
    steps = list(steps)
    at = 0
    while at < len(steps):
        step = steps[at]
        reader = _only_reader(steps, at, kept) if isinstance(step, Statement) and _is_pointwise(step) else None
        if reader is None:
            at += 1
            continue
        assert isinstance(step, Statement)
        steps[reader] = _put_in(step, steps[reader])
        del steps[at]
        at = max(0, at - 1)
    return steps


def _is_pointwise(step: Statement) -> bool:
    """Whether each instance sets the cell of its indices, and reads of its own tensor that cell alone."""
    target = step.targets[0]
    names = [s.name for s in target.subscripts if isinstance(s, Index)]
    if step.reduction is not None or len(step.targets) > 1 or len(set(names)) < len(target.subscripts):
        return False
    return all(each.subscripts == target.subscripts for each in reads(*step.values) if each.tensor == target.tensor)


def _only_reader(steps: list[Step], at: int, kept: set[str]) -> int | None:
    """The one later step that reads the result, if nothing that matters happens in between."""
    step = steps[at]
    assert isinstance(step, Statement)
    name = step.targets[0].tensor
    if name in kept:
        return None
    users = [n for n in range(at + 1, len(steps)) if _touches(steps[n], name)]
    earlier = any(name in written(each) for each in steps[:at])
    if len(users) != 1 or (earlier and name not in read(step)):
        return None
    (reader,) = users
    user = steps[reader]
    if not isinstance(user, Statement) or name in written(user) or not _fits(step, user):
        return None
    changed = {each for between in steps[at + 1 : reader + 1] for each in written(between)}
    return None if changed & read(step) else reader


def _touches(step: Step, name: str) -> bool:
    return any(name in read(s) | {t.tensor for t in s.targets} for s, _ in walked((step,)))


def _fits(step: Statement, user: Statement) -> bool:
    """Whether the reader has no more instances than the statement."""
    if user.reduction is not None and len(user.ranges) > len(step.ranges):
        return False
    found = [each for each in reads(*user.values) if each.tensor == step.targets[0].tensor]
    names = {r.index for r in user.ranges}
    whole = all({_moved(s) for s in each.subscripts} - {""} == names for each in found)
    return len(found) == 1 and whole


def _moved(subscript: Expr) -> str:
    """The index that a subscript is, but for what is the same for all of them; "" if it is none."""
    form = polynomial(subscript) if is_plain(subscript) else ZERO
    names = form.indices
    only = names.pop() if len(names) == 1 else ""
    return only if only and not (form - atom(Index(only))).indices else ""


def _put_in(step: Statement, user: Step) -> Statement:
    assert not isinstance(user, For)
    target, value = step.targets[0], step.values[0]

    def change(node: Expr) -> Expr:
        if not isinstance(node, Read) or node.tensor != target.tensor:
            return node
        names = [s.name for s in target.subscripts if isinstance(s, Index)]
        return substitute(value, dict(zip(names, node.subscripts, strict=True)))

    return replace(user, values=tuple(transform(each, change) for each in user.values))
