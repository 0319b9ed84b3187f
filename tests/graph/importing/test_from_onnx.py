"""Models of ONNX: names and dimensions, sizes that are followed, control flow, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ModelError, UnsupportedModel

onnx = pytest.importorskip("onnx", reason="install onnx: nothing here writes models")
reference = pytest.importorskip("onnx.reference", reason="install onnx: nothing here writes models")
TensorProto, helper, numpy_helper = onnx.TensorProto, onnx.helper, onnx.numpy_helper

F, WHOLE, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def info(name, shape, element=F):
    return helper.make_tensor_value_info(name, element, shape)


def made(nodes, inputs, outputs, constants=None, opset=18, functions=()):
    """A model of nodes."""
    initializers = [numpy_helper.from_array(np.asarray(array), name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


node = helper.make_node


def ramp(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) / 7 - 1


def test_dimensions_and_inputs_keep_their_names():
    model = wb.from_onnx(
        made([node("Relu", ["in.put"], ["y"])], [info("in.put", ["batch", 3])], [info("y", ["batch", 3])])
    )
    assert "fn main(in_put: float32[batch, 3])" in str(model)
    np.testing.assert_array_equal(model.evaluate(ramp(5, 3)), np.maximum(ramp(5, 3), 0))


def test_a_text_that_is_read_again_is_the_same_model():
    nodes = [node("Gemm", ["x", "w", "b"], ["h"]), node("Softmax", ["h"], ["y"])]
    constants = {"w": ramp(3, 4), "b": ramp(4)}
    model = wb.from_onnx(made(nodes, [info("x", ["n", 3])], [info("y", ["n", 4])], constants))
    assert wb.model(str(model), model.constants) == model


def test_files_and_bytes_are_read(tmp_path):
    proto = made([node("Neg", ["x"], ["y"])], [info("x", [2])], [info("y", [2])])
    onnx.save(proto, str(tmp_path / "neg.onnx"))
    for source in (str(tmp_path / "neg.onnx"), tmp_path / "neg.onnx", proto.SerializeToString()):
        np.testing.assert_array_equal(wb.from_onnx(source).evaluate(ramp(2)), -ramp(2))


def test_a_shape_that_is_computed_from_sizes_is_followed():
    """Shape → Gather → Mul → Concat → Reshape, as exporters write a flattening of two axes that vary."""
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "zero"], ["n"]),
        node("Gather", ["s", "one"], ["m"]),
        node("Mul", ["n", "m"], ["nm"]),
        node("Unsqueeze", ["nm", "axes"], ["nm1"]),
        node("Concat", ["nm1", "rest"], ["shape"], axis=0),
        node("Reshape", ["x", "shape"], ["y"]),
    ]
    constants = {"zero": np.int64(0), "one": np.int64(1), "axes": np.array([0]), "rest": np.array([2, 2])}
    model = wb.from_onnx(made(nodes, [info("x", ["n", "m", 4])], [info("y", [None, 2, 2])], constants))
    assert "-> float32[m * n, 2, 2]" in repr(model)
    np.testing.assert_array_equal(model.evaluate(ramp(3, 5, 4)), ramp(3, 5, 4).reshape(15, 2, 2))


def test_sizes_are_data_where_somebody_wants_them():
    nodes = [node("Shape", ["x"], ["s"]), node("Cast", ["s"], ["f"], to=F), node("Mul", ["f", "f"], ["y"])]
    model = wb.from_onnx(made(nodes, [info("x", ["n", 3])], [info("y", [2])]))
    np.testing.assert_array_equal(model.evaluate(ramp(5, 3)), np.array([25, 9], np.float32))


def test_a_batch_that_varies_goes_through_a_network():
    nodes = [
        node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2]),
        node("Relu", ["c"], ["r"]),
        node("GlobalAveragePool", ["r"], ["p"]),
        node("Flatten", ["p"], ["y"]),
    ]
    weights = ramp(4, 3, 3, 3)
    model = wb.from_onnx(made(nodes, [info("x", ["n", 3, "h", "w_"])], [info("y", ["n", 4])], {"w": weights}))
    for shape in ((1, 3, 5, 7), (3, 3, 8, 6)):
        expected = reference.ReferenceEvaluator(
            made(nodes, [info("x", list(shape))], [info("y", [None, 4])], {"w": weights})
        ).run(None, {"x": ramp(*shape)})[0]
        np.testing.assert_allclose(model.evaluate(ramp(*shape)), expected, rtol=1e-4, atol=1e-4)


def branches(then, otherwise):
    graphs = [
        helper.make_graph([node(kind, ["x"], [name])], name, [], [info(name, ["n"])])
        for kind, name in ((then, "a"), (otherwise, "b"))
    ]
    return node("If", ["test"], ["y"], then_branch=graphs[0], else_branch=graphs[1])


def test_if_is_a_branch_of_the_language():
    proto = made([branches("Neg", "Exp")], [info("test", [], B), info("x", ["n"])], [info("y", ["n"])])
    model = wb.from_onnx(proto)
    assert "if test" in str(model)
    np.testing.assert_array_equal(model.evaluate(np.bool_(True), ramp(3)), -ramp(3))
    np.testing.assert_allclose(model.evaluate(np.bool_(False), ramp(3)), np.exp(ramp(3)), rtol=1e-6)


def test_a_branch_whose_condition_is_known_is_all_there_is():
    proto = made([branches("Neg", "Exp")], [info("test", [], B), info("x", ["n"])], [info("y", ["n"])])
    model = wb.from_onnx(proto, constants={"test": True})
    assert "if" not in str(model).split("fn main")[1]
    np.testing.assert_array_equal(model.evaluate(ramp(3)), -ramp(3))


def halving(scan=False):
    """while i < count and more: x = x / 2, more = sum(x) > 1."""
    nodes = [node("Div", ["x_in", "two"], ["x_out"]), node("ReduceSum", ["x_out"], ["s"], keepdims=0)]
    nodes.append(node("Identity", ["more_in"], ["more"]) if scan else node("Greater", ["s", "one"], ["more"]))
    outputs = [info("more", [], B), info("x_out", ["n"])]
    if scan:
        nodes.append(node("Identity", ["s"], ["row"]))
        outputs.append(info("row", []))
    inputs = [info("i", [], WHOLE), info("more_in", [], B), info("x_in", ["n"])]
    return helper.make_graph(nodes, "body", inputs, outputs)


def test_a_loop_is_a_function_that_calls_itself():
    proto = made(
        [node("Loop", ["count", "go", "x"], ["y"], body=halving())], [info("count", [], WHOLE), info("x", ["n"])],
        [info("y", ["n"])], {"go": np.bool_(True), "two": np.float32(2), "one": np.float32(1)},
    )  # fmt: skip
    model = wb.from_onnx(proto)
    assert "rounds(" in str(model)
    x = np.array([3, 5], np.float32)
    np.testing.assert_array_equal(model.evaluate(np.int64(2), x), x / 4)
    np.testing.assert_array_equal(model.evaluate(np.int64(100), x), x / 8)
    np.testing.assert_array_equal(model.evaluate(np.int64(0), x), x)


def test_loops_stand_in_loops_and_branches():
    """x grows by 1 in each of n rounds, each of which halves it `i` times if it is more than 1."""
    inner = helper.make_graph(
        [node("Identity", ["go_in"], ["go_out"]), node("Div", ["h_in", "two"], ["h_out"])], "inner",
        [info("k", [], WHOLE), info("go_in", [], B), info("h_in", [])], [info("go_out", [], B), info("h_out", [])],
    )  # fmt: skip
    halved = node("Loop", ["i", "", "x_in"], ["halved"], body=inner)
    branches = [
        helper.make_graph([halved], "then", [], [info("halved", [])]),
        helper.make_graph([node("Identity", ["x_in"], ["same"])], "else", [], [info("same", [])]),
    ]
    outer = helper.make_graph(
        [
            node("Identity", ["on_in"], ["on"]), node("Greater", ["x_in", "one"], ["much"]),
            node("If", ["much"], ["less"], then_branch=branches[0], else_branch=branches[1]),
            node("Add", ["less", "one"], ["x_out"]),
        ], "outer",
        [info("i", [], WHOLE), info("on_in", [], B), info("x_in", [])], [info("on", [], B), info("x_out", [])],
    )  # fmt: skip
    proto = made(
        [node("Loop", ["n", "", "x"], ["y"], body=outer)], [info("n", [], WHOLE), info("x", [])], [info("y", [])],
        {"two": np.float32(2), "one": np.float32(1)},
    )  # fmt: skip
    model = wb.from_onnx(proto)
    expected = 5.0
    for i in range(4):
        expected = (expected / 2**i if expected > 1 else expected) + 1
    assert model.evaluate(np.int64(4), np.float32(5)) == expected
    assert wb.model(str(model), model.constants) == model


def test_what_a_loop_collects_has_a_row_for_each_round():
    proto = made(
        [node("Loop", ["count", "", "x"], ["y", "rows"], body=halving(scan=True))], [info("x", ["n"])],
        [info("y", ["n"]), info("rows", [4])], {"count": np.int64(4), "two": np.float32(2), "one": np.float32(1)},
    )  # fmt: skip
    y, rows = wb.from_onnx(proto).evaluate(np.array([3, 5], np.float32))
    np.testing.assert_array_equal(y, np.array([3, 5], np.float32) / 16)
    np.testing.assert_array_equal(rows, np.array([4, 2, 1, 0.5], np.float32))


def test_a_loop_that_collects_while_a_condition_holds_is_refused():
    body = halving(scan=True)
    body.node[2].CopyFrom(node("Greater", ["s", "one"], ["more"]))
    proto = made(
        [node("Loop", ["count", "go", "x"], ["y", "rows"], name="while", body=body)], [info("x", ["n"])],
        [info("y", ["n"]), info("rows", [None])],
        {"count": np.int64(4), "go": np.bool_(True), "two": np.float32(2), "one": np.float32(1)},
    )  # fmt: skip
    with pytest.raises(UnsupportedModel, match=r"node 'while' \(Loop\).*a condition may end it earlier"):
        wb.from_onnx(proto)


def test_a_scan_over_an_axis_that_varies():
    body = helper.make_graph(
        [node("Add", ["sum_in", "row"], ["sum_out"]), node("Identity", ["sum_out"], ["partial"])], "body",
        [info("sum_in", [2]), info("row", [2])], [info("sum_out", [2]), info("partial", [2])],
    )  # fmt: skip
    proto = made(
        [node("Scan", ["start", "x"], ["total", "partials"], body=body, num_scan_inputs=1)],
        [info("start", [2]), info("x", ["t", 2])], [info("total", [2]), info("partials", ["t", 2])],
    )  # fmt: skip
    total, partials = wb.from_onnx(proto).evaluate(np.zeros(2, np.float32), ramp(5, 2))
    np.testing.assert_allclose(total, ramp(5, 2).sum(0), rtol=1e-5)
    np.testing.assert_allclose(partials, np.cumsum(ramp(5, 2), 0), rtol=1e-5)


def test_local_functions_are_inlined():
    body = [node("Mul", ["a", "a"], ["s"]), node("Add", ["s", "a"], ["r"])]
    function = helper.make_function("own", "Twice", ["a"], ["r"], body, [helper.make_opsetid("", 18)])
    call = node("Twice", ["x"], ["y"], domain="own")
    model = wb.from_onnx(made([call], [info("x", [3])], [info("y", [3])], functions=[function]))
    np.testing.assert_allclose(model.evaluate(ramp(3)), ramp(3) ** 2 + ramp(3), rtol=1e-6)


@pytest.mark.parametrize("lost", ["data", "Reshape"])
def test_the_shape_of_a_reshape_must_be_known(lost):
    proto = made(
        [node("Reshape", ["x", "shape"], ["y"], name="r")],
        [info("x", [6]), info("shape", [2], WHOLE)],
        [info("y", [None, None])],
    )
    with pytest.raises(UnsupportedModel, match=lost) as caught:
        wb.from_onnx(proto)
    assert caught.value.inputs == ("shape",)
    model = wb.from_onnx(proto, constants={"shape": [2, -1]})
    np.testing.assert_array_equal(model.evaluate(ramp(6)), ramp(6).reshape(2, 3))


REFUSED = {
    "NonZero": "how many elements are not 0",
    "RandomNormalLike": "random",
    "Det": "no definition here",
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_node_that_cannot_be_is_refused_by_name(kind):
    proto = made([node(kind, ["x"], ["y"], name="culprit")], [info("x", [3, 3])], [info("y", [None, None])])
    with pytest.raises(UnsupportedModel, match=rf"node 'culprit' \({kind}\).*{REFUSED[kind]}"):
        wb.from_onnx(proto)


def test_nodes_of_unknown_domains_and_old_definitions_are_refused():
    own = node("Gadget", ["x"], ["y"], domain="own")
    with pytest.raises(UnsupportedModel, match="unknown type of node of domain 'own'"):
        wb.from_onnx(made([own], [info("x", [3])], [info("y", [3])]))
    old = made([node("Softmax", ["x"], ["y"])], [info("x", [3, 3])], [info("y", [3, 3])], opset=11)
    with pytest.raises(UnsupportedModel, match="convert_version"):
        wb.from_onnx(old)


def test_what_is_no_model_is_said_so(tmp_path):
    with pytest.raises(ModelError, match="no model of ONNX"):
        wb.from_onnx(b"\xff\xfe nonsense")
    with pytest.raises(ModelError, match="cannot be read"):
        wb.from_onnx(tmp_path / "missing.onnx")
    with pytest.raises(ModelError, match="takes a path, bytes or a ModelProto"):
        wb.from_onnx(17)
    with pytest.raises(ModelError, match="malformed"):
        wb.from_onnx(made([node("Relu", ["nobody"], ["y"])], [info("x", [3])], [info("y", [3])]))
    cyclic = [node("Relu", ["b"], ["a"]), node("Relu", ["a"], ["b"])]
    with pytest.raises(ModelError, match="malformed"):
        wb.from_onnx(made(cyclic, [info("x", [3])], [info("a", [3])]))


def test_shapes_that_do_not_fit_are_refused_at_their_node():
    nodes = [node("Relu", ["x"], ["r"]), node("MatMul", ["r", "w"], ["y"], name="product")]
    proto = made(nodes, [info("x", [2, 3])], [info("y", [2, 5])], {"w": ramp(4, 5)})
    with pytest.raises(UnsupportedModel, match="node 'product'"):
        wb.from_onnx(proto)


def test_strings_and_unknown_inputs_are_refused():
    words = info("x", [3], TensorProto.STRING)
    with pytest.raises(UnsupportedModel, match="STRING is no element type"):
        wb.from_onnx(made([node("Identity", ["x"], ["y"])], [words], [info("y", [3], TensorProto.STRING)]))
    with pytest.raises(ModelError, match="unknown input 'z'"):
        wb.from_onnx(made([node("Relu", ["x"], ["y"])], [info("x", [3])], [info("y", [3])]), constants={"z": 1})
