"""Exported graphs of PyTorch, node by node, into a builder."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from workbench.errors import ModelError, UnsupportedModel, unknown_name
from workbench.graph.importing.dimension_arithmetic import largest, least, quotient
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.torch_nodes.call import Call
from workbench.graph.importing.torch_nodes.control_calls import CONTROL
from workbench.graph.importing.torch_nodes.writers import WRITERS, why_not
from workbench.graph.importing.values import Value
from workbench.graph.terms.dimensions import dimension

# Arithmetic on sizes.
SIZES: dict[Any, Callable[..., Any]] = {
    operator.add: lambda a, b: dimension(a) + dimension(b),
    operator.sub: lambda a, b: dimension(a) - dimension(b),
    operator.mul: lambda a, b: dimension(a) * dimension(b),
    operator.floordiv: lambda a, b: quotient(dimension(a), dimension(b)),
    operator.neg: lambda a: -dimension(a),
    torch.sym_max: lambda a, b: largest(dimension(a), dimension(b)),
    torch.sym_min: lambda a, b: least(dimension(a), dimension(b)),
}


@dataclass(eq=False)
class Graph:
    """A graph that is taken over, with the values of its nodes."""

    g: Emitter
    module: torch.nn.Module
    values: dict[Any, Any] = field(default_factory=dict)

    def run(self, graph: torch.fx.Graph) -> tuple[Any, ...]:
        """Take over all nodes; the values of the outputs."""
        for node in graph.nodes:
            match node.op:
                case "call_function":
                    self.values[node] = self._call(node)
                case "get_attr":
                    self.values[node] = self._attribute(node)
                case "output":
                    found = node.args[0]
                    return tuple(
                        self._argument(each) for each in (found if isinstance(found, tuple | list) else [found])
                    )
                case _:
                    pass
        raise UnsupportedModel("the exported graph has no output")

    def branch(self, module: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The results of a graph that is an argument, for its operands."""
        inner = Graph(self.g, module)
        formals = [node for node in module.graph.nodes if node.op == "placeholder"]
        inner.values |= dict(zip(formals, operands, strict=True))
        return inner.run(module.graph)

    def _attribute(self, node: Any) -> Any:
        found: Any = self.module
        for part in node.target.split("."):
            found = getattr(found, part)
        return constant_array(self.g, found, node.target) if isinstance(found, torch.Tensor) else found

    def _argument(self, of: Any) -> Any:
        if isinstance(of, torch.fx.Node):
            return self.values[of]
        if isinstance(of, list | tuple):
            return type(of)(self._argument(each) for each in of)
        return of

    def _call(self, node: Any) -> Any:
        target = node.target
        if target is operator.getitem:
            return self._argument(node.args[0])[node.args[1]]
        if target in SIZES and not any(isinstance(self._argument(each), Value) for each in node.args):
            return SIZES[target](*map(self._argument, node.args))
        place = _place_of(node)
        self.g.label = label_of(node)
        try:
            return self._written(node, place)
        except UnsupportedModel as error:
            raise error.at(place) from None
        except ModelError as error:
            raise UnsupportedModel(f"{place}: {error}") from None

    def _written(self, node: Any, place: str) -> Any:
        name = str(node.target)
        if name.startswith("aten.sym_size"):
            value, axis = (self._argument(each) for each in node.args)
            return value.dims[axis]
        if not hasattr(node.target, "_schema"):
            return self._control(node, place)
        if node.target.namespace != "aten":
            raise UnsupportedModel(f"{place}: an operation of {node.target.namespace!r}, which is none of ATen's")
        short = node.target._schema.name.partition("::")[2]
        if short not in WRITERS:
            raise UnsupportedModel(f"{place}: {why_not(short)}")
        call = Call(short, place, self._bound(node), node.meta.get("val"), self.g, self)
        return WRITERS[short](call)

    def _control(self, node: Any, place: str) -> Any:
        name = getattr(node.target, "_name", getattr(node.target, "__name__", str(node.target)))
        if name not in CONTROL:
            raise UnsupportedModel(f"{place}: {unknown_name('operation', name, CONTROL)}")
        arguments = {str(at): self._argument(each) for at, each in enumerate(node.args)}
        arguments |= {key: self._argument(each) for key, each in node.kwargs.items()}
        return CONTROL[name](Call(name, place, arguments, node.meta.get("val"), self.g, self))

    def _bound(self, node: Any) -> dict[str, Any]:
        """The arguments of a call by the names of the schema, defaults included."""
        formals = node.target._schema.arguments
        found = {each.name: each.default_value for each in formals if each.has_default_value()}
        found |= {formal.name: self._argument(each) for formal, each in zip(formals, node.args, strict=False)}
        return found | {key: self._argument(each) for key, each in node.kwargs.items()}


def constant_array(g: Emitter, tensor: torch.Tensor, name: str) -> Value:
    """A parameter, buffer or constant as an array."""
    from workbench.lang.dtypes import BFLOAT16, from_numpy

    plain = tensor.detach().cpu().contiguous()
    if plain.dtype == torch.bfloat16:
        return g.constant(plain.view(torch.int16).numpy().view(BFLOAT16.numpy), BFLOAT16)
    try:
        array = plain.numpy()
    except (TypeError, RuntimeError) as error:
        raise UnsupportedModel(f"{name}: a tensor that is no array: {error}") from None
    if from_numpy(array.dtype) is None:
        raise UnsupportedModel(f"{name}: element type {array.dtype} is none of the workbench's")
    return g.constant(array)


def label_of(node: Any) -> str:
    """The path of the module that a node came from, with the node's own name."""
    path = _module_path(node)
    return f"{path}.{node.name}" if path else node.name


def _module_path(node: Any) -> str:
    """The path of the module that a node came from: `layers.0.norm`."""
    stack = node.meta.get("nn_module_stack") or {}
    return list(stack.values())[-1][0] if stack else ""


def _place_of(node: Any) -> str:
    """What a node is and where it came from: operation, module, line of the user's code."""
    target = getattr(node.target, "_schema", None)
    name = target.name.replace("::", ".") if target is not None else getattr(node.target, "__name__", str(node.target))
    path, line = _module_path(node), line_of(node)
    return name + (f" in module {path!r}" if path else "") + (f" at {line}" if line else "")


def line_of(node: Any) -> str:
    """The last line of the user's own code in a node's stack: `model.py:12`."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if "/torch/" not in frame[0].replace("\\", "/")]
    if not (own or frames):
        return ""
    file, number = (own or frames)[-1]
    return f"{file}:{number}"
