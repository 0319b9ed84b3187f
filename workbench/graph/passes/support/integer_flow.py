"""Between quantised calls integers stay integers: what is scaled, shifted, added and rounded becomes fixed point.

A value is kept as `scale · (sums + shift)` with whole sums, and `round(scale · (sums + shift) / s)` is computed as
`((sums + shift) · m + 2^(b-1)) >> b`, where m is the nearest whole number to 2^b · scale / s (Jacob et al., 2018).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from math import floor, log2
from typing import Any

import numpy as np

from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.passes.support.affine import affine_in, coefficients
from workbench.graph.passes.support.fixed_point import LARGEST, added, quantiser, requantiser, scaler
from workbench.graph.passes.support.rewriting import rewritten
from workbench.graph.passes.support.selections import selection
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.walking import postorder, with_operands
from workbench.lang.expr import Binary, Read
from workbench.lang.operator import Operator, Statement
from workbench.records import record

BITS = 30
"""Of the multipliers: sums of 32 bits times these fit into 63."""
MOST_SHIFT = 60


def in_fixed_point(function: Function) -> Function:
    """The function with a way of integers in the place of floats wherever something quantised is quantised again."""
    flow = _Flow()
    for node in postorder(function):
        quantised = _quantised(node)
        if quantised is not None:
            flow.known.setdefault(quantised[0], (node, quantised[1]))

    def change(node: Term, inside: tuple[Term, ...]) -> Term:
        found = flow.integers(node)
        return with_operands(node, inside) if found is None or found is node else found

    return rewritten(function, lambda node, inside: flow.note(node, change(node, inside)))


@record(eq=False)
class Scaled:
    """`scale · (sums + shift)`, where both vary along an axis of the sums, or are one number (axis None)."""

    sums: Term
    rank: int
    axis: int | None
    scale: Any
    shift: Any


@dataclass(eq=False)
class _Flow:
    """`known`: term → the first that quantises it and its scale; `made`: nodes as they are now."""

    known: dict[Term, tuple[Term, float]] = field(default_factory=dict)
    made: dict[Term, Term] = field(default_factory=dict)
    memo: dict[tuple[Term, float], Term | None] = field(default_factory=dict)

    def note(self, old: Term, new: Term) -> Term:
        """Remember what a node has become."""
        self.made[old] = new
        return new

    def integers(self, node: Term) -> Term | None:
        """The integers of a node that quantises what was quantised; None for any other."""
        quantised = _quantised(node)
        return None if quantised is None else self.rounded(*quantised)

    def rounded(self, term: Term, scale: float) -> Term | None:
        """A term in units of a scale, as int8, without floats; None where there is no way."""
        key = (term, scale)
        if key not in self.memo:
            self.memo[key] = self._rounded(term, scale)
        return self.memo[key]

    def _rounded(self, term: Term, scale: float) -> Term | None:
        call = _operator_call(term)
        if call is None:
            return None
        narrow = selection(call[1])
        if narrow is not None:
            inside = self.rounded(call[0].arguments[0], scale)
            return None if inside is None else Call(Primitive(narrow), (inside,), call[0].sizes, call[0].label)
        scaled = self.scaled(term)
        if scaled is not None:
            return _requantised([scaled], scale)
        if _is_sum(call[1]):
            parts = [self.scaled(each) or self.quantised_already(each) for each in call[0].arguments]
            if all(part is not None for part in parts):
                return _requantised([part for part in parts if part is not None], scale)
        return None

    def scaled(self, term: Term) -> Scaled | None:
        """A term as whole sums in units of a scale: what scales them, or scales and shifts that by known numbers."""
        call = _operator_call(term)
        if call is None:
            return None
        node, op = call
        rank = op.tensors[op.outputs[0]].rank
        for axis in (*range(rank), None):
            if op == scaler(rank, axis):
                sums, scale = node.arguments
                assert isinstance(scale, Constant)
                return Scaled(self.made[sums], rank, axis, np.float64(scale.array), np.zeros_like(scale.array, "f8"))
        return self._moved(node, op, rank)

    def _moved(self, node: Call, op: Operator, rank: int) -> Scaled | None:
        """`a · y + b` of a scaled y, with a and b known along its axis."""
        unknown = [at for at, each in enumerate(node.arguments) if not isinstance(each, Constant)]
        if len(unknown) != 1 or len(inputs_of(op)) != len(node.arguments):
            return None
        if any(size.constant is None for _, size in node.sizes):
            return None
        name = inputs_of(op)[unknown[0]]
        axes = affine_in(op, name)
        before = None if axes is None else self.scaled(node.arguments[unknown[0]])
        if axes is None or before is None or before.axis is None or not axes <= {before.axis}:
            return None
        others = {
            n: each.array for n, each in zip(inputs_of(op), node.arguments, strict=True) if isinstance(each, Constant)
        }
        sizes = {key: int(size.constant or 0) for key, size in node.sizes}
        found = coefficients(op, name, before.axis, len(before.scale), others, sizes)
        if found is None or not all(np.all(np.isfinite(each)) for each in found) or np.any(found[0] == 0):
            return None
        scale = before.scale * found[0]
        return Scaled(before.sums, rank, before.axis, scale, before.shift + found[1] / scale)

    def quantised_already(self, term: Term) -> Scaled | None:
        """A term by the int8 numbers that somebody else has of it."""
        if term not in self.known:
            return None
        node, scale = self.known[term]
        found = self.rounded(term, scale) or self.made.get(node)
        if found is None:
            return None
        of = _operator_call(node)
        assert of is not None
        rank = of[1].tensors[of[1].outputs[0]].rank
        return Scaled(found, rank, None, np.float64(scale), np.zeros(()))


def _requantised(parts: list[Scaled], scale: float) -> Term | None:
    """The sum of some scaled values, in units of a scale, as int8."""
    factors = [np.asarray(part.scale / scale) for part in parts]
    largest = max(float(np.max(np.abs(each), initial=0.0)) for each in factors)
    if not 0 < largest < 2.0**BITS:
        return None
    shift = min(BITS - 1 - floor(log2(largest)), MOST_SHIFT)
    whole = [np.round(each * 2.0**shift) for each in factors]
    shifts = [np.round(part.shift) for part in parts]
    if any(np.max(np.abs(each), initial=0.0) > LARGEST for each in (*whole, *shifts)):
        return None
    arguments = [
        (part.sums, Constant(s.astype(np.int32)), Constant(m.astype(np.int32)))
        for part, s, m in zip(parts, shifts, whole, strict=True)
    ]
    axes = tuple(part.axis for part in parts)
    op = requantiser(parts[0].rank, axes[0], shift) if len(parts) == 1 else added(parts[0].rank, axes, shift)
    return Call(Primitive(op), tuple(each for group in arguments for each in group))


def _quantised(node: Term) -> tuple[Term, float] | None:
    """What a node rounds to int8, and in units of what; None if it does not."""
    call = _operator_call(node)
    if call is None or not isinstance(call[0].arguments[-1], Constant):
        return None
    if call[1] != quantiser(call[1].tensors[call[1].outputs[0]].rank):
        return None
    return call[0].arguments[0], float(call[0].arguments[-1].array)


def _operator_call(node: Term) -> tuple[Call, Operator] | None:
    if not isinstance(node, Call) or not isinstance(node.function, Primitive) or not node.arguments:
        return None
    op = node.function.operator
    return (node, op) if len(op.outputs) == 1 else None


@cache
def _is_sum(op: Operator) -> bool:
    """Whether it adds its two arguments cell by cell."""
    names = inputs_of(op)
    match op.body:
        case (Statement(reduction=None, condition=None, targets=(target,), values=(value,)),):
            if not (isinstance(value, Binary) and value.op == "+"):
                return False
            a, b = value.left, value.right
            if not (isinstance(a, Read) and isinstance(b, Read)):
                return False
            own = a.subscripts == target.subscripts == b.subscripts
            alike = {tuple(op.tensors[each].extent) for each in (*names, op.outputs[0])}
            return own and [a.tensor, b.tensor] in (names, names[::-1]) and len(names) == 2 and len(alike) == 1
        case _:
            return False
