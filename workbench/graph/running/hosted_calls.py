"""Calls of a recording that Python makes between compiled ones: foreign functions, and what no kernel is made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.errors import CallError
from workbench.graph.running.recording.recordings import (
    Array,
    ForeignCall,
    OperatorCall,
    RecordedCall,
    Value,
    flat,
    mapped,
)
from workbench.lang.operator import Operator
from workbench.lang.oracle.evaluation import evaluate
from workbench.records import record
from workbench.runtime.calls.calling import call as run_call
from workbench.settings import current

MOST_PARAMETERS = 64
"""Of a kernel that runner.c calls."""


@record(eq=False)
class Hosted:
    """A call (of this number) that Python makes: what it calls with the arrays that the call reads."""

    number: int
    call: RecordedCall
    function: Callable[..., Any]


def host_function(call: RecordedCall) -> Callable[..., Any] | None:
    """What computes a call that is not for a kernel: a foreign function, or one with promises about data."""
    if isinstance(call, ForeignCall):
        return call.function
    many = len(call.inputs) + len(call.results) > MOST_PARAMETERS
    promises = call.op.promises and not current().unchecked
    return _through(call, compiled_call) if many or promises else None


def by_oracle(call: RecordedCall) -> Callable[..., Any]:
    """What computes a call that no kernel can be made for."""
    assert isinstance(call, OperatorCall)
    return _through(call, evaluate)


def computed(hosted: Hosted, array: Callable[[Value], Array]) -> tuple[Array, ...]:
    """The results of a call, flat, of the arrays that stand for what it reads; CallError if they are others."""
    call = hosted.call
    if isinstance(call, ForeignCall):
        found = hosted.function(*mapped(call.arguments, array))
    else:
        found = hosted.function(*map(array, call.reads))
    given = tuple(flat(_tuples(found)))
    if len(given) != len(call.results):
        raise CallError(f"{call.label or call.name}: expected {len(call.results)} arrays but found {len(given)}")
    for value, new in zip(call.results, given, strict=True):
        _refuse_other(call, value, new)
    return given


def compiled_call(op: Operator, /, out: Any = None, **given: Any) -> Any:
    """A call of an operator as its oracle is called: `out` is read, never changed."""
    if out is not None:
        out = tuple(each if each is None else each.copy() for each in (out if isinstance(out, tuple) else (out,)))
        out = out if len(op.outputs) > 1 else out[0]
    return run_call(op, out=out, **given)


def _through(call: OperatorCall, run: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the arrays that a call reads."""

    def compute(*arrays: Array) -> Any:
        inputs = dict(zip(call.inputs, arrays, strict=False))
        waiting = iter(arrays[len(inputs) :])
        out = tuple(None if value is None else next(waiting) for value in call.initial)
        given: Mapping[str, Any] = {"out": out} if any(each is not None for each in out) else {}
        return run(call.op, **inputs, **call.sizes, **given)

    return compute




def _tuples(found: Any) -> Any:
    return tuple(map(_tuples, found)) if isinstance(found, tuple | list) else found


def _refuse_other(call: RecordedCall, value: Value, found: Any) -> None:
    shape, dtype = tuple(getattr(found, "shape", ())), getattr(found, "dtype", None)
    if shape != value.shape or dtype != value.dtype:
        expected = f"{value.dtype.name}{list(value.shape)}"
        raise CallError(f"{call.label or call.name}: expected {expected} as result but found {dtype}{list(shape)}")
