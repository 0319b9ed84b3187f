"""Models of others that are none: each mistake is one error that names the place; nothing wrong is taken over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.errors import CallError, ModelError, UnsupportedModel


@pytest.fixture
def onnx() -> Any:
    return pytest.importorskip("onnx", reason="install onnx: nothing here writes models")


def of_nodes(onnx: Any, nodes: list[Any], *, x: Any = ("n", 3), y: Any = ("p", "q"), opset: int = 20) -> Any:
    """A model of some nodes from `x` to `y`; a shape of None is left out."""
    make, kind = onnx.helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(nodes, "g", [make("x", kind, x)], [make("y", kind, y)])
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)])


def test_a_file_is_named_that_holds_no_model(onnx, tmp_path):
    for name, content, words in (
        ("empty", b"", "empty.onnx is malformed: .*ir_version"),
        ("text", b"hello, this is no model", "text.onnx: no model of ONNX"),
        ("cut", of_nodes(onnx, [onnx.helper.make_node("Relu", ["x"], ["y"])]).SerializeToString()[:40], "cut.onnx"),
    ):
        path = tmp_path / f"{name}.onnx"
        path.write_bytes(content)
        with pytest.raises(ModelError, match=words):
            wb.from_onnx(path)
    with pytest.raises(ModelError, match=r"none\.onnx: cannot be read: No such file"):
        wb.from_onnx(Path(tmp_path / "none.onnx"))


def test_an_axis_that_is_none_is_no_other_axis(onnx):
    make = onnx.helper.make_node
    for node in (
        make("Softmax", ["x"], ["y"], axis=7),
        make("LogSoftmax", ["x"], ["y"], axis=-3),
        make("ArgMax", ["x"], ["y"], axis=2),
        make("Concat", ["x", "x"], ["y"], axis=5),
        make("Flatten", ["x"], ["y"], axis=9),
    ):
        with pytest.raises((ModelError, UnsupportedModel)):
            wb.from_onnx(of_nodes(onnx, [node]))
    with pytest.raises(ModelError, match=r"contradicts itself: .*Softmax.*axis.*7"):
        wb.from_onnx(of_nodes(onnx, [make("Softmax", ["x"], ["y"], axis=7)]))


def test_shapes_that_contradict_what_is_declared_are_refused(onnx):
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    with pytest.raises(ModelError, match=r"contradicts itself: .*Relu.*\(3\) vs \(5\)"):
        wb.from_onnx(of_nodes(onnx, [node], y=(5, 5)))
    with pytest.raises(ModelError, match="input 'x' has the extent -3 in dimension 0"):
        wb.from_onnx(of_nodes(onnx, [node], x=(-3, 3)))
    with pytest.raises(ModelError, match="input 'x' has no shape; give it dimensions"):
        wb.from_onnx(of_nodes(onnx, [node], x=None))


def test_an_output_without_a_shape_has_the_one_that_follows(onnx):
    model = wb.from_onnx(of_nodes(onnx, [onnx.helper.make_node("Relu", ["x"], ["y"])], y=None))
    np.testing.assert_array_equal(model.evaluate(-np.ones((2, 3), "f4")), np.zeros((2, 3)))


def test_an_opset_of_the_future_is_refused(onnx):
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    newest = onnx.defs.onnx_opset_version()
    with pytest.raises(ModelError, match=f"is of opset {newest + 1}, and the installed onnx"):
        wb.from_onnx(of_nodes(onnx, [node], opset=newest + 1))


def test_nodes_in_a_circle_are_refused(onnx):
    make = onnx.helper.make_node
    nodes = [make("Add", ["x", "b"], ["a"]), make("Relu", ["a"], ["b"]), make("Neg", ["a"], ["y"])]
    with pytest.raises(ModelError, match=r"is malformed: .*input 'b'.*is not output of any previous nodes"):
        wb.from_onnx(of_nodes(onnx, nodes))


def test_a_way_that_depends_on_data_is_said_with_its_line():
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")

    def branching(x: Any) -> Any:
        return x * 2 if x.sum() > 0 else x

    with pytest.raises(UnsupportedModel, match=r"test_bad_models\.py:\d+: return x \* 2 if .*torch\.cond\(\.\.\.\)"):
        wb.from_torch(branching, torch.ones(3))


def test_what_is_no_module_with_examples_is_said():
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")
    with pytest.raises(ModelError, match="Linear is a class: Linear"):
        wb.from_torch(torch.nn.Linear, torch.ones(2, 3))
    with pytest.raises(ModelError, match="example 1 is an array of NumPy"):
        wb.from_torch(torch.nn.Linear(3, 4), np.ones((2, 3), "f4"))
    with pytest.raises(UnsupportedModel, match=r"'input'; examples follow the module"):
        wb.from_torch(torch.nn.Linear(3, 4))
    with pytest.raises(UnsupportedModel, match="complex64 is no element type"):
        wb.from_torch(torch.nn.ReLU(), torch.ones(3, dtype=torch.complex64))
    with pytest.raises(UnsupportedModel) as refused:
        wb.from_torch(torch.nn.Linear(3, 4), torch.ones(2, 5))
    assert "TORCH_LOGS" not in str(refused.value)
    assert "same reduction dim" in str(refused.value)


def test_writing_in_place_is_followed_and_a_changed_argument_is_refused():
    torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")

    def own(x: Any) -> Any:
        y = x.clone()
        y.add_(1)
        y[0] = 3
        return y * 2

    np.testing.assert_array_equal(wb.from_torch(own, torch.ones(3)).evaluate(np.ones(3, "f4")), [6, 4, 4])
    with pytest.raises(UnsupportedModel, match="the module changes 'x'"):
        wb.from_torch(lambda x: x.add_(1) * 2, torch.ones(3))


def test_sizes_below_zero_are_refused():
    model = wb.model("fn main(x: float32[n - 1, 4]) { softmax(x) }")
    with pytest.raises(CallError, match="with these sizes a dimension would be -2"):
        wb.plan_memory(model, {"n": -1})
