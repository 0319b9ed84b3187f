"""From an operator of PyTorch to the node of ONNX Runtime, when `torch.onnx.export` meets it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import onnx
import onnxscript
from onnx.defs import OpSchema
from onnxscript.values import Opset

from workbench.export.ort.model import onnx_type
from workbench.export.ort.signature import VERSION, Port, node_domain

_NUMBERS = (bool, int, float)


def table(name: str, inputs: Sequence[Port], outputs: Sequence[Port], torch_op: Any) -> dict[Any, Callable[..., Any]]:
    """`torch_op`, or its default overload, with the function that writes the node."""
    _register(name, inputs, outputs)
    node = getattr(Opset(node_domain(name), VERSION), name)

    def translated(*given: Any, **named: Any) -> Any:
        # PyTorch spells some names otherwise, but keeps their order; what has no place comes by name.
        every = list(zip(inputs, [*given, *named.values()], strict=True))
        # A generic operator has the types of its tensors.
        types = {port.dtype: value.dtype for port, value in every if not isinstance(value, _NUMBERS)}
        return node(*(_value(port, value, types.get(port.dtype, onnx_type(port.dtype))) for port, value in every))

    return {getattr(torch_op, "default", torch_op): translated}


def _value(port: Port, given: Any, element: int) -> Any:
    """Numbers become constants of the input's type."""
    if not isinstance(given, _NUMBERS):
        return given
    return onnxscript.opset18.Constant(value=onnx.helper.make_tensor(port.name, int(element), (), [given]))


def _register(name: str, inputs: Sequence[Port], outputs: Sequence[Port]) -> None:
    """What the writer of models has to know of the node."""
    domain = node_domain(name)
    if onnx.defs.has(name, domain):
        onnx.defs.deregister_schema(name, VERSION, domain)
    taken, made = (list(map(_formal, ports)) for ports in (inputs, outputs))
    onnx.defs.register_schema(OpSchema(name, domain, VERSION, inputs=taken, outputs=made))


def _formal(port: Port) -> Any:
    spelt = onnx.helper.tensor_dtype_to_string(onnx_type(port.dtype)).removeprefix("TensorProto.").lower()
    return OpSchema.FormalParameter(port.name, f"tensor({spelt})")
