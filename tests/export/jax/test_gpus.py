"""`wb.export.jax` with kernels for GPUs, where there is none: what is registered, and calls above a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.export.stand_in import session
from tests.gpu_schedules import bound
from workbench.errors import BuildError, WorkbenchError
from workbench.export.cuda.at_hand import device_at

jax = pytest.importorskip("jax", reason="install jax: it is not here to export to")


def test_a_schedule_for_a_gpu_does_not_disturb_calls_on_the_processor():
    op = wb.operator("def thrice_there(float(N) x) -> (y) { y(i) = 3 * x(i) }")
    found = wb.export.jax([bound(wb.schedule(op, N=8)), wb.schedule(op, N=8)])
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(jax.jit(found)(x), 3 * x)
    np.testing.assert_array_equal(jax.grad(lambda x: found(x).sum())(x), np.full(8, 3))


def test_programs_for_gpus_are_lowered_where_there_is_none():
    from jax import export

    found = wb.export.jax(wb.operator("def twofold_there(float(N) x) -> (y) { y(i) = 2 * x(i) }"), gpu=True)
    known = [export.DisabledSafetyCheck.custom_call("workbench.twofold_there")]
    program = export.export(jax.jit(found), platforms=["cuda", "cpu"], disabled_checks=known)(np.ones(3, np.float32))
    assert "workbench.twofold_there" in program.mlir_module()
    np.testing.assert_array_equal(program.call(np.ones(3, np.float32)), np.full(3, 2))


@pytest.mark.parametrize("gpu", ["c", wb.Target()])
def test_a_target_that_is_no_gpu_is_refused(gpu):
    with pytest.raises(WorkbenchError, match=r"is no NVIDIA GPU; expected True, 'cuda'"):
        wb.export.jax(wb.ops.matmul, gpu=gpu)


def test_without_a_driver_that_is_said():
    if jax.default_backend() == "gpu":
        pytest.skip("install no GPU: there is one, tests/gpu looks at it")
    with pytest.raises(BuildError, match="NVIDIA's driver"):
        device_at(0)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_calls_above_a_stand_in(tmp_path: Path, compilers: dict[str, tuple[str, ...]]) -> None:
    """The kernels, their gradients and the C between run as on a GPU; XLA's allocator and the driver do not."""
    said = session("tests.export.jax.gpu_jax_session", tmp_path, compilers)
    titles = {
        "matmul": "M=64, K=32, N=48", "softmax": "M=16, N=128", "embedding": "V=50, D=16, N=32",
        "decaying": "M=8, N=32", "gemm": "M=16, K=8, N=24", "twice_summed": "M=16, N=40",
    }  # fmt: skip
    for name, sizes in titles.items():
        assert said.pop(name) == [[True] * 4, [f"h200: {sizes}", "h200: all sizes"]], name
    assert said.pop("transformations") == [True] * 5
    kind, words = said.pop("index")
    assert kind in ("JaxRuntimeError", "ValueError")
    assert "embedding: an index of table in O is out of range: idx(n) (dimension 0)" in words
    assert "fourfold: it was exported for processors; wb.export.jax(..., gpu=True)" in said.pop("alone")[1]
    assert "sm_999" in said.pop("newer")[1]
    assert said == {"again": True, "memory": [True, 0]}
