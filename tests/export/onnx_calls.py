"""Calls of exported models of ONNX Runtime: arrays in the order of the node's inputs, also of types NumPy lacks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import workbench as wb
from workbench.errors import LoweringError
from workbench.export.dispatch import Family, family_of
from workbench.export.ort.signature import node_inputs, outputs_of
from workbench.ops.samples import sample_arrays, sample_out

Array = np.ndarray[Any, Any]
BFLOAT16 = 16  # ONNX's number of the type


def session(model: Path | bytes, *libraries: Path, threads: int = 1, **entries: str) -> Any:
    """A session on the processor; without a library a model has to do on its own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4  # what is refused is raised, it need not be printed too
    for name, value in entries.items():
        options.add_session_config_entry(name, value)
    for library in libraries:
        options.register_custom_ops_library(str(library))
    given = model if isinstance(model, bytes) else str(model)
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def called(found: Any, family: Family, given: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> list[Array]:
    """The results, for arguments and shapes by the operator's names."""
    import onnxruntime

    binding = found.io_binding()
    for port in node_inputs(family):
        binding.bind_ortvalue_input(port.name, _value(np.asarray(given[port.of], port.dtype.numpy)))
    results = []
    for port in outputs_of(family):
        array = np.zeros(shapes[port.of], port.dtype.numpy)
        results.append(array)
        if array.size and port.dtype.name == "bfloat16":
            binding.bind_ortvalue_output(port.name, _value(array))
        else:
            binding.bind_output(port.name)
    options = onnxruntime.RunOptions()
    options.log_severity_level = 4
    found.run_with_iobinding(binding, options)
    for n, value in enumerate(binding.get_outputs()):
        if results[n].dtype.name != "bfloat16":
            results[n] = value.numpy()
    return results


def _value(array: Array) -> Any:
    import onnxruntime

    if array.dtype.name == "bfloat16":
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), BFLOAT16)
    return onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array).reshape(array.shape))


def arguments(op: wb.Operator, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Samples by name: parameters, sizes, and what is updated."""
    out = sample_out(op, **sizes)
    given = dict(zip(op.outputs, out if isinstance(out, tuple) else [out] * len(op.outputs), strict=True))
    return {**sizes, **given, **dict(zip(op.parameters, sample_arrays(op, **sizes), strict=True))}


def expected(op: wb.Operator, sizes: Mapping[str, int]) -> dict[str, Array]:
    """What the oracle says."""
    known = {n: v for n, v in sizes.items() if n in op.size_names}
    found = wb.lang.evaluate(op, *sample_arrays(op, **sizes), out=sample_out(op, **sizes), **known)
    return dict(zip(op.outputs, found if isinstance(found, tuple) else (found,), strict=True))


def family(op: wb.Operator, sizes: Mapping[str, int]) -> tuple[Any, Family]:
    """What to export, and its family; scalars that have to be known are those of the sizes."""
    for names in ((), op.scalars, (*op.scalars, *op.size_names)):
        what = wb.schedule(op, {n: sizes[n] for n in names}) if names else op
        try:
            return what, family_of(what)
        except LoweringError as error:
            refused = error
    raise refused
