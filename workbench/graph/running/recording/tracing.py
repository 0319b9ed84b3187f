"""A recording of a segment: the interpreter's machine on tensors without contents, which notes every call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.errors import CallError, ModelError
from workbench.graph.evaluation.machine import Activation, Machine
from workbench.graph.evaluation.operators import in_order, inputs_of, typed
from workbench.graph.evaluation.value_forms import Form, is_leaf, put_together, taken_apart
from workbench.graph.forms.scopes import Scopes
from workbench.graph.running.recording.recordings import (
    Array,
    ForeignCall,
    Nested,
    OperatorCall,
    RecordedCall,
    Recording,
    Value,
    flat,
    mapped,
)
from workbench.graph.running.recording.segments import Segment
from workbench.graph.terms.nodes import Call, If, Term, Variable
from workbench.lang.algebra.folding import fold
from workbench.lang.binding.arrays import bind
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate
from workbench.runtime.calls.calling import call as run_call

ON_ORACLE = 1 << 16
"""Constants of so many elements at most are computed from constants without a kernel."""


def _needed(calls: list[RecordedCall], outputs: Nested) -> list[RecordedCall]:
    """The calls without those for whose results nobody asks, except foreign ones."""
    wanted, kept = set(flat(outputs)), []
    for call in reversed(calls):
        if isinstance(call, ForeignCall) or not wanted.isdisjoint(call.results):
            wanted |= set(call.reads)
            kept.append(call)
    return kept[::-1]


@dataclass(eq=False)
class Tracer(Machine):
    """Computes with `Value`s; `foreign` functions are noted as calls as they are."""

    foreign: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    recorded: list[RecordedCall] = field(default_factory=list)
    known: dict[int, Value] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    values: dict[Term, Nested] = field(default_factory=dict)
    # Of all recordings: what is known of constants by their ids, with the constants, so that these stay.
    dense: dict[int, tuple[Array, Array]] = field(default_factory=dict)
    folded: dict[Any, tuple[tuple[Array, ...], Any]] = field(default_factory=dict)
    most: int | None = None

    def trace(
        self, code: Scopes, segment: Segment, values: Mapping[Any, Nested], sizes: Mapping[str, int]
    ) -> Recording:
        """The calls of a segment for inputs like these (arrays, or ghosts of them) and sizes by name."""
        self.recorded, self.known, self.names = [], {}, {}
        inputs = {term: self._given(term, values[term]) for term in segment.inputs}
        activation = Activation(dict(inputs), None, dict(sizes))
        self.compute(code, segment.nodes, activation)
        self.values = activation.values
        outputs = tuple(mapped(self.value(activation, term, code), self.as_value) for term in segment.outputs)
        return Recording(tuple(flat(tuple(inputs.values()))), tuple(_needed(self.recorded, outputs)), outputs)

    def trace_run(
        self, name: str, form: Form, sizes: Mapping[str, int], most: int
    ) -> tuple[Recording, Form, tuple[int, ...]]:
        """The calls of a whole run of a function for arguments of a form, whose leaves are (shape, element type).

        Beside them the form of its value, and which output of the recording each of its leaves is.  ModelError where a
        tensor decides what is called, or the value holds cells or functions, or there are more calls than `most`.
        """
        self.recorded, self.known, self.names = [], {}, {}
        inputs = [Value(self.fresh("given"), kind[1], kind[0]) for kind in form if is_leaf(kind)]
        self.most = most
        try:
            found = taken_apart(self.call(self.named(name), put_together(form, inputs), dict(sizes)), _kind, most)
        finally:
            self.most = None
        if found is None:
            raise ModelError(f"{name}: its value is not of tensors alone, or of too many")
        leaves = [self.as_value(leaf) for leaf in found[0]]
        outputs = tuple(dict.fromkeys(leaves))
        places = {value: at for at, value in enumerate(outputs)}
        recording = Recording(tuple(inputs), tuple(_needed(self.recorded, outputs)), outputs)
        return recording, found[1], tuple([places[each] for each in leaves])

    def _step(self, stack: Any, frame: Any, node: Term) -> None:
        if self.most is not None:
            if len(self.recorded) > self.most:
                raise ModelError(f"a run makes more than {self.most} calls")
            if isinstance(node, If) and isinstance(self.value(frame.activation, node.condition, frame.code), Value):
                raise ModelError("what is called is decided by a tensor")
        super()._step(stack, frame, node)

    def _given(self, term: Term, nested: Nested) -> Nested:
        """Tensors that will be given when the segment runs."""
        name = term.name if isinstance(term, Variable) else "given"
        return mapped(nested, lambda each: Value(self.fresh(name), np.dtype(each.dtype), tuple(each.shape)))

    def as_value(self, found: Any) -> Value:
        """A value, or a constant as one."""
        if isinstance(found, Value):
            return found
        if id(found) not in self.known:
            if id(found) not in self.dense:
                self.dense[id(found)] = found, np.asarray(found, order="C")
            array = self.dense[id(found)][1]
            self.known[id(found)] = Value(self.fresh("constant"), array.dtype, array.shape, array)
        return self.known[id(found)]

    def fresh(self, name: str) -> str:
        """A name that no other value or call has."""
        count = self.names[name] = self.names.get(name, -1) + 1
        return f"{name}.{count}" if count else name

    def named(self, name: str) -> Any:
        """A function of the model, or the note that a foreign one is called."""
        if name not in self.foreign:
            return super().named(name)
        return lambda *arguments: self._foreign(name, arguments)

    # --- calls

    def _operator(self, node: Call, op: Operator, arguments: tuple[Any, ...], activation: Activation) -> Any:
        sizes = {name: self._size(activation, node, name, dim) for name, dim in node.sizes}
        try:
            if arguments and not any(isinstance(each, Value) for each in arguments):
                return self._constant(op, arguments, sizes)
            return self._noted(op, tuple(map(self.as_value, arguments)), sizes, node.label)
        except CallError as error:
            label = f" ({node.label})" if node.label else ""
            raise CallError(f"in the call of {op.name}{label}: {error}") from None

    def _noted(self, op: Operator, arguments: tuple[Value, ...], sizes: dict[str, int], label: str) -> Any:
        names = inputs_of(op)
        inputs = dict(zip(names, arguments, strict=False))
        initial = in_order(op, arguments[len(names) :]) if len(arguments) > len(names) else (None,) * len(op.outputs)
        ghosts = {name: value.ghost for name, value in inputs.items()}
        out = tuple(None if each is None else each.ghost for each in initial)
        fixed = typed(op, tuple(value.ghost for value in arguments))
        bound = bind(fixed, (), {**ghosts, **sizes}, out if any(each is not None for each in out) else None)
        name = self.fresh(op.name)
        results = tuple(_result(bound.op, output, bound.sizes, name, at) for at, output in enumerate(op.outputs))
        self.recorded.append(OperatorCall(name, bound.op, bound.sizes, inputs, initial, results, label))
        return results[0] if len(results) == 1 else results

    def _constant(self, op: Operator, arguments: tuple[Any, ...], sizes: dict[str, int]) -> Any:
        """What is computed from constants is one."""
        names = inputs_of(op)
        given = dict(zip(names, arguments, strict=False))
        out = in_order(op, tuple(map(np.array, arguments[len(names) :]))) if len(arguments) > len(names) else None
        key = (op, tuple(map(id, arguments)), tuple(sizes.items()))
        if key in self.folded:
            return self.folded[key][1]
        few = sum(np.size(each) for each in arguments) <= ON_ORACLE
        compute: Callable[..., Any] = evaluate if few else run_call
        found = compute(typed(op, arguments), **given, **sizes, out=out)
        self.folded[key] = arguments, found
        return found

    def _foreign(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """A call of a function that is not ours: only the types of its results are found out."""
        values = tuple(mapped(each, self.as_value) for each in arguments)
        noted = len(self.recorded)
        closure = super().named(name)
        found = self.call(closure, values, {})
        del self.recorded[noted:]
        own = self.fresh(name)
        nested = mapped(mapped(found, self.as_value), lambda value: _copy(value, self.fresh(own)))
        if not all(isinstance(each, Value) for each in flat(nested)):
            raise ModelError(f"{name}: its results are no tensors")
        self.recorded.append(ForeignCall(own, self.foreign[name], values, nested, name))
        return nested


def _kind(leaf: Any) -> tuple[Any, ...] | None:
    return (leaf.shape, leaf.dtype) if isinstance(leaf, Value | np.ndarray | np.generic) else None


def _copy(value: Value, name: str) -> Value:
    return Value(name, value.dtype, value.shape)


def _result(op: Operator, output: str, sizes: Mapping[str, int], name: str, at: int) -> Value:
    tensor = op.tensors[output]
    shape = tuple(max(0, int(fold(extent, dict(sizes)))) for extent in tensor.extent)
    return Value(f"{name}:{output}" if at or len(op.outputs) > 1 else name, tensor.dtype.numpy, shape)


