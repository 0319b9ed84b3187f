"""Built models as operators of libraries for PyTorch, as nodes of ONNX Runtime, as functions of JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.export.alone import alone
from tests.export.test_c_models import MLP, array
from tests.graph.passes.test_random_networks import random_network
from tests.support import examples
from workbench.errors import WorkbenchError

LAYER = """
def linear<T>(T(M,K) x, T(N,K) w) -> (y) { y(m,n) +=! x(m,k) * w(n,k) }
fn main(x: float32[batch, 8], w: float32[6, 8]) {
    %y = bias_relu(linear(x, w), const#0)
    (softmax(%y), %y)
}
"""
BIAS = np.linspace(-1, 1, 6, dtype="f4")


@pytest.fixture(scope="module")
def mlp() -> wb.graph.BuiltModel:
    """With a tuple, a number, an index into data, a result that is an input and one that is a constant."""
    constants = [array(8, 6), array(6), array(4, 6), array(4)]
    return wb.build(wb.model(MLP, constants)).prepare(batch=3)


@pytest.fixture(scope="module")
def layer() -> wb.graph.BuiltModel:
    return wb.build(wb.model(LAYER, [BIAS])).prepare(batch=5)


GIVEN = (array(3, 8, seed=4), np.array([3, 0, 1], np.int32), np.array(0.5, np.float32))


def expected(built: wb.graph.BuiltModel) -> tuple[Any, ...]:
    x, at, s = GIVEN
    return built.model.evaluate((x, at), s)


def agrees(found: Any, known: Any) -> None:
    for mine, each in zip(found, known, strict=True):
        assert mine.shape == each.shape
        np.testing.assert_allclose(mine, each, rtol=1e-5, atol=1e-6)


# -- ONNX Runtime --


@pytest.fixture(scope="module")
def node(mlp, tmp_path_factory: pytest.TempPathFactory) -> wb.export.OnnxRuntimeLibrary:
    pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
    pytest.importorskip("onnx", reason="install onnx: nothing here writes models")
    return wb.export.onnxruntime(mlp, tmp_path_factory.mktemp("node"), name="mlp")


def test_onnxruntime_runs_a_model_as_a_node(mlp, node):
    from tests.export.onnx_calls import session

    assert "workbench.mlp::mlp(float32 x_0[3, 8], int32 x_1[3], float32 register_)" in str(node)
    assert node.pure is None
    for threads in (1, 2):
        found = session(node.model, node.library, threads=threads)
        feeds = dict(zip(("x_0", "x_1", "register_"), GIVEN, strict=True))
        agrees(found.run(None, feeds), expected(mlp))
    with pytest.raises(Exception, match="mlp: in the call of lookup: an index of table"):
        found.run(None, {**feeds, "x_1": np.array([0, 4, 0], np.int32)})
    with pytest.raises(Exception, match=r"Got: 4 Expected: 3|expected the constant size 3 but found 4"):
        found.run(None, {**feeds, "x_1": np.zeros(4, np.int32)})


@pytest.mark.parametrize("seed", range(examples(quick=1, ci=2, full=40)))
def test_random_networks_are_nodes(seed, tmp_path):
    pytest.importorskip("onnx", reason="install onnx: nothing here writes models")
    pytest.importorskip("onnxruntime", reason="install onnxruntime: nothing here runs models")
    from tests.export.onnx_calls import session

    network, x = random_network(seed), array(5, 4, seed=seed)
    known = network.evaluate(x)
    made = wb.export.onnxruntime(wb.build(network).prepare(n=5), tmp_path, name=f"network_{seed}")
    results = session(made.model, made.library, threads=2).run(None, {made.inputs[0].name: x})
    for mine, each in zip(results, known if isinstance(known, tuple) else (known,), strict=True):
        np.testing.assert_allclose(mine, each, rtol=1e-4, atol=1e-4 * np.abs(each).max())


# -- PyTorch --


@pytest.fixture(scope="module")
def library(mlp, layer, tmp_path_factory: pytest.TempPathFactory) -> wb.export.TorchLibrary:
    pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")
    models = {"mlp": mlp, "layer": layer}
    return wb.export.torch_library(models, tmp_path_factory.mktemp("models") / "libmodels.so", namespace="two")


def test_a_library_of_two_models_runs_where_the_workbench_is_not(mlp, library):
    folder = library.library.parent
    for name, each in zip(("x", "at", "s"), GIVEN, strict=True):
        np.save(folder / f"{name}.npy", each)
    alone(f"""
import numpy as np, torch
torch.ops.load_library({str(library.library)!r})
x, at, s = (torch.from_numpy(np.load(f"{{n}}.npy")) for n in ("x", "at", "s"))
for n, each in enumerate(torch.ops.two.mlp(x.T.contiguous().T, at, s)):
    np.save(f"result_{{n}}.npy", each.numpy())
try:
    torch.ops.two.mlp(x, at + 5, s)
except IndexError as error:
    assert "mlp: in the call of lookup" in str(error), error
else:
    raise AssertionError("not refused")
assert [each.shape for each in torch.ops.two.mlp(*(t.to("meta") for t in (x, at, s)))][2] == (3, 6)
""", folder=folder)  # fmt: skip
    known = expected(mlp)
    agrees([np.load(folder / f"result_{n}.npy") for n in range(len(known))], known)


def test_pytorch_differentiates_a_model_of_a_library(library):
    assert library.gradients["layer"] == ("x, w",)
    assert library.gradients["mlp"] == ()
    alone(f"""
import torch, {library.companion.stem}
def eager(x, w):
    y = torch.relu(x @ w.T + torch.linspace(-1, 1, 6))
    return torch.softmax(y, 1), y
draw = torch.Generator().manual_seed(3)
given = [torch.randn(5, 8, generator=draw), torch.randn(6, 8, generator=draw)]
mine, theirs = ([t.clone().requires_grad_() for t in given] for _ in range(2))
op = torch.ops.two.layer
for function, arguments in ((op, mine), (eager, theirs)):
    first, second = function(*arguments)
    (first.square().sum() + second.sum()).backward()
for a, b in zip(mine, theirs):
    torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-5)
torch.library.opcheck(op.default, tuple(mine))
""", folder=library.library.parent)  # fmt: skip


def test_a_companion_says_why_a_model_has_no_gradient(library):
    text = library.companion.read_text(encoding="utf-8")
    assert "main: x is no tensor, or is not read: its gradient is not exported" in text


# -- JAX --


def test_jax_calls_and_differentiates_a_model(layer):
    jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
    function = wb.export.jax(layer, name="layer_of_a_model")
    x, w = array(5, 8, seed=1), array(6, 8, seed=2)
    agrees(jax.jit(function)(x, w), layer.model.evaluate(x, w))

    def loss(x: Any, w: Any) -> Any:
        first, second = function(x, w)
        return (first**2).sum() + second.sum()

    first, second = layer.model.evaluate(x, w)
    _, d_x, d_w = wb.grad(layer.model).evaluate(x, w, (2 * first, np.ones_like(second)))
    agrees(jax.grad(loss, argnums=(0, 1))(x, w), (d_x, d_w))
    agrees((jax.grad(loss, argnums=1)(x, w),), (d_w,))
    many = jax.vmap(function, in_axes=(0, None))(np.stack([x, 2 * x]), w)
    agrees([each[1] for each in many], layer.model.evaluate(2 * x, w))
    with pytest.raises(ValueError, match="x, dimension 0 expected the constant size 5 but found 4"):
        function(x[:4], w)


def test_another_model_under_the_name_takes_its_place():
    jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")
    scaled = "def scale_by(float(N) x, float(N) s) -> (y) { y(i) = x(i) * s(i) }\n"
    text, x = f"{scaled}fn main(x: float32[4]) {{ scale_by(x, const#0) }}", array(4)
    for factor in (2, 3):
        made = wb.build(wb.model(text, [np.full(4, factor, "f4")]))
        function = wb.export.jax(made, name="constant_factor")
        agrees((jax.jit(lambda x, f=function: f(x))(x),), (factor * x,))


# -- what is refused --


@pytest.mark.parametrize("export", ["onnxruntime", "torch_library", "jax"])
def test_what_is_no_function_of_arrays_is_refused(export: str, tmp_path, layer):
    needed = {"onnxruntime": "onnx", "torch_library": "torch"}.get(export, export)
    pytest.importorskip(needed, reason=f"install {needed}: it is not here to export to")
    place: tuple[Path, ...] = {"jax": (), "onnxruntime": (tmp_path,)}.get(export, (tmp_path / "lib.so",))
    write = getattr(wb.export, export)
    flow = wb.build(wb.model("fn main(x: float32[n], deep: bool) { if deep { softplus(x) } else { x } }"))
    with pytest.raises(WorkbenchError, match="control flow, which Python drives"):
        write(flow, *place)
    with pytest.raises(WorkbenchError, match=r"has 0 programs, .*prepare\(batch=...\)"):
        write(wb.build(layer.model), *place)
    with pytest.raises(WorkbenchError, match="a built model is for the processor"):
        write(layer, *place, gpu=True)
    with pytest.raises(WorkbenchError, match="a built model is exported each by itself"):
        write([layer], *place)
