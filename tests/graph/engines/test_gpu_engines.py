"""The engines of a GPU's libraries: on the processor in its place, and refused with words where there is none."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.graph.engines.library_regions import one_call
from workbench.errors import EngineError
from workbench.graph.engines.engine_records import engine_named
from workbench.graph.engines.region_calls import checked_arrays, compare, several
from workbench.graph.engines.subgraphs import numbered_subgraph

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here")

CONVOLUTIONS = ("conv1d", "conv2d", "conv2d_bias", "conv3d", "depthwise_conv2d", "conv_transpose2d")
NETWORK = wb.model("""
def window<T>(T(B, I, A, C) x, T(O, I, P, Q) w, int32 step, int32 edge, int32 apart) -> (y) {
    padded(b, i, a, c) = a >= edge && a < A + edge && c >= edge && c < C + edge ? x(b, i, a - edge, c - edge) : 0
        where b in 0:B, i in 0:I, a in 0:A + 2 * edge, c in 0:C + 2 * edge
    y(b, o, a, c) +=! padded(b, i, step * a + apart * p, step * c + apart * q) * w(o, i, p, q)
        where a in 0:(A + 2 * edge - apart * (P - 1) - 1) / step + 1,
              c in 0:(C + 2 * edge - apart * (Q - 1) - 1) / step + 1
}
def flat(float(N,C,H,W) x) -> (y) { y(n,j) = x(n,j/(H*W),(j/W)%H,j%W) where j in 0:C*H*W }
fn main(x: float32[n, 2, 9, 9]) { matmul(flat(window(x, const#0, step=2, edge=1, apart=2)), const#1) }
""", [np.random.default_rng(n).standard_normal(s).astype("f4") for n, s in enumerate(((3, 2, 3, 3), (48, 5)))])


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor in the place of the GPU."""
    monkeypatch.setattr("workbench.export.engines.gpu_engines.device", lambda: "cpu")


def agrees(engine: str, operator: str) -> bool:
    """Whether an engine takes an operator of the library; what it then computes is the oracle's."""
    model, arrays = one_call(operator)
    region, made = numbered_subgraph("region", model), engine_named(engine)
    if made.refusal(region.steps[0].site):
        return False
    compare(region, checked_arrays(region, made.compile(region)(*arrays)), several(region.evaluate(*arrays)))
    return True


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_the_library_are_the_oracles(name):
    assert agrees("cudnn", name)


@pytest.mark.usefixtures("stand_in")
def test_products_of_the_library_are_the_oracles():
    taken = [name for name in wb.ops.list() if agrees("cublas", name)]
    assert "matmul" in taken
    assert len(taken) >= 15


@pytest.mark.usefixtures("stand_in")
def test_a_network_is_divided_between_both_and_the_host():
    divided = wb.partition(NETWORK, ["cudnn", "cublas"], by="rules", host="interpreter", check=True, on_failure="raise")
    x = np.random.default_rng(5).standard_normal((2, 2, 9, 9)).astype("f4")
    np.testing.assert_allclose(divided.evaluate(x), NETWORK.evaluate(x), rtol=1e-4, atol=1e-5)
    assert {each.engine.name for each in divided.regions.values()} == {"cudnn", "cublas"}
    (left,) = divided.left
    assert left.reasons == {
        "cudnn": "no convolution of the library is defined like it", "cublas": "it has no sum of products for cuBLAS"
    }  # fmt: skip


@pytest.mark.usefixtures("stand_in")
def test_other_types_fall_back_with_their_reason():
    taken = "x: int32[1, 1, 4, 4], k: int32[1, 1, 2, 2]"
    model = wb.model(f"fn main({taken}) {{ conv2d(x, k, stride=1, pad=0, dilation=1) }}")
    divided = wb.partition(model, ["cudnn"], by="rules", host="interpreter")
    assert divided.left[0].reasons == {"cudnn": "cuDNN convolves float16, float32, float64, not int32"}


def test_without_a_gpu_the_reason_is_that_there_is_none(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    divided = wb.partition(NETWORK, ["cudnn", "cublas"], by="rules", host="interpreter")
    assert not divided.regions
    assert {reason for left in divided.left for reason in left.reasons.values()} == {"PyTorch finds no NVIDIA GPU here"}
    assert "PyTorch finds no NVIDIA GPU here" in str(divided)
    with pytest.raises(EngineError, match=r"known: .*cublas, cudnn"):
        wb.partition(NETWORK, ["cudnnn"])
