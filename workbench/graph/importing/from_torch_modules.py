"""`wb.from_torch`: a module or function of PyTorch as a model of the workbench."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ModelError, UnsupportedModel, shown
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.from_onnx_models import identifier
from workbench.graph.importing.recursion import LoopBuilder
from workbench.graph.importing.values import Dims, Value
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import Dimension, dimension
from workbench.lang.dtypes import DTYPES

if TYPE_CHECKING:
    import torch

# What stays whole when a module is decomposed: it has a definition of its own here.
KEPT = (
    "aten.gru.input", "aten.linear.default", "aten.lstm.input", "aten.matmul.default", "aten.rnn_relu.input",
    "aten.rnn_tanh.input", "aten.scaled_dot_product_attention.default",
)  # fmt: skip

NOISE = re.compile(
    r"(For more information|For extended logs|For more debugging|For C\+\+ stack trace|If you suspect|Use tlparse"
    r"|The error above occurred|If you would like to view)"
)
MISSING = "missing a required argument"
FOREIGN = re.compile(r"[/\\](torch|workbench[/\\]graph)[/\\]|[/\\]python\d\.\d+[/\\](?!site-packages)|^<")


def from_torch(module: torch.nn.Module | Callable[..., Any], /, *examples: Any, dynamic_shapes: Any = None) -> Model:
    """The model of a module or function, as `torch.export` sees it for example arguments.

    Parameters and buffers become constants.  The model's parameters are the tensors among the arguments, in order;
    several results are a tuple.  `dynamic_shapes` are those of `torch.export.export`: their `Dim`s become named
    dimensions.  UnsupportedModel names the operation that cannot be taken over, its module and the line of its code.
    """
    try:
        import torch
    except ImportError:
        raise ModelError("torch is not installed: pip install torch") from None
    _refuse_others(module, examples)
    exported = _exported(torch, module, examples, dynamic_shapes)
    names = _dimension_names(examples, exported, dynamic_shapes)
    emitter = Emitter(LoopBuilder("main"))
    return _model(torch, emitter, exported, names)


def _exported(torch: Any, module: Any, examples: tuple[Any, ...], dynamic_shapes: Any) -> Any:
    whole = module if isinstance(module, torch.nn.Module) else _wrapped(torch, module)
    try:
        with torch.no_grad():
            program = torch.export.export(whole, examples, dynamic_shapes=dynamic_shapes)
            return program.run_decompositions(_decompositions(torch))
    except Exception as error:
        raise UnsupportedModel(_refusal(error)) from error


def _refuse_others(module: Any, examples: tuple[Any, ...]) -> None:
    if isinstance(module, type):
        name = module.__name__
        raise ModelError(f"from_torch takes a module, and {name} is a class: {name}(...) makes one")
    if not callable(module):
        raise ModelError(f"from_torch takes a module or a function, not {shown(module)}")
    for number, each in enumerate(examples, 1):
        if isinstance(each, np.ndarray):
            raise ModelError(f"example {number} is an array of NumPy; from_torch takes tensors: torch.from_numpy(...)")


def _refusal(error: Exception) -> str:
    """What torch.export says, with the line of the user's code, without its advice on logs."""
    kind, place = type(error).__name__, _place(error)
    if kind.startswith("GuardOnDataDependent"):
        return (
            f"{place or 'a line of the module'}: which way it goes depends on the data of a tensor, and a model is "
            "written once for all data; torch.cond(...) is a branch, torch.while_loop(...) a loop"
        )
    lines = [line for line in str(error).strip().splitlines() if line.strip() and not NOISE.match(line.strip())]
    advice = "; examples follow the module: from_torch(module, *examples)" if MISSING in str(error) else ""
    return f"torch.export cannot take this over{place and ' at '}{place}: {kind}: " + "\n".join(lines[:12]) + advice


def _place(error: Exception) -> str:
    """`file:line: code`, the last line that is neither PyTorch's nor ours; nothing if there is none."""
    own = [each for each in traceback.extract_tb(error.__traceback__) if not FOREIGN.search(each.filename)]
    return f"{own[-1].filename}:{own[-1].lineno}: {own[-1].line}" if own else ""


def _wrapped(torch: Any, function: Callable[..., Any]) -> Any:
    """A module that computes a function."""
    module = torch.nn.Module()
    module.forward = function
    return module


def _decompositions(torch: Any) -> Any:
    table = torch.export.default_decompositions()
    for name in KEPT:
        _, operation, overload = name.split(".")
        table.pop(getattr(getattr(torch.ops.aten, operation), overload), None)
    return table


def _dimension_names(examples: tuple[Any, ...], exported: Any, dynamic_shapes: Any) -> dict[str, str]:
    """Symbol of PyTorch → the name that the caller gave the dimension."""
    found: dict[str, str] = {}
    specs = dynamic_shapes.values() if isinstance(dynamic_shapes, Mapping) else dynamic_shapes or ()
    nodes = {node.name: node for node in exported.graph.nodes if node.op == "placeholder"}
    flat = [nodes[name] for name in exported.graph_signature.user_inputs if name in nodes]
    for node, spec in zip(flat, _flat(list(specs)), strict=False):
        sizes = getattr(node.meta.get("val"), "shape", ())
        items = spec.items() if isinstance(spec, Mapping) else enumerate(spec or ())
        for axis, dim in items:
            name = getattr(dim, "__name__", None)
            symbol = getattr(getattr(sizes[axis], "node", None), "expr", None)
            if isinstance(name, str) and symbol is not None and symbol.is_symbol:
                found[str(symbol)] = name
    return found


def _flat(specs: Any) -> list[Any]:
    """Specifications of nested arguments, one for each tensor: a mapping from axes, a list of sizes, or None."""
    found = []
    for spec in specs:
        nested = isinstance(spec, list | tuple) and any(isinstance(each, Mapping | list | tuple) for each in spec)
        found += _flat(spec) if nested else [spec]
    return found


def _model(torch: Any, emitter: Emitter, exported: Any, names: dict[str, str]) -> Model:
    from workbench.graph.importing.torch_nodes.graphs import Graph

    graph = Graph(emitter, exported.graph_module)
    _placeholders(torch, graph, exported, names)
    results = graph.run(exported.graph)
    kinds = [spec.kind.name for spec in exported.graph_signature.output_specs]
    for spec in exported.graph_signature.output_specs:
        if spec.kind.name != "USER_OUTPUT":
            what = spec.kind.name.lower().replace("_", " ")
            raise UnsupportedModel(
                f"the module changes {spec.target or 'its state'!r} ({what}), and a model is a function; call .eval() "
                "if it is a batch normalisation, else return the new value"
            )
    found = [value for value, kind in zip(results, kinds, strict=True) if kind == "USER_OUTPUT"]
    terms = [_result(emitter, value, at) for at, value in enumerate(found)]
    if not terms:
        raise UnsupportedModel("the module gives no tensor")
    return emitter.builder.model(terms[0] if len(terms) == 1 else emitter.builder.tuple(*terms))


def _result(emitter: Emitter, value: Any, at: int) -> Any:
    if isinstance(value, Dimension | int):
        from workbench.graph.importing.values import symbolic

        return emitter.contents(symbolic(dimension(value))).term
    if not isinstance(value, Value):
        raise UnsupportedModel(f"result {at} is no tensor but {shown(value)}")
    return value.term


def _placeholders(torch: Any, graph: Any, exported: Any, names: dict[str, str]) -> None:
    """Arguments as parameters; parameters, buffers and constants of the module as constants."""
    from workbench.graph.importing.torch_nodes.graphs import constant_array

    taken: set[str] = set()
    known: dict[str, str] = {}
    specs = {spec.arg.name: spec for spec in exported.graph_signature.input_specs}
    for node in exported.graph.nodes:
        if node.op != "placeholder":
            continue
        spec, kind = specs[node.name], specs[node.name].kind.name
        if kind == "USER_INPUT":
            value = node.meta.get("val")
            if isinstance(value, torch.Tensor):
                element = DTYPES.get(str(value.dtype).removeprefix("torch."))
                if element is None:
                    raise UnsupportedModel(f"argument {node.name!r}: {value.dtype} is no element type here")
                dims = _dims(value.shape, names, known)
                graph.values[node] = graph.g.parameter(identifier(node.name, taken), element, dims)
            else:
                graph.values[node] = getattr(spec.arg, "value", None)
        elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            stored = exported.state_dict.get(spec.target)
            tensor = stored if stored is not None else exported.constants[spec.target]
            graph.values[node] = constant_array(graph.g, tensor, spec.target)
        else:
            raise UnsupportedModel(f"argument {node.name!r} is a {kind.lower().replace('_', ' ')}, not a tensor")


def _dims(shape: Any, names: Mapping[str, str], known: dict[str, str]) -> Dims:
    return tuple(_dim(size, names, known) for size in shape)


def _dim(size: Any, names: Mapping[str, str], known: dict[str, str]) -> Dimension:
    """A size of PyTorch: a number, a symbol, or arithmetic on symbols."""
    if isinstance(size, int):
        return dimension(size)
    expression = size.node.expr
    if expression.is_Integer:
        return dimension(int(expression))
    if expression.is_symbol:
        text = str(expression)
        if text not in known:
            known[text] = identifier(names.get(text, text), set(known.values()))
        return dimension(known[text])
    if expression.is_Add or expression.is_Mul:
        parts = [_dim(_Size(part), names, known) for part in expression.args]
        found = parts[0]
        for part in parts[1:]:
            found = found + part if expression.is_Add else found * part
        return found
    raise UnsupportedModel(f"a dimension {expression} that is no sum of products")


class _Size:
    """A part of a size, as a size has it."""

    def __init__(self, expr: Any) -> None:
        self.expr, self.node = expr, self
