"""`wb.from_onnx`: a model of ONNX as a model of the workbench."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ModelError, UnsupportedModel, shown, unknown_name
from workbench.graph.importing.emitting import Emitter
from workbench.graph.importing.recursion import LoopBuilder
from workbench.graph.importing.values import Dims, Value
from workbench.graph.models import Model
from workbench.graph.terms.dimensions import dimension

if TYPE_CHECKING:
    import onnx

LARGE_BYTES = 1 << 30
"""Shapes of larger models are not inferred beforehand: protobuf has a limit."""


def from_onnx(
    model: str | os.PathLike[str] | bytes | onnx.ModelProto, /, constants: Mapping[str, Any] | None = None
) -> Model:
    """The model of a file, of its bytes, or of a `ModelProto` (opset 18 or later).

    Its nodes are operators of the language, written for their ranks, types and attributes; dimensions keep their names.
    Its parameters are the graph's inputs in order, without those that have a value; several outputs are a tuple.
    `constants` gives values to inputs by name: those that shape other tensors (the shape of a Reshape, axes) must be
    known.  UnsupportedModel names the node that cannot be taken over, ModelError says why a file is no model.
    """
    try:
        import onnx
    except ImportError:
        raise ModelError("onnx is not installed: pip install onnx") from None
    from workbench.graph.importing.onnx_nodes.graphs import Graph

    named = str(model) if isinstance(model, str | os.PathLike) else "the model"
    proto = _checked(onnx, _loaded(onnx, model), named)
    given = dict(constants or {})
    names = [each.name for each in proto.graph.input]
    for name in given:
        if name not in names:
            raise ModelError(unknown_name("input", name, names))
    emitter = Emitter(LoopBuilder("main"))
    graph = Graph(
        emitter, {each.domain if each.domain != "ai.onnx" else "": each.version for each in proto.opset_import}
    )
    graph.initializers(proto.graph)
    _parameters(emitter, graph.values, proto, given)
    graph.run(proto.graph.node)
    results = [graph.must(output.name) for output in proto.graph.output]
    if not results:
        raise UnsupportedModel("the model has no outputs")
    _refuse_contradictions(onnx, proto, named)
    terms = [value.term for value in results]
    return emitter.builder.model(terms[0] if len(terms) == 1 else emitter.builder.tuple(*terms))


def _loaded(onnx: Any, model: Any) -> Any:
    if isinstance(model, onnx.ModelProto):
        return model
    try:
        if isinstance(model, bytes | bytearray):
            return onnx.load_model_from_string(bytes(model))
        if isinstance(model, str | os.PathLike):
            return onnx.load(os.fspath(model))
    except OSError as error:
        raise ModelError(f"{model!s}: cannot be read: {error.strerror or error}") from None
    except Exception as error:
        named = "these bytes" if isinstance(model, bytes | bytearray) else str(model)
        raise ModelError(f"{named}: no model of ONNX: {error}") from None
    raise ModelError(f"from_onnx takes a path, bytes or a ModelProto, not {shown(model)}")


def _checked(onnx: Any, proto: Any, where: str) -> Any:
    """The model with its local functions inlined; ModelError if it is malformed."""
    from onnx import inliner

    _refuse_newer(onnx, proto, where)
    try:
        whole = _with_shapes(onnx, proto, where)
        onnx.checker.check_model(whole)
        return inliner.inline_local_functions(whole) if whole.functions else whole
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        raise ModelError(f"{where} is malformed: {_one_line(error)}") from None


def _refuse_contradictions(onnx: Any, proto: Any, where: str) -> None:
    """ModelError where ONNX's own inference of shapes says that an attribute or a declared shape cannot be.

    It comes last: what a node is refused for here is said with its place and its shapes.
    """
    if proto.ByteSize() >= LARGE_BYTES:
        return
    try:
        onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
    except onnx.shape_inference.InferenceError as error:
        lines = [re.sub(r"\[\w+Error\] |Inference error\(s\): ", "", line) for line in str(error).splitlines()]
        # Of an operator inside another's own definition the fault is ONNX's.
        if said := [line.strip() for line in lines if line.strip() and line.count("(op_type:") == 1]:
            raise ModelError(f"{where} contradicts itself: {'; '.join(said)}") from None


def _one_line(error: Exception) -> str:
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _refuse_newer(onnx: Any, proto: Any, where: str) -> None:
    newest = onnx.defs.onnx_opset_version()
    for each in proto.opset_import:
        if each.domain in ("", "ai.onnx") and each.version > newest:
            known = f"the installed onnx {onnx.__version__} knows those to {newest}"
            raise ModelError(f"{where} is of opset {each.version}, and {known}: pip install --upgrade onnx")


def _with_shapes(onnx: Any, proto: Any, where: str) -> Any:
    """The model with the shapes of its outputs inferred, where it does not say them; inputs must have one."""
    for each in proto.graph.input:
        of = each.type.tensor_type
        if each.type.WhichOneof("value") == "tensor_type" and not of.HasField("shape"):
            raise ModelError(f"{where}: input {each.name!r} has no shape; give it dimensions, names will do")
        for axis, dim in enumerate(of.shape.dim):
            if dim.dim_value < 0:
                raise ModelError(f"{where}: input {each.name!r} has the extent {dim.dim_value} in dimension {axis}")
    tensors = [each for each in proto.graph.output if each.type.WhichOneof("value") == "tensor_type"]
    if all(each.type.tensor_type.HasField("shape") for each in tensors):
        return proto
    return onnx.shape_inference.infer_shapes(proto)


def _parameters(emitter: Emitter, values: dict[str, Value | None], proto: Any, given: Mapping[str, Any]) -> None:
    """Inputs as parameters, or as constants where they are given."""
    from workbench.graph.importing.onnx_nodes.node import element_name, element_of

    taken: set[str] = set()
    dims: dict[str, str] = {}
    for each in proto.graph.input:
        if each.name in values:
            continue
        kind = each.type.WhichOneof("value")
        if kind != "tensor_type":
            raise UnsupportedModel(f"input {each.name!r} is a {str(kind).removesuffix('_type')}, not a tensor")
        of = each.type.tensor_type
        element = element_of(of.elem_type)
        if element is None:
            raise UnsupportedModel(f"input {each.name!r}: {element_name(of.elem_type)} is no element type here")
        if each.name in given:
            values[each.name] = emitter.constant(np.asarray(given[each.name], element.numpy), element)
            continue
        name = identifier(each.name, taken)
        values[each.name] = emitter.parameter(name, element, _dims(of.shape.dim, name, dims), each.name)


def _dims(of: Any, name: str, known: dict[str, str]) -> Dims:
    """The dimensions of an input; those without a name get one of their own."""
    found = []
    for at, each in enumerate(of):
        if each.HasField("dim_value"):
            found.append(dimension(each.dim_value))
        else:
            key = each.dim_param or f"{name}_{at}"
            if key not in known:
                known[key] = identifier(key, set(known.values()))
            found.append(dimension(known[key]))
    return tuple(found)


def identifier(name: str, taken: set[str]) -> str:
    """A name as the language has them, different from those that are taken, which it joins."""
    plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "x"
    plain = plain if not plain[0].isdigit() else f"x{plain}"
    plain = plain if plain not in RESERVED else f"{plain}_"
    found, count = plain, 1
    while found in taken:
        count += 1
        found = f"{plain}_{count}"
    taken.add(found)
    return found


RESERVED = {
    "def",
    "where",
    "in",
    "for",
    "exists",
    "min",
    "max",
    "true",
    "false",
    "inf",
    "nan",
    "fn",
    "let",
    "if",
    "else",
    "match",
    "ref",
    "type",
    "const",
}
