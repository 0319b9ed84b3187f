"""Ranges of one statement: its accesses become constraints, inference solves them, the loop order is fixed."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.diagnostics import Problem
from workbench.lang.draft import Draft, ordered_indices
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Expr, Read, Select, Size, children, integer
from workbench.lang.intervals import Interval
from workbench.lang.operator import Condition, IndexKind, Range
from workbench.lang.polynomial import Poly, add, expression, indices_of, polynomial
from workbench.lang.printer import show
from workbench.lang.ranges import ANNOTATED, GUARDED, UNCONDITIONAL, Constraint, Inference, access_constraints, reason_for
from workbench.lang.scope import Box, Context


def infer_ranges(context: Context, draft: Draft) -> tuple[Range, ...]:
    """Every index of the statement with its range, in loop order; Problem if one cannot be solved."""
    solved = {axis.index: Interval(polynomial(axis.lower), polynomial(axis.upper)) for axis in context.axes}
    for index, (lower, upper) in draft.local.ranges.items():
        solved[index] = Interval(polynomial(lower), polynomial(upper))
    _check_where_ranges(context, draft, solved)
    wanted = ordered_indices((*draft.subscripts[0], *draft.values, *draft.exists))
    unsolved = [index for index in wanted if index not in solved]
    inference = Inference(list(_constraints(context, draft)), unsolved, solved, context.facts)
    inference.run()
    if inference.unsolved:
        raise _unsolved(draft, inference)
    for name, reason in inference.positive.items():
        context.require(Condition(Binary(">", Size(name), integer(0), BOOL), f"{reason} in {_title(draft)}"))
    _check_not_empty(context, draft, inference)
    return tuple(context.axes) + _in_loop_order(context, draft, inference)


def _title(draft: Draft) -> str:
    return f"the statement for {draft.states[0].name}"


def _constraints(context: Context, draft: Draft) -> Iterator[Constraint]:
    for expr in (*draft.subscripts[0], *draft.values, *draft.exists):
        for read, guarded in accesses(expr):
            box = context.states[read.tensor].box
            if box is not None:
                yield from _of_access(read, box, GUARDED if guarded else UNCONDITIONAL)
    for state, subscripts in zip(draft.states, draft.subscripts, strict=True):
        box = state.box if state.box is not None else state.declared
        if box is not None:
            tier = UNCONDITIONAL if state.role == "inout" else ANNOTATED
            yield from _of_access(Read(state.name, subscripts, BOOL), box, tier)


def _of_access(read: Read, box: Box, tier: int) -> Iterator[Constraint]:
    for dimension, (subscript, (lower, upper)) in enumerate(zip(read.subscripts, box, strict=True)):
        reason = reason_for(read, subscript, dimension, lower, upper)
        yield from access_constraints(subscript, lower, upper, reason, tier)


def accesses(expr: Expr) -> Iterator[tuple[Read, bool]]:
    """Every read of the expression, and whether a condition decides if it happens."""
    stack = [(expr, False)]
    while stack:
        node, guarded = stack.pop()
        if isinstance(node, Read) and node.subscripts:
            yield node, guarded
        parts = children(node)
        conditional = isinstance(node, Select) or (isinstance(node, Binary) and node.op in ("&&", "||"))
        for part in reversed(parts):
            stack.append((part, guarded or (conditional and part is not parts[0])))


def _check_where_ranges(context: Context, draft: Draft, solved: dict[str, Interval]) -> None:
    used = set(draft.all_indices()) | set(ordered_indices(tuple(draft.exists)))
    for index, clause in draft.local.clauses.items():
        for name in indices_of(solved[index].lower) | indices_of(solved[index].upper):
            if name not in used and name not in solved:
                message = f"the range of {index!r} uses {name!r}, which the statement does not"
                raise Problem(message, clause.span, "bounds use sizes, scalars and indices of the same statement")
        if index not in used and draft.reduction is None:
            raise Problem(f"{index!r} has a range but the statement does not use it", clause.span, "leave it out")


def _check_not_empty(context: Context, draft: Draft, inference: Inference) -> None:
    for index, interval in inference.solved.items():
        if context.facts.at_least(add(interval.lower, interval.upper, -1), 0):
            clause = draft.local.clauses.get(index)
            span = clause.span if clause else draft.local.spans.get(index, draft.span)
            words = f"{show(expression(interval.lower))}:{show(expression(interval.upper))}"
            how = inference.derivations.get(index)
            raise Problem(f"inferred an empty range for {index!r}: {words}" + (f"; {how}" if how else ""), span)


def _unsolved(draft: Draft, inference: Inference) -> Problem:
    index = inference.unsolved[0]
    known = [
        f"{name} in {show(expression(interval.lower))}:{show(expression(interval.upper))}"
        for name, interval in inference.solved.items()
    ]
    names = ", ".join(repr(name) for name in inference.unsolved)
    reasons = dict.fromkeys(c.reason for c in inference.constraints if index in indices_of(c.form))
    lines = [f"could not infer the range of {names}"]
    lines.append(f"known: {', '.join(known)}" if known else "nothing is solved yet")
    lines += list(reasons)[:4] or [f"no access has {index!r} in a subscript that is affine"]
    return Problem("; ".join(lines), draft.local.spans.get(index, draft.span), f"add: where {index} in 0:...")


def _in_loop_order(context: Context, draft: Draft, inference: Inference) -> tuple[Range, ...]:
    axes = {axis.index for axis in context.axes}
    free = [index for index in draft.free_indices() if index not in axes]
    rest = [index for index in draft.all_indices() if index not in axes and index not in free]
    rest += [index for index in draft.local.ranges if index not in free and index not in rest]
    ordered = _sorted(draft, free, inference, axes)
    ordered += _sorted(draft, rest, inference, axes | set(free))
    return tuple(_range(draft, index, "free" if index in free else "reduction", inference) for index in ordered)


def _sorted(draft: Draft, indices: list[str], inference: Inference, before: set[str]) -> list[str]:
    """The same order, but an index comes after those its range uses."""
    ordered: list[str] = []
    waiting = list(indices)
    while waiting:
        ready = [index for index in waiting if _used(inference.solved[index]) <= before | set(ordered)]
        if not ready:
            raise _circular(draft, waiting[0], inference)
        ordered.append(ready[0])
        waiting.remove(ready[0])
    return ordered


def _used(interval: Interval) -> set[str]:
    return indices_of(interval.lower) | indices_of(interval.upper)


def _circular(draft: Draft, index: str, inference: Inference) -> Problem:
    clause = draft.local.clauses[index]
    others = ", ".join(sorted(_used(inference.solved[index])))
    if index in draft.free_indices():
        message = f"the range of {index!r}, which is on the left, depends on {others}, which is reduced or depends on it"
        return Problem(message, clause.span, f"turn it round: give {others} a range that depends on {index}")
    return Problem(f"the ranges of {index!r} and {others} depend on each other", clause.span)


def _range(draft: Draft, index: str, kind: IndexKind, inference: Inference) -> Range:
    interval = inference.solved[index]
    derivation = inference.derivations.get(index, "given by the where clause")
    return Range(index, _bound(interval.lower), _bound(interval.upper), kind, derivation)


def _bound(form: Poly) -> Expr:
    return expression(form)
