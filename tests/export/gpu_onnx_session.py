"""What `test_onnxruntime_on_gpu.py` runs where `libcuda.so.1` is a stand-in: the operator of the CUDA provider, which
passes for one of the processor's, so that a session without CUDA calls it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

import workbench as wb
from tests.export.jax.gpu_jax_calls import SIZES, agrees, given, operator_of
from tests.export.stand_in import images, refusal
from workbench.export.ort import library

linked = library.linked


def pretended(name, sources, headers, toolchain):
    """The operators for processors are left out, and those for GPUs take their place."""
    changes = {
        '"CUDAExecutionProvider"': '"CPUExecutionProvider"',
        "int n = 0; n < 2 * wb": "int n = wb_the_operator.types; n < 2 * wb",
    }
    changed = []
    for source in sources:
        text = source.text
        if source.name == "operators.c":
            for old, new in changes.items():
                assert old in text
                text = text.replace(old, new)
        changed.append(replace(source, text=text))
    return linked(name, changed, headers, toolchain)


def session_of(written, *, wide=False):
    """A session that calls the library, for floats as they are declared or `wide` ones."""
    options, model = onnxruntime.SessionOptions(), onnx.load(written.model)
    options.register_custom_ops_library(str(written.library))
    for port in (*model.graph.input, *model.graph.output):
        element = port.type.tensor_type
        if wide and element.elem_type == onnx.TensorProto.FLOAT:
            element.elem_type = onnx.TensorProto.DOUBLE
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def run(session, written, values):
    """The results, one or several."""
    ports = zip(written.inputs, values, strict=True)
    found = session.run(None, {p.name: np.asarray(v, p.dtype.numpy) for p, v in ports})
    return found[0] if len(found) == 1 else tuple(found)


def refused(session, written, values):
    """The words of a refusal."""
    return refusal(lambda: run(session, written, values))[1]


def main(folder):
    """What the test looks at."""
    library.linked, library.images_of = pretended, images
    said = {}
    for name in ("matmul", "gemm", "embedding", "decaying", "twice_summed"):
        op, several = operator_of(name), SIZES[name]
        what = [wb.autoschedule(op, "cuda", sizes=several[0]), op]
        written = wb.export.onnxruntime(what, folder / name, gpu=True)
        session = session_of(written)
        cases = [given(name, sizes) for sizes in several]
        said[name] = [agrees(name, run(session, written, values), values) for values in cases]
        if name == "matmul":
            said["titles"] = [title for title in written.kernels if title.startswith("cuda")]
            said["shape"] = refused(session, written, [np.ones((2, 3)), np.ones((4, 5))])
        if name == "embedding":
            said["index"] = refused(session, written, [np.ones((4, 3)), np.array([1, 4])])
        if name == "decaying":
            wide = [np.float64(v) if v.dtype.kind == "f" else v for v in cases[0]]
            given_wide = {p.name: v for p, v in zip(written.inputs, wide, strict=True)}
            found = session_of(written, wide=True).run(None, given_wide)
            said["double"] = [agrees(name, tuple(f.astype(np.float32) for f in found), cases[0]), found[0].dtype.name]
    return said


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
