"""`wb.export.torch_library` with kernels for GPUs, where there is none: what is written, and calls above a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.export.alone import alone
from tests.export.stand_in import session
from workbench.errors import WorkbenchError
from workbench.export.cuda.embedded import images_of

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")
MATMUL = "def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }"


def test_a_target_that_is_no_gpu_is_refused(tmp_path):
    with pytest.raises(WorkbenchError, match=r"is no NVIDIA GPU; expected True, 'cuda'"):
        wb.export.torch_library(wb.ops.matmul, tmp_path / "lib.so", gpu="c")


@pytest.mark.usefixtures("cuda_compiler")
def test_machine_code_is_that_of_the_gpu_that_is_named_or_of_each_generation():
    op = wb.operator("def thrice(float(N) x) -> (y) { y(i) = 3 * x(i) }")
    named, any_gpu = (images_of(wb.generate(wb.autoschedule(op, t, N=64), t)) for t in ("h200", "cuda"))
    assert (len(named), len(any_gpu)) == (1, 2)
    assert all(code[:4] == b"\x7fELF" for code in (*named, *any_gpu))
    assert len({*named, *any_gpu}) >= 2


@pytest.mark.usefixtures("cuda_compiler")
@pytest.mark.skipif(torch.cuda.is_available(), reason="install no GPU: there is one, tests/gpu looks at it")
def test_with_machine_code_it_loads_without_a_gpu_and_says_so_when_one_is_wanted(tmp_path):
    written = wb.export.torch_library(wb.operator(MATMUL), tmp_path / "libmm.so", orders=0, gpu="h200")
    assert "mm: h200: all sizes" in written.kernels
    alone(f"""
import torch
torch.ops.load_library({str(written.library)!r})
A, B = torch.ones(3, 4), torch.ones(4, 5)
assert torch.equal(torch.ops.workbench.mm(A, B), A @ B)
cuda = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)
try:
    torch.ops.workbench.mm.default.redispatch(cuda, A, B)
except RuntimeError as error:
    assert "mm has no kernel for this GPU: " in str(error) and "driver" in str(error), error
else:
    raise AssertionError("there is no GPU")
""", folder=tmp_path)  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_calls_above_a_stand_in(tmp_path: Path, compilers: dict[str, tuple[str, ...]]) -> None:
    """The kernels, their gradients and the C++ between run as on a GPU; only the driver below is not NVIDIA's."""
    assert session("tests.export.gpu_library_session", tmp_path, compilers) == {
        "matmul": [True] * 3, "decaying": [True] * 3, "embedding": [True] * 3,
        "index": ["IndexError", "embedding: an index of table in O is out of range: idx(n) (dimension 0); "
                                "nothing was written"],
        "type": ["RuntimeError", "matmul: B expected type float32 but found int32"],
        "shape": ["ValueError", "matmul: mismatched sizes for K: K = 9 from A, dimension 1; B, dimension 0 has 7"],
        "device": ["RuntimeError", "matmul: B is on another device; expected a tensor on cpu"],
        "derivatives": True,
        "titles": [f"matmul: cuda: {sizes}, {t}" for t in ("float32", "float64")
                   for sizes in ("M=64, K=32, N=48", "all sizes")],
    }  # fmt: skip
