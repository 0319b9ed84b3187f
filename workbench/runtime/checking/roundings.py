"""How many roundings lie between the inputs and a cell, at most, in any order of evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from math import prod

import numpy as np

from workbench.lang import fold
from workbench.lang.algebra.normal_form import polynomial
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Index, Read, Size, children, reads, walk
from workbench.lang.operator import For, IndexKind, Operator, Range, Statement, Step, all_statements
from workbench.records import record
from workbench.runtime.checking.magnitude import NotPolynomial

Spans = dict[str, tuple[int, int]]

HALF_UNITS = {"float16": 2.0**-11, "bfloat16": 2.0**-8}


@record(slots=True)
class Depth:
    """Roundings on the longest way to a cell: in float arithmetic, and to 16-bit floats."""

    arithmetic: int = 0
    halves: int = 0

    def __add__(self, other: Depth) -> Depth:
        return Depth(self.arithmetic + other.arithmetic, self.halves + other.halves)

    def __sub__(self, other: Depth) -> Depth:
        return Depth(self.arithmetic - other.arithmetic, self.halves - other.halves)

    def __mul__(self, times: int) -> Depth:
        return Depth(self.arithmetic * times, self.halves * times)

    def __or__(self, other: Depth) -> Depth:
        return Depth(max(self.arithmetic, other.arithmetic), max(self.halves, other.halves))


Depths = dict[str, Depth]


def depths(op: Operator, sizes: Mapping[str, int]) -> Depths:
    """The depth of every tensor of a polynomial operator.

    Raises NotPolynomial where a recurrence multiplies a tensor with itself (its degree grows with the sizes).
    """
    found = dict.fromkeys(op.tensors, Depth())
    _body(op, op.body, found, {name: (value, value) for name, value in sizes.items()})
    return found


def gamma(op: Operator, depth: Depth) -> float:
    """The relative error after so many roundings; infinite when there are too many for a bound."""
    computed = [t.dtype for t in op.tensors.values() if t.dtype.is_float]
    single = any(dtype.bits < 64 for dtype in computed)
    unit = float(np.finfo(np.float32 if single else np.float64).eps) / 2
    half = max((HALF_UNITS[d.name] for d in computed if d.is_half), default=0.0)
    total = depth.arithmetic * unit + depth.halves * half
    return total / (1 - total) if total < 1 else float("inf")


def _body(op: Operator, body: Iterable[Step], found: Depths, spans: Spans) -> None:
    for step in body:
        if isinstance(step, For):
            _loop(op, step, found, spans)
        else:
            _statement(op, step, found, spans)


def _loop(op: Operator, loop: For, found: Depths, spans: Spans) -> None:
    """Tensors written in a loop may feed each other in every pass: each pass adds at most all of one pass."""
    spans = {**spans, loop.axis.index: _span(loop.axis, spans)}
    written = {target.tensor for s in all_statements(loop.body) for target in s.targets}
    _refuse_growing_degree(list(all_statements(loop.body)), written)
    base = Depth()
    for depth in found.values():
        base |= depth
    once = {**found, **dict.fromkeys(written, base)}
    _body(op, loop.body, once, spans)
    growth = Depth()
    for name in written:
        growth += once[name] - base
    lowest, highest = spans[loop.axis.index]
    found.update(dict.fromkeys(written, base + growth * max(0, highest - lowest + 1)))


def _statement(op: Operator, statement: Statement, found: Depths, spans: Spans) -> None:
    terms = _terms(statement, spans)
    written = {target.tensor for target in statement.targets}
    for target, value in zip(statement.targets, statement.values, strict=True):
        name = target.tensor
        recurs = _recurs(statement, value)
        own = _depth(value, found)
        if op.tensors[name].dtype.is_float:
            own = _combined(statement, own, terms)
        if op.tensors[name].dtype.is_half:
            own += Depth(0, terms)
        if recurs:
            _refuse_growing_degree([statement], written)
            own = own * _extent(statement, "free", spans)
        keeps = statement.reduction and not statement.initialise
        found[name] = found[name] + own if keeps else found[name] | own


def _recurs(statement: Statement, value: Expr) -> bool:
    """Whether an instance may read what another wrote; `O(i) = O(i) + b` alone reads only its own cell."""
    cells = {target.tensor: target.subscripts for target in statement.targets}
    free = {axis.index for axis in statement.ranges if axis.kind == "free"}
    once = not any(axis.kind == "reduction" for axis in statement.ranges) and all(
        free <= {s.name for s in subscripts if isinstance(s, Index)} for subscripts in cells.values()
    )
    own = (read for read in reads(value) if read.tensor in cells)
    return any(not once or read.subscripts != cells[read.tensor] for read in own)


def _combined(statement: Statement, value: Depth, terms: int) -> Depth:
    """The depth of a reduction over so many terms."""
    match statement.reduction:
        case None:
            return value
        case "*":
            return (value + Depth(1)) * terms
    return value + Depth(terms)


def _depth(expr: Expr, found: Depths) -> Depth:
    """Roundings on the longest way to the value of an expression; factors of a product add up."""
    below = [_depth(child, found) for child in children(expr) if child.dtype.is_float]
    longest = Depth()
    for depth in below:
        longest |= depth
    match expr:
        case Read(tensor, _, _):
            return found[tensor]
        case Binary("*", _, _, _) if expr.dtype.is_float:
            return below[0] + below[1] + Depth(1)
        case Call("fma", _, _):
            return (below[0] + below[1] | below[2]) + Depth(1)
        case Cast(_, dtype) if dtype.is_half:
            return longest + Depth(0, 1)
        case Binary() | Cast() | Const() if expr.dtype.is_float:
            return longest + Depth(1)
    return longest


def _refuse_growing_degree(statements: Iterable[Statement], written: set[str]) -> None:
    for statement in statements:
        for node in (n for value in statement.values for n in walk(value)):
            factors = children(node)[:2] if _is_product(node) else ()
            if len(factors) == 2 and all(_reads(factor, written) for factor in factors):
                raise NotPolynomial


def _is_product(node: Expr) -> bool:
    if isinstance(node, Call):
        return node.function == "fma"
    return isinstance(node, Binary) and node.op == "*"


def _reads(expr: Expr, tensors: set[str]) -> bool:
    return any(read.tensor in tensors for read in reads(expr))


def _counts(statement: Statement, spans: Spans) -> dict[str, int]:
    """Number of values of each index, at most."""
    spans, counts = dict(spans), {}
    for axis in statement.ranges:
        spans.setdefault(axis.index, _span(axis, spans))
        lowest, highest = spans[axis.index]
        counts[axis.index] = max(1, highest - lowest + 1)
    return counts


def _extent(statement: Statement, kind: IndexKind, spans: Spans) -> int:
    """Number of values that the indices of a kind take together, at most."""
    counts = _counts(statement, spans)
    return prod(counts[axis.index] for axis in statement.ranges if axis.kind == kind)


def _terms(statement: Statement, spans: Spans) -> int:
    """How many contributions one cell gets at most: of all values of the indices that do not follow from the cell.

    Subscripts such as `h` or `h + kh` say what one of their indices is; one that reads (a scatter) says nothing.
    """
    if not statement.reduction:
        return _extent(statement, "reduction", spans)
    counts = _counts(statement, spans)
    sums = [_linear_indices(e) for e in statement.targets[0].subscripts]
    found = {axis.index for axis in statement.ranges if axis.kind == "sequential"}
    for own in sums:
        single = own if len(own) == 1 else {d for d in own & {*counts} if sum(d in other for other in sums) == 1}
        found |= {max(single, key=lambda d: (counts.get(d, 1), d))} if single else set()
    return prod(n for d, n in counts.items() if d not in found)


def _linear_indices(subscript: Expr) -> set[str]:
    """The indices that a sum of multiples of indices is made of; none where it is anything else."""
    terms = [[a for a in atoms if not isinstance(a, Size)] for atoms, _ in polynomial(subscript).terms]
    if any(len(atoms) > 1 or not all(isinstance(a, Index) for a in atoms) for atoms in terms):
        return set()
    return {a.name for atoms in terms for a in atoms if isinstance(a, Index)}


def _span(axis: Range, spans: Spans) -> tuple[int, int]:
    """Smallest and largest value of an index, from the extreme values of the names in its bounds."""
    nodes = (*walk(axis.lower), *walk(axis.upper))
    names = sorted({node.name for node in nodes if isinstance(node, Index | Size)})
    corners = [dict(zip(names, corner, strict=True)) for corner in product(*(spans[name] for name in names))]
    return min(fold(axis.lower, c) for c in corners), max(fold(axis.upper, c) for c in corners) - 1
