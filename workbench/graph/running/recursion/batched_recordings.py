"""A recording for many inputs at once: each of its calls has one more axis, by `wb.vmap` of its operator."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from workbench.errors import WorkbenchError
from workbench.graph.running.recording.recordings import (
    ForeignCall,
    OperatorCall,
    RecordedCall,
    Recording,
    Value,
    flat,
    mapped,
)
from workbench.lang.algebra.folding import fold
from workbench.lang.binding.arrays import bind
from workbench.lang.derived.batching import vmap


def can_be_batched(recording: Recording) -> bool:
    """Whether its calls are of operators that only read what they are given."""
    return all(
        isinstance(call, OperatorCall) and not call.op.promises and all(each is None for each in call.initial)
        for call in recording.calls
    )


def batched(
    recording: Recording, spread: tuple[bool, ...], count: int
) -> tuple[Recording, tuple[bool, ...]] | None:
    """The recording for `count` rows of the inputs that are `spread`, the others being what all have in common.

    Beside it which of its outputs have rows.  None if an operator cannot have one more axis.
    """
    many: dict[Value, Value] = {}
    inputs = []
    for value, is_spread in zip(recording.inputs, spread, strict=True):
        if is_spread:
            many[value] = Value(value.name, value.dtype, (count, *value.shape))
        inputs.append(many.get(value, value))
    calls: list[RecordedCall] = []
    for call in recording.calls:
        if many.keys().isdisjoint(call.reads):
            calls.append(call)
            continue
        if isinstance(call, ForeignCall):
            return None
        try:
            made = _batched(call, many)
        except WorkbenchError:
            return None
        many |= zip(call.results, made.results, strict=True)
        calls.append(made)
    outputs = mapped(recording.outputs, lambda value: many.get(value, value))
    return Recording(tuple(inputs), tuple(calls), outputs), tuple(v in many for v in flat(recording.outputs))


def _batched(call: OperatorCall, many: Mapping[Value, Value]) -> OperatorCall:
    axes = tuple(0 if call.inputs.get(name) in many else None for name in call.op.parameters)
    inputs = {name: many.get(value, value) for name, value in call.inputs.items()}
    given: dict[str, Any] = {name: value.ghost for name, value in inputs.items()}
    bound = bind(vmap(call.op, axes), (), {**given, **call.sizes})
    results = []
    for output, old in zip(call.op.outputs, call.results, strict=True):
        tensor = bound.op.tensors[output]
        shape = tuple(max(0, int(fold(extent, dict(bound.sizes)))) for extent in tensor.extent)
        assert prod(shape[1:]) == prod(old.shape)
        results.append(Value(old.name, old.dtype, shape))
    return OperatorCall(call.name, bound.op, bound.sizes, inputs, call.initial, tuple(results), call.label)
