"""`wb.export.onnxruntime` with kernels for GPUs, where there is none: what is written, and calls above a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import workbench as wb
from tests.export.stand_in import session
from workbench.errors import WorkbenchError

pytest.importorskip("onnx", reason="install onnx: it is not here to write models with")
onnxruntime = pytest.importorskip("onnxruntime", reason="install onnxruntime: it is not here to export to")
MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def test_a_target_that_is_no_gpu_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkbenchError, match=r"is no NVIDIA GPU; expected True, 'cuda'"):
        wb.export.onnxruntime(wb.ops.matmul, tmp_path, gpu="c")


@pytest.mark.usefixtures("cuda_compiler")
def test_with_machine_code_for_a_gpu_it_runs_on_the_processor_as_before(tmp_path: Path) -> None:
    written = wb.export.onnxruntime(wb.operator(MATMUL), tmp_path, gpu="h200")
    assert "h200: all sizes" in written.kernels
    assert b"CUDAExecutionProvider" in written.library.read_bytes()
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(str(written.library))
    running = onnxruntime.InferenceSession(written.model, options, providers=["CPUExecutionProvider"])
    A, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(running.run(None, {"A": A, "B": B})[0], A @ B)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_calls_above_a_stand_in(tmp_path: Path, compilers: dict[str, tuple[str, ...]]) -> None:
    """The kernels and the C between run as in the CUDA execution provider; the driver and the provider do not."""
    said = session("tests.export.gpu_onnx_session", tmp_path, compilers)
    sizes = ("M=64, K=32, N=48", "all sizes")
    assert said.pop("titles") == [f"cuda: {s}, {dtype}" for dtype in ("float32", "float64") for s in sizes]
    assert "mismatched sizes for K" in said.pop("shape")
    assert "an index of table in O is out of range: idx(n) (dimension 0)" in said.pop("index")
    assert said.pop("double") == [True, "float64"]
    assert said == {name: [True, True] for name in ("matmul", "gemm", "embedding", "decaying", "twice_summed")}
