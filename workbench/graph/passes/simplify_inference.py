"""`simplify_inference`: what only scales and shifts goes into the weights before it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.models import Model
from workbench.graph.passes.support.affine import affine_in, coefficients
from workbench.graph.passes.support.channels import Channels, scaled_by, shift_of
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.rewriting import each_function, rewritten
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term
from workbench.graph.terms.walking import operands, postorder, with_operands
from workbench.lang.definitions import operator
from workbench.lang.dtypes import FLOAT32
from workbench.lang.operator import Operator
from workbench.records import record


@record
class SimplifyInference(ModelPass):
    """A batch normalisation by known statistics goes into the convolution before it, as does any scale and shift.

    before → after:  a[f] · conv(x, W)[n,f,y,x] + b[f]   →   conv(x, a W)[n,f,y,x] + b[f]

    Both conditions are proved from the definitions: that the operator behind is `a · y + b` along one axis of its
    argument, with all that a and b are made of known; that the one before is linear in known weights which follow that
    axis of its result.  Where it adds a bias of its own, b goes there; otherwise a sum remains.  What cannot go
    anywhere becomes `a · y + b` with a and b known, and an operator that is `1 · y + 0` vanishes.  Results differ by
    rounding: a and b are found in double precision.
    """

    def apply(self, model: Model) -> Model:
        return each_function(model, _simplified)


def simplify_inference() -> SimplifyInference:
    """Scales and shifts by known numbers, such as batch normalisations, go into the weights before them."""
    return SimplifyInference()


def _simplified(function: Function) -> Function:
    while True:
        users: dict[Term, int] = {}
        for node in postorder(function):
            for each in operands(node):
                users[each] = users.get(each, 0) + 1

        def change(node: Term, inside: tuple[Term, ...], users: dict[Term, int] = users) -> Term:
            new = with_operands(node, inside)
            if isinstance(new, Call) and isinstance(new.function, Primitive):
                only = [at for at, each in enumerate(operands(node)[1:]) if users[each] == 1]
                return _without_scale(new, new.function.operator, only) or new
            return new

        found = rewritten(function, change)
        if found is function:
            return function
        function = found


def _without_scale(call: Call, op: Operator, only: list[int]) -> Term | None:
    """What stands for a call that scales and shifts; `only` are its arguments that nobody else uses."""
    names = inputs_of(op)
    unknown = [at for at, each in enumerate(call.arguments) if not isinstance(each, Constant)]
    if len(unknown) != 1 or len(names) != len(call.arguments) or any(s.constant is None for _, s in call.sizes):
        return None
    (at,) = unknown
    axes = affine_in(op, names[at])
    if axes is None or len(axes) > 1:
        return None
    if not call.sizes and not axes and _is_identity(call, op, at):
        return call.arguments[at]
    before = call.arguments[at]
    if at in only and isinstance(before, Call) and isinstance(before.function, Primitive):
        for channels in _scalings(before, before.function.operator):
            if axes <= {channels.axis} and (found := _merged(call, op, at, before, channels)) is not None:
                return found
    return _scale_and_shift(call, op, at, *axes) if axes else None


def _scale_and_shift(call: Call, op: Operator, at: int, axis: int) -> Term | None:
    """A call that takes more than a scale and a shift, as one that takes only these."""
    names = inputs_of(op)
    known = [
        (op.tensors[name].extent, each.array)
        for name, each in zip(names, call.arguments, strict=True)
        if isinstance(each, Constant)
    ]
    lengths = [array.shape[0] for extent, array in known if extent == (op.tensors[names[at]].extent[axis],)]
    element = op.tensors[op.outputs[0]].dtype
    found = _coefficients(call, op, at, axis, lengths[0]) if len(known) > 2 and lengths else None
    if found is None or element != FLOAT32 or not all(np.all(np.isfinite(each)) for each in found):
        return None
    scale, shift = (Constant(each.astype(known[0][1].dtype)) for each in found)
    made = Primitive(scaled(op.tensors[op.outputs[0]].rank, axis))
    return Call(made, (call.arguments[at], scale, shift), (), call.label, call.span)


def _is_identity(call: Call, op: Operator, at: int) -> bool:
    if op.tensors[inputs_of(op)[at]].dtype != op.tensors[op.outputs[0]].dtype:
        return False
    rank = op.tensors[inputs_of(op)[at]].rank
    found = _coefficients(call, op, at, 0, 1) if rank else None
    return found is not None and bool(np.all(found[0] == 1) and np.all(found[1] == 0))


def _coefficients(call: Call, op: Operator, at: int, axis: int, length: int) -> tuple[Any, Any] | None:
    names = inputs_of(op)
    others = {
        name: each.array for name, each in zip(names, call.arguments, strict=True) if isinstance(each, Constant)
    }
    sizes = {name: int(size.constant or 0) for name, size in call.sizes}
    return coefficients(op, names[at], axis, length, others, sizes)


def _scalings(call: Call, op: Operator) -> Iterator[Channels]:
    """The axes along which a call scales with weights that are known."""
    names = inputs_of(op)
    if len(names) != len(call.arguments):
        return
    known = [name for name, each in zip(names, call.arguments, strict=True) if _is_weight(each)]
    if known:
        yield from scaled_by(op, tuple(known))


def _is_weight(term: Term) -> bool:
    return isinstance(term, Constant) and term.array.dtype.kind == "f" and term.array.ndim > 0


def _merged(call: Call, op: Operator, at: int, before: Call, channels: Channels) -> Term | None:
    assert isinstance(before.function, Primitive)
    own, names = before.function.operator, inputs_of(before.function.operator)
    weights = {name: each for name, each in zip(names, before.arguments, strict=True) if isinstance(each, Constant)}
    bias = shift_of(own, channels)
    if bias is None and op == shifted(own.tensors[own.outputs[0]].rank, channels.axis):
        return None  # a sum remains in any case
    first, axis = channels.follows[0]
    found = _coefficients(call, op, at, channels.axis, weights[first].array.shape[axis])
    if found is None or not all(np.all(np.isfinite(each)) for each in found):
        return None
    scale, shift = found
    if bias is None and np.all(scale == 1):
        return None
    new = {name: _scaled(weights[name].array, scale, d) for name, d in channels.follows}
    if bias is not None:
        new[bias] = (weights[bias].array * scale + shift).astype(weights[bias].array.dtype)
    arguments = (Constant(new[n]) if n in new else each for n, each in zip(names, before.arguments, strict=True))
    label = before.label or call.label
    made = Call(before.function, tuple(arguments), before.sizes, label, before.span)
    if bias is not None or not np.any(shift):
        return made
    added = shift.astype(weights[first].array.dtype)
    rank = own.tensors[own.outputs[0]].rank
    return Call(Primitive(shifted(rank, channels.axis)), (made, Constant(added)), (), call.label, call.span)


def _scaled(weight: Any, scale: Any, axis: int) -> Any:
    shape = [-1 if at == axis else 1 for at in range(weight.ndim)]
    return (weight.astype(np.float64) * scale.reshape(shape)).astype(weight.dtype)


@cache
def scaled(rank: int, axis: int) -> Operator:
    """`y[...] = a[i] · x[...] + b[i]` along one axis of so many."""
    sizes, every = ", ".join(f"N{at}" for at in range(rank)), ", ".join(f"i{at}" for at in range(rank))
    head = f"def scale_and_shift_{rank}d_axis_{axis}<T>(T({sizes}) x, T(N{axis}) a, T(N{axis}) b) -> (y)"
    return operator(f"{head} {{ y({every}) = a(i{axis}) * x({every}) + b(i{axis}) }}")


@cache
def shifted(rank: int, axis: int) -> Operator:
    """`y[...] = x[...] + b[i]` along one axis of so many."""
    sizes, every = ", ".join(f"N{at}" for at in range(rank)), ", ".join(f"i{at}" for at in range(rank))
    head = f"def shift_{rank}d_axis_{axis}<T>(T({sizes}) x, T(N{axis}) b) -> (y)"
    return operator(f"{head} {{ y({every}) = x({every}) + b(i{axis}) }}")
