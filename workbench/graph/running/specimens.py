"""The recording of a whole model without arguments: from the types of its parameters, and sizes by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import CallError, ModelError, unknown_name
from workbench.graph.running.drivers import Driver
from workbench.graph.running.recording.recordings import Nested, Recording
from workbench.graph.running.recording.segments import whole_segment
from workbench.graph.terms.dimensions import shown, symbols, value_of
from workbench.graph.terms.nodes import Term
from workbench.graph.terms.types import FunctionType, TensorType, TupleType, Type
from workbench.graph.text.printing_types import print_type
from workbench.lang.dtypes import DType

if TYPE_CHECKING:
    from workbench.graph.models import Model


def recording_of(model: Model, sizes: Mapping[str, int]) -> Recording:
    """The calls of a model at these sizes of its dimensions; ModelError if it has control flow."""
    return recording_with_terms(model, sizes)[0]


def recording_with_terms(model: Model, sizes: Mapping[str, int]) -> tuple[Recording, dict[Term, Nested]]:
    """The same, and the tensors that terms of the entry are in it."""
    driver = Driver(dict(model.functions), model.datatypes, model.typing)
    closure = driver.closure(model.entry)
    segment = whole_segment(closure.code, closure.function)
    if segment is None:
        why = "has control flow, or calls no operator: only a run tells which tensors there are"
        raise ModelError(f"{model.entry} {why}")
    arguments = specimens(model, sizes)
    known = driver.sizes_of(closure, arguments, dict(sizes))
    values = dict(zip(closure.function.parameters, arguments, strict=True))
    return driver.tracer.trace(closure.code, segment, values, known), driver.tracer.values


def specimens(model: Model, sizes: Mapping[str, int]) -> tuple[Nested, ...]:
    """Arguments of the model's types without contents; CallError for a dimension without size, or an unknown name."""
    names = [each.name for each in model.scheme_of(model.entry).variables if each.kind == "dimension"]
    for name in sizes:
        if name not in names:
            raise CallError(f"{model.entry}: {unknown_name('dimension', name, names)}")
    of = model.type_of(model.entry)
    assert isinstance(of, FunctionType)
    return tuple(_specimen(each, sizes) for each in of.parameters)


def _specimen(of: Type, sizes: Mapping[str, int]) -> Nested:
    match of:
        case TupleType(items):
            return tuple(_specimen(item, sizes) for item in items)
        case TensorType(DType() as element, dims):
            for dim in dims:
                if missing := sorted(symbols(dim) - sizes.keys()):
                    advice = f"give it: sizes=dict({missing[0]}=...)"
                    raise CallError(f"{print_type(of)}: {shown(dim)} has no size; {advice}")
            shape = tuple(value_of(dim, sizes) for dim in dims)
            if any(extent < 0 for extent in shape):
                raise CallError(f"{print_type(of)}: with these sizes a dimension would be {min(shape)}")
            return np.broadcast_to(np.zeros((), element.numpy), shape)
    raise CallError(f"an argument of type {print_type(of)} has no size by itself")
