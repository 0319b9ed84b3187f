"""Tensors that are made of numbers: constants, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.graph.importing.torch_nodes.call import Call, Writer
from workbench.graph.importing.values import Value
from workbench.graph.importing.written.elementwise import cast, expand
from workbench.graph.terms.dimensions import Dimension, dimension


def full(call: Call) -> Value:
    """A tensor with the same number everywhere."""
    fill = call("fill_value", 1 if call.name.startswith("ones") else 0)
    like = call("self")
    sizes = like.dims if isinstance(like, Value) else call.dims(call("size", ()))
    value = (
        cast(call.g, call.tensor(fill), call.element)
        if isinstance(fill, Value | Dimension)
        else call.tensor(fill, call.element)
    )
    return expand(call.g, value, sizes)


def scalar_tensor(call: Call) -> Value:
    """A number as a tensor without axes."""
    number = call("s")
    return call.tensor(number, call.element) if not isinstance(number, Value) else cast(call.g, number, call.element)


def count_up(call: Call) -> Value:
    """Numbers from a start on, before an end, in equal steps."""
    start, end, step, of = call("start", 0), call("end"), call("step", 1), call.element
    if not any(isinstance(each, Dimension) and each.constant is None for each in (start, end, step)):
        numbers: list[Any] = [each.constant if isinstance(each, Dimension) else each for each in (start, end, step)]
        return call.g.constant(np.arange(*numbers).astype(of.numpy), of)
    if step != 1:
        call.refuse("a range whose ends vary, in steps")
    first = call.tensor(start, of)
    body = f"y(i) = a + {of.name}(i) where i in 0:E"
    return call.g.define(
        "count_up", [("a", first, [])], [("y", of, ["E"])], body, sizes={"E": dimension(end) - dimension(start)}
    )


WRITERS: dict[str, Writer] = {
    "arange": count_up,
    "empty": full,
    "full": full,
    "full_like": full,
    "ones": full,
    "ones_like": full,
    "scalar_tensor": scalar_tensor,
    "zeros": full,
    "zeros_like": full,
}
