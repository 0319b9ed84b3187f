"""The ONNX project's light models, with random weights in place of its constant ones, against ONNX Runtime."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import workbench as wb

onnx = pytest.importorskip("onnx", reason="install onnx: its light models are taken over")
ort = pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
converter = pytest.importorskip("onnx.version_converter", reason="install onnx: its light models are taken over")

MODELS = ("squeezenet", "shufflenet", "inception_v1")


def loaded(name):
    """A light model at opset 18 whose weights, constants of one number there, are random."""
    path = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"
    model = converter.convert_version(onnx.load(str(path)), 18)
    model.ir_version = 8
    shapes = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    random, nodes = np.random.default_rng(1), list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        if node.op_type == "ConstantOfShape":
            weights = drawn(random, tuple(map(int, shapes[node.input[0]])))
            model.graph.initializer.append(onnx.numpy_helper.from_array(weights, node.output[0]))
        else:
            model.graph.node.append(node)
    return model


def drawn(random, shape):
    """Weights that keep the size of what they multiply (He et al., 2015); biases and statistics near 1."""
    if len(shape) < 2:
        return random.uniform(0.5, 1.5, shape).astype(np.float32)
    return (random.normal(size=shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)


@pytest.mark.parametrize("name", MODELS)
def test_a_light_model_computes_what_onnx_runtime_does(name):
    proto = loaded(name)
    known = {each.name for each in proto.graph.initializer}
    (image,) = (each for each in proto.graph.input if each.name not in known)
    x = np.random.default_rng(0).random([dim.dim_value for dim in image.type.tensor_type.shape.dim], dtype=np.float32)
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {image.name: x})[0]
    np.testing.assert_allclose(wb.from_onnx(proto).evaluate(x), expected, rtol=1e-3, atol=1e-6)
