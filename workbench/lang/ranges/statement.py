"""Ranges of one statement: accesses become constraints, inference solves them, the loop order is fixed."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, is_plain, polynomial
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import (
    COMPARISONS,
    Binary,
    Const,
    Expr,
    Index,
    Read,
    Select,
    Size,
    children,
    index_names,
    integer,
    walk,
)
from workbench.lang.operator import Condition, IndexKind, Range
from workbench.lang.printing.printer import print_statement, print_term, show
from workbench.lang.ranges.inference import (
    ANNOTATED,
    GUARDED,
    UNCONDITIONAL,
    Constraint,
    Inference,
    access_constraints,
    reason_for,
)
from workbench.lang.ranges.intervals import Interval, highest, lowest
from workbench.lang.scopes.draft import Draft, ordered_indices
from workbench.lang.scopes.scope import Box, Context, TensorState
from workbench.lang.syntax.diagnostics import Problem
from workbench.lang.syntax.syntax import RangeClause
from workbench.lang.syntax.terms import Apply, Name, terms


def infer_ranges(context: Context, draft: Draft) -> tuple[Range, ...]:
    """Every index of the statement with its range, in loop order; Problem if one cannot be solved."""
    solved = {axis.index: Interval(polynomial(axis.lower), polynomial(axis.upper)) for axis in context.axes}
    for index, (lower, upper) in draft.local.ranges.items():
        solved[index] = Interval(polynomial(lower), polynomial(upper))
    _check_where_ranges(context, draft, solved)
    wanted = ordered_indices((*draft.subscripts[0], *draft.values, *draft.exists))
    unsolved = [index for index in wanted if index not in solved]
    open_ranges = bool(unsolved)  # accesses are asked only where some range is not told
    reads, targets = ([*_of_reads(context, draft)], [*_of_targets(context, draft)]) if open_ranges else ([], [])
    inference = Inference([*reads, *targets], unsolved.copy(), solved.copy(), context.facts)
    inference.run()
    if inference.unsolved:
        raise _unsolved(draft, inference, list(context.states))
    if any(_updates(draft, state) for state in draft.states):
        alone = Inference(reads, unsolved, solved, Facts(dict(context.facts.lowest)))
        alone.run()
        _warn_of_cut(context, draft, inference, alone)
    _warn_of_conditions(context, draft, inference)
    for name, reason in inference.positive.items():
        context.require(Condition(Binary(">", Size(name), integer(0), BOOL), f"{reason} in {_title(draft)}"))
    _check_not_empty(context, draft, inference)
    ranges = tuple(context.axes) + _in_loop_order(context, draft, inference)
    _check_reads(context, draft, inference)
    return ranges


def _title(draft: Draft) -> str:
    return f"the statement for {draft.states[0].name}"


def _of_reads(context: Context, draft: Draft) -> Iterator[Constraint]:
    annotated = any(state.declared is not None for state in draft.states)
    for expr in (*draft.subscripts[0], *draft.values, *draft.exists):
        for read, guarded in accesses(expr, by_data=annotated):
            box = context.states[read.tensor].box
            if box is not None:
                yield from _of_access(read, box, GUARDED if guarded else UNCONDITIONAL)


def _of_targets(context: Context, draft: Draft) -> Iterator[Constraint]:
    for state, subscripts in zip(draft.states, draft.subscripts, strict=True):
        box = state.box if state.box is not None else state.declared
        if box is not None:
            tier = UNCONDITIONAL if _updates(draft, state) or state.role == "inout" else ANNOTATED
            yield from _of_access(Read(state.name, subscripts, BOOL), box, tier)


def _updates(draft: Draft, state: TensorState) -> bool:
    """Whether the statement combines with what an earlier one wrote, which it then reads."""
    return state.written and draft.reduction is not None and not draft.initialise


def _warn_of_cut(context: Context, draft: Draft, inference: Inference, alone: Inference) -> None:
    """Say where an update runs over fewer cells than its reads allow."""
    name = draft.states[0].name
    for index, interval in alone.solved.items():
        if not _contains(context.facts, found := inference.solved[index], interval):
            inference.apart.pop(index, None)
            context.warnings.append(
                f"`{print_statement(draft.node)}` runs over {index} in {_interval_words(found)}, the cells of {name!r} "
                f"written before; its reads alone allow {_interval_words(interval)}"
            )


def _contains(facts: Facts, outer: Interval, inner: Interval) -> bool:
    """Whether it is known, whatever the sizes, that the one has all of the other."""
    return facts.at_least(inner.lower - outer.lower, 0) and facts.at_least(outer.upper - inner.upper, 0)


def _warn_of_conditions(context: Context, draft: Draft, inference: Inference) -> None:
    """Say where accesses under conditions allow different ranges: all of them are kept inside, by fewer instances."""
    for index, allowed in inference.apart.items():
        alone = (f"{reason.partition(' needs ')[0]} {_interval_words(own)}" for reason, own in allowed.items())
        context.warnings.append(
            f"`{print_statement(draft.node)}` runs over {index} in {_interval_words(inference.solved[index])}, "
            f"where all accesses under conditions are inside; alone they allow {', '.join(alone)}. "
            f"If a condition keeps one inside, write where {index} in ..."
        )


def _of_access(read: Read, box: Box, tier: int) -> Iterator[Constraint]:
    for dimension, (subscript, (lower, upper)) in enumerate(zip(read.subscripts, box, strict=True)):
        reason = reason_for(read, subscript, dimension, lower, upper)
        yield from access_constraints(subscript, lower, upper, reason, tier)


def accesses(expr: Expr, *, by_data: bool) -> Iterator[tuple[Read, bool]]:
    """Every read, and whether a condition decides if it happens: one on indices, or also one on `by_data` alone."""
    stack = [(expr, False)]
    while stack:
        node, guarded = stack.pop()
        if isinstance(node, Read) and node.subscripts:
            yield node, guarded
        parts = children(node)
        conditional = isinstance(node, Select) or (isinstance(node, Binary) and node.op in ("&&", "||"))
        decides = conditional and (by_data or _limits_indices(parts[0]))
        for position, part in reversed(list(enumerate(parts))):
            stack.append((part, guarded or (decides and position > 0)))


def _limits_indices(condition: Expr) -> bool:
    """Whether a condition compares indices, so that it can keep an access inside its tensor; data cannot."""
    return any(
        isinstance(node, Binary) and node.op in COMPARISONS and is_plain(node.left) and is_plain(node.right)
        for node in walk(condition)
    )


def _check_where_ranges(context: Context, draft: Draft, solved: dict[str, Interval]) -> None:
    if not draft.local.clauses:
        return
    used = set(draft.all_indices()) | set(ordered_indices(tuple(draft.exists)))
    for index, clause in draft.local.clauses.items():
        for name in solved[index].indices:
            if name not in used and name not in solved:
                raise _unknown_bound(context, index, name, clause)
        if index not in used and draft.reduction is None:
            raise Problem(f"{index!r} has a range but the statement does not use it", clause.span, "leave it out")


def _unknown_bound(context: Context, index: str, name: str, clause: RangeClause) -> Problem:
    known = list(context.facts.lowest)
    close = get_close_matches(name, known, n=1, cutoff=0.6) or [each for each in known if each.lower() == name.lower()]
    meant = f"did you mean {close[0]!r}? If not, " if close else ""
    message = f"the range of {index!r} uses {name!r}, which is no size, no scalar and no index of the statement"
    fix = f"{meant}add a parameter to the def: int32 {name}"
    notes = (f"known sizes: {', '.join(known)}",) if known else ()
    span = next((term.span for bound in (clause.lower, clause.upper) for term in terms(bound)
                 if isinstance(term, Name) and term.name == name), clause.span)  # fmt: skip
    return Problem(message, span, fix, notes)


def _check_not_empty(context: Context, draft: Draft, inference: Inference) -> None:
    for index, interval in inference.solved.items():
        if context.facts.at_least(interval.lower - interval.upper, 0):
            clause = draft.local.clauses.get(index)
            span = clause.span if clause else draft.local.spans.get(index, draft.span)
            how = inference.derivations.get(index)
            notes = (how,) if how else ()
            message = f"inferred an empty range for {index!r}: {_interval_words(interval)}"
            raise Problem(message, span, notes=notes)


def _check_reads(context: Context, draft: Draft, inference: Inference) -> None:
    """A read that no condition guards and that leaves its input whatever the sizes: a size for an index, or -1."""
    facts = context.facts
    for read, guarded in (each for value in draft.values for each in accesses(value, by_data=True)):
        state = context.states[read.tensor]
        if guarded or state.role != "input" or state.box is None:
            continue
        for subscript, (lower, upper) in zip(read.subscripts, state.box, strict=True):
            if isinstance(subscript, Index) and inference.solved.get(subscript.name) == Interval(lower, upper):
                continue  # from end to end, and ranges are not empty
            form = polynomial(subscript) if is_plain(subscript) else None
            low = form and lowest(form, inference.solved, facts.sign)
            high = form and highest(form, inference.solved, facts.sign)
            below = high is not None and facts.at_least(lower - high, 1)
            if below or (low is not None and facts.at_least(low - upper, 0)):
                raise _outside(draft, read, subscript, f"{show(bound(lower))}:{show(bound(upper))}", show(bound(upper)))


def _outside(draft: Draft, read: Read, subscript: Expr, bounds: str, end: str) -> Problem:
    words = [term for value in draft.node.values for term in terms(value) if isinstance(term, Apply)]
    span = next((term.span for term in words if print_term(term) == show(read)), draft.span)
    message = f"{show(read)} is outside of {read.tensor!r} for all sizes: {show(subscript)} is not in {bounds}"
    fix = ""
    if isinstance(subscript, Size):
        fix = f"{subscript.name!r} is a size; an index needs another name than the sizes"
    elif isinstance(subscript, Const) and subscript.value < 0:
        fix = f"subscripts do not count from the end: write {end} - {-subscript.value}"
    return Problem(message, span, fix)


def _unsolved(draft: Draft, inference: Inference, names: list[str]) -> Problem:
    """What is known, what each open index still needs, and the `where` that would settle it."""
    index = inference.unsolved[0]
    solved = [f"{name} in {_interval_words(interval)}" for name, interval in inference.solved.items()]
    notes = [f"known: {', '.join(solved)}"] if solved else []
    free = [name for name in inference.unsolved if not _reasons(inference, name)]
    notes += [f"no subscript that is affine uses {name!r}" for name in free]
    open_reasons = dict.fromkeys(reason for name in inference.unsolved for reason in _reasons(inference, name))
    notes += [f"open: {reason}" for reason in list(open_reasons)[:6]]
    close = get_close_matches(index, names, n=1, cutoff=0.6)
    hint = f"; or did you mean {close[0]!r}?" if close else ""
    if index in free and index not in draft.free_indices() and not is_subscript(draft, index):
        hint = f"; or, if it is a number that the caller gives, a parameter: float {index}{hint}"
    if draft.reduction is None and all(isinstance(value, Const) for value in draft.values):
        hint += "; a reduction needs no such statement before it, it is written +=!"
    fix = "add: where " + ", ".join(f"{name} in 0:..." for name in free or [index]) + hint
    listed = ", ".join(repr(name) for name in inference.unsolved)
    span = draft.local.spans.get(index, draft.span)
    return Problem(f"could not infer the range of {listed}", span, fix, tuple(notes))


def is_subscript(draft: Draft, index: str) -> bool:
    """Whether the index stands in a subscript of the statement."""
    read = (part for expr in (*draft.values, *draft.exists) for node in walk(expr) if isinstance(node, Read)
            for part in node.subscripts)  # fmt: skip
    return any(index in index_names(part) for part in (*draft.subscripts[0], *read))


def _reasons(inference: Inference, index: str) -> list[str]:
    return [each.reason for each in inference.constraints if index in each.form.indices]


def _interval_words(interval: Interval) -> str:
    return f"{show(bound(interval.lower))}:{show(bound(interval.upper))}"


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
        ready = [index for index in waiting if inference.solved[index].indices <= before | set(ordered)]
        if not ready:
            raise _circular(draft, waiting[0], inference)
        ordered.append(ready[0])
        waiting.remove(ready[0])
    return ordered


def _circular(draft: Draft, index: str, inference: Inference) -> Problem:
    clause = draft.local.clauses[index]
    others = ", ".join(sorted(inference.solved[index].indices))
    if index in draft.free_indices():
        message = f"the range of {index!r}, an index of the left-hand side, depends on the reduced {others}"
        return Problem(message, clause.span, f"turn it round: give {others} a range that depends on {index}")
    return Problem(f"the ranges of {index!r} and {others} depend on each other", clause.span)


def _range(draft: Draft, index: str, kind: IndexKind, inference: Inference) -> Range:
    interval = inference.solved[index]
    derivation = inference.derivations.get(index, "given by the where clause")
    return Range(index, bound(interval.lower), bound(interval.upper), kind, derivation)
