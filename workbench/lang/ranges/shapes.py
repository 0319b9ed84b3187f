"""Which cells the statements of a tensor write: its box, its annotation, whether a cell is left out."""

from __future__ import annotations

from workbench.lang.algebra.facts import Facts
from workbench.lang.algebra.normal_form import bound, is_plain, polynomial
from workbench.lang.algebra.polynomial import ZERO, Polynomial
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Expr, Index
from workbench.lang.operator import Condition, Range, Tensor
from workbench.lang.printing.printer import show, type_name
from workbench.lang.ranges.intervals import Interval, highest, lowest
from workbench.lang.scopes.draft import Draft
from workbench.lang.scopes.scope import Box, Context, TensorState
from workbench.lang.syntax.diagnostics import Problem


def record_write(
    context: Context,
    state: TensorState,
    subscripts: tuple[Expr, ...],
    ranges: tuple[Range, ...],
    draft: Draft,
) -> None:
    """Extend the tensor's box by the cells `subscripts` names while the indices run through `ranges`."""
    intervals = {r.index: Interval(polynomial(r.lower), polynomial(r.upper)) for r in ranges}
    box = [_extent(context.facts, subscript, intervals) for subscript in subscripts]
    known = state.box if state.box is not None else state.declared
    written: Box = []
    for dimension, bounds in enumerate(box):
        if bounds is None and known is None:
            raise _no_shape(state, subscripts[dimension], draft)
        written.append(bounds or known[dimension])  # type: ignore[index]
    if state.role != "inout":
        state.box = _hull(context.facts, state.box, written)
    elif state.box is None:
        state.box = written
    state.written = True
    _record_cover(context, state, subscripts, intervals, written, draft)


def _extent(facts: Facts, subscript: Expr, intervals: dict[str, Interval]) -> tuple[Polynomial, Polynomial] | None:
    if isinstance(subscript, Index) and not (own := intervals[subscript.name]).indices:
        return own.lower, own.upper
    if not is_plain(subscript):
        return None
    form = polynomial(subscript)
    low, high = lowest(form, intervals, facts.sign), highest(form, intervals, facts.sign)
    if low is None or high is None or low.indices or high.indices:
        return None
    return low, high + 1


def _no_shape(state: TensorState, subscript: Expr, draft: Draft) -> Problem:
    dims = ", ".join("MNKL"[: state.rank or len(draft.subscripts[0])])
    dtype = type_name(state.dtype) if state.dtype else "float"
    fix = f"annotate the output: -> ({dtype}({dims}) {state.name})"
    if state.role == "temporary":
        fix = f"make {state.name} an output with an annotated type"
    return Problem(f"the extent of {state.name!r} cannot be inferred from subscript {show(subscript)}", draft.span, fix)


def _hull(facts: Facts, box: Box | None, written: Box) -> Box:
    if box is None:
        return written
    return [(facts.smallest([a, c]), facts.largest([b, d])) for (a, b), (c, d) in zip(box, written, strict=True)]


def _record_cover(
    context: Context,
    state: TensorState,
    subscripts: tuple[Expr, ...],
    intervals: dict[str, Interval],
    written: Box,
    draft: Draft,
) -> None:
    """Remember the box if the statement is certain to write all its cells."""
    plain = [subscript.name for subscript in subscripts if isinstance(subscript, Index)]
    own = [name for name in plain if name not in {axis.index for axis in context.axes}]
    is_computed = len(plain) < len(subscripts) or len(set(own)) < len(own)
    if draft.initialise and is_computed and state.declared is not None:
        state.covered.append(state.declared)
        return
    if len(set(plain)) < len(plain) or any(polynomial(s).indices for s in subscripts if not isinstance(s, Index)):
        return
    for name in plain:
        if intervals[name].indices:
            return
    for axis in context.axes:
        runs = intervals[axis.index]
        if axis.index not in plain and not context.facts.at_least(runs.upper - runs.lower, 1):
            return
    state.covered.append(written)


def _is_covered(facts: Facts, box: Box, covered: list[Box]) -> bool:
    """Whether the boxes of `covered` are proved to fill `box`: one does, or a chain along one dimension."""
    if not box:
        return bool(covered)
    if box in covered and facts.largest([*box[0]]) == box[0][1]:
        return True
    return any(_chain(facts, box, covered, dimension) for dimension in range(len(box)))


def _chain(facts: Facts, box: Box, covered: list[Box], dimension: int) -> bool:
    usable = [
        part for part in covered if all(_holds(facts, part[d], box[d]) for d in range(len(box)) if d != dimension)
    ]
    reached, end = box[dimension]
    progress = True
    while progress and not facts.at_least(reached - end, 0):
        progress = False
        for part in list(usable):
            low, high = part[dimension]
            if facts.at_least(reached - low, 0):
                usable.remove(part)
                reached, progress = facts.largest([reached, high]), True
    return facts.at_least(reached - end, 0)


def _holds(facts: Facts, outer: tuple[Polynomial, Polynomial], inner: tuple[Polynomial, Polynomial]) -> bool:
    return facts.at_least(inner[0] - outer[0], 0) and facts.at_least(outer[1] - inner[1], 0)


def finished(context: Context, state: TensorState) -> Tensor:
    """The tensor with its final box; its annotation is checked against what was inferred."""
    assert state.dtype is not None
    box = state.box or []
    if state.role == "output" and state.declared is not None:
        box = _annotated(context, state, box, state.declared)
    lower = tuple(bound(low) for low, _ in box)
    extent = tuple(bound(high - low) for low, high in box)
    partial = state.role in ("output", "temporary", "inout") and not _is_covered(context.facts, box, state.covered)
    return Tensor(state.name, state.dtype, lower, extent, state.role, partial)


def _annotated(context: Context, state: TensorState, box: Box, declared: Box) -> Box:
    if all(high - low == dim for (low, high), (_, dim) in zip(box, declared, strict=True)):
        return box
    for dimension, ((low, high), (_, dim)) in enumerate(zip(box, declared, strict=True)):
        _check_inside(context, state, dimension, low, high, dim)
    return declared


def _check_inside(
    context: Context, state: TensorState, dimension: int, low: Polynomial, high: Polynomial, dim: Polynomial
) -> None:
    facts = context.facts
    words = f"dimension {dimension} of {state.name} is annotated {show(bound(dim))}"
    cells = f"its statements write {show(bound(low))}:{show(bound(high))}"
    if facts.at_least(-low, 1) or facts.at_least(high - dim, 1):
        raise Problem(f"{words}, but {cells}", state.span, f"write {show(bound(high - low))}")
    for left, right in ((ZERO, low), (high, dim)):
        if not facts.at_least(right - left, 0):
            expr = Binary("<=", bound(left), bound(right), BOOL)
            context.require(Condition(expr, f"{words}, and {cells}"))
