"""`quantize`: products of matrices and convolutions with known weights compute in 8-bit integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from workbench.errors import ModelError, shown
from workbench.graph.evaluation.operators import inputs_of
from workbench.graph.forms.scopes import scopes
from workbench.graph.models import Model
from workbench.graph.passes.support.channels import scaled_by, shift_of
from workbench.graph.passes.support.fixed_point import LARGEST, LIMIT, quantiser, scaler
from workbench.graph.passes.support.integer_flow import in_fixed_point
from workbench.graph.passes.support.model_pass import ModelPass
from workbench.graph.passes.support.narrowed import in_integers
from workbench.graph.passes.support.rewriting import rewritten
from workbench.graph.terms.nodes import Call, Constant, Function, Primitive, Term, Tuple
from workbench.graph.terms.types import TensorType
from workbench.graph.terms.walking import free_variables, postorder, with_operands
from workbench.lang.dtypes import FLOAT32
from workbench.lang.operator import Operator
from workbench.records import record


@record(eq=False)
class Quantize(ModelPass):
    """A product with known weights takes 8-bit integers, sums in int32, and is scaled back to float32.

    before → after:  conv(x, W)[n,f,y,x]   →   s t[f] · conv(x / s, W / t)[n,f,y,x], both rounded to int8

    Annotate: the calls of the entry that are sums of products of an input and of weights, as their definitions say.
    Calibrate: the model is evaluated on the batches, and s is the largest absolute value of each input by 127; t is
    that of the weights, for each index of the axis of the result that they follow (Jacob et al., 2018).  Realise: the
    operator is written anew over int8, with its bias in int32.  Values beyond what the batches showed are cut off.
    What has a label in `keep` stays; so does what is computed in branches and functions.  With `integers`, what lies
    between two such calls is computed in fixed point: known scales and shifts, choices (max with 0, over windows),
    movements and sums of two; a multiplication and a shift in the place of dividing and rounding.
    """

    batches: tuple[tuple[Any, ...], ...]
    keep: tuple[str, ...] = ()
    integers: bool = True

    def apply(self, model: Model) -> Model:
        found = {call: at for call, at in _annotated(model) if call.label not in self.keep}
        if not found:
            return model
        largest = _calibrated(model, [call.arguments[at] for call, at in found.items()], self.batches)

        def change(node: Term, inside: tuple[Term, ...]) -> Term:
            new = with_operands(node, inside)
            if not isinstance(node, Call) or node not in found:
                return new
            assert isinstance(new, Call)
            return _realised(new, found[node], largest[node.arguments[found[node]]])

        main = rewritten(model.main, change)
        return model.with_functions({**model.functions, model.entry: in_fixed_point(main) if self.integers else main})

    def __str__(self) -> str:
        keep = f", keep={list(self.keep)}" if self.keep else ""
        return f"quantize(batches{keep}{'' if self.integers else ', integers=False'})"


def quantize(
    batches: Iterable[Sequence[Any]], /, *, keep: Iterable[str] = (), integers: bool = True
) -> Quantize:  # fmt: skip
    """Products with known weights compute in int8; the batches (arguments of the model) tell the range of inputs.

    With `integers` nothing between two of them is a float where that can be (see `support/integer_flow.py`).
    """
    given = tuple(tuple(batch) if isinstance(batch, tuple | list) else (batch,) for batch in batches)
    if not given:
        raise ModelError("quantize needs at least one batch: a tuple of arguments of the model")
    if isinstance(keep, str):
        raise ModelError(f"quantize: keep is a list of labels, not {shown(keep)}")
    return Quantize(given, tuple(keep), integers)


# --- annotate


def _annotated(model: Model) -> list[tuple[Call, int]]:
    """The calls that can be computed in integers, each with the number of the argument that is not known."""
    function = model.main
    found = scopes(function)
    body = found.inner[function, 0]
    parameters = set(function.parameters)
    calls = []
    for node in postorder(function):
        if isinstance(node, Call) and isinstance(node.function, Primitive) and found.home[node] is body:
            at = _input_of(model, node, node.function.operator)
            if at is not None and parameters.issuperset(free_variables(node.arguments[at])):
                calls.append((node, at))
    return calls


def _input_of(model: Model, call: Call, op: Operator) -> int | None:
    known = [isinstance(each, Constant) for each in call.arguments]
    types = [model.type_of(each) for each in (*call.arguments, call)]
    if known.count(False) != 1 or len(inputs_of(op)) != len(known):
        return None
    if any(not isinstance(of, TensorType) or of.element != FLOAT32 for of in types):
        return None
    at = known.index(False)
    return None if _product(op, inputs_of(op)[at]) is None else at


@record(eq=False)
class _Product:
    """An operator over integers: the names of weights and bias, and the axes (result, weights, bias) of scales."""

    operator: Operator
    weights: str
    bias: str | None
    axes: tuple[int, int, int] | None


@cache
def _product(op: Operator, given: str) -> _Product | None:
    """The operator over integers, if it is a sum of products of an input and of weights, perhaps with a bias."""
    others = tuple(name for name in inputs_of(op) if name != given)
    if len(others) == 1:
        integers = in_integers(op, given, *others)
        found = next(iter(scaled_by(op, others)), None)
        axes = None if found is None else (found.axis, found.follows[0][1], 0)
        return None if integers is None else _Product(integers, others[0], None, axes)
    for channels in scaled_by(op, others) if len(others) == 2 else ():
        bias, follows = shift_of(op, channels), dict(channels.follows)
        if bias is None or len(follows) != 2:
            continue
        weights = next(name for name in others if name != bias)
        integers = in_integers(op, given, weights, bias)
        if integers is not None:
            return _Product(integers, weights, bias, (channels.axis, follows[weights], follows[bias]))
    return None


# --- calibrate


def _calibrated(model: Model, inputs: list[Term], batches: tuple[tuple[Any, ...], ...]) -> dict[Term, float]:
    """The largest absolute value that each of some nodes takes on the batches."""
    probe = Function(model.main.parameters, Tuple(tuple(inputs)))
    asked = model.with_functions({**model.functions, model.entry: probe})
    largest = np.zeros(len(inputs))
    for batch in batches:
        values = asked.evaluate(*batch)
        largest = np.maximum(largest, [np.max(np.abs(each), initial=0.0) for each in values])
    wrong = [at for at, each in enumerate(largest) if not np.isfinite(each)]
    if wrong:
        raise ModelError(f"quantize: an input of {len(wrong)} calls is infinite or no number on the batches")
    return dict(zip(inputs, map(float, largest), strict=True))


# --- realise


def _realised(call: Call, at: int, largest: float) -> Call:
    assert isinstance(call.function, Primitive)
    op, names = call.function.operator, inputs_of(call.function.operator)
    product = _product(op, names[at])
    assert product is not None
    arrays = {name: each.array for name, each in zip(names, call.arguments, strict=True) if isinstance(each, Constant)}
    scale = np.float32(largest / LIMIT or 1.0)
    steps, narrow = _rounded(arrays[product.weights], product.axes[1] if product.axes else None)
    given: dict[str, Term] = {product.weights: Constant(narrow)}
    if product.bias is not None:
        whole = np.round(arrays[product.bias] / (scale * steps))
        given[product.bias] = Constant(np.clip(whole, -LARGEST, LARGEST).astype(np.int32))
    rank = op.tensors[names[at]].rank
    given[names[at]] = Call(Primitive(quantiser(rank)), (call.arguments[at], Constant(np.array(scale))))
    sums = Call(Primitive(product.operator), tuple(given[name] for name in names), call.sizes, call.label, call.span)
    back = scaler(op.tensors[op.outputs[0]].rank, product.axes[0] if product.axes else None)
    return Call(Primitive(back), (sums, Constant((scale * steps).astype(np.float32))), (), call.label)


def _rounded(array: Any, axis: int | None) -> tuple[Any, Any]:
    """Scales along an axis, and the array in their units as int8."""
    others = tuple(at for at in range(array.ndim) if at != axis)
    steps = np.max(np.abs(array), axis=others, keepdims=True, initial=0.0) / LIMIT
    steps = np.where(steps == 0, 1, steps)
    return steps.reshape(-1) if axis is not None else steps.reshape(()), np.round(array / steps).astype(np.int8)
