"""`wb.export.torch` with kernels for GPUs, where there is none: what is registered, and calls above a stand-in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import workbench as wb
from tests.export.stand_in import session
from tests.gpu_schedules import bound
from workbench.errors import WorkbenchError
from workbench.export.dispatch import families_for, family_like, family_of, with_gpu

torch = pytest.importorskip("torch", reason="install torch: PyTorch is not here to export to")

CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)


def test_a_schedule_for_a_gpu_does_not_disturb_calls_on_the_processor():
    op = wb.operator("def thrice(float(N) x) -> (y) { y(i) = 3 * x(i) }")
    found = wb.export.torch([bound(wb.schedule(op, N=8)), wb.schedule(op, N=8)])
    x = torch.randn(8, requires_grad=True)
    found(x).sum().backward()
    torch.testing.assert_close(x.grad, torch.full((8,), 3.0))


@pytest.mark.skipif(torch.cuda.is_available(), reason="install no GPU: there is one, tests/gpu looks at it")
def test_without_a_gpu_a_call_that_wants_one_says_so():
    op = wb.operator("def fourfold(float(N) x) -> (y) { y(i) = 4 * x(i) }")
    found = wb.export.torch(op, gpu=True)
    with pytest.raises(NotImplementedError, match=r"workbench::fourfold has no kernel for this GPU: .*CUDA"):
        found.default.redispatch(CUDA, torch.ones(3))


@pytest.mark.parametrize("gpu", ["c", wb.Target()])
def test_a_target_that_is_no_gpu_is_refused(gpu):
    with pytest.raises(WorkbenchError, match=r"is no NVIDIA GPU; expected True, 'cuda'"):
        wb.export.torch(wb.ops.matmul, gpu=gpu)


def test_what_is_made_of_an_operator_has_kernels_for_the_same_sizes():
    sizes = {"M": 8, "N": 12, "K": 4}
    family = with_gpu(family_of(bound(wb.schedule(wb.ops.matmul, sizes=sizes))), None)
    assert family.variants == ()
    assert [v.sizes for v in family.gpu.variants] == [sizes]
    _, wide = families_for(family)
    gradient = family_like(wide, wb.grad(wide.op))
    assert (wide.gpu.variants, wide.gpu.sizes) == ((), (sizes,))
    assert gradient.gpu.sizes == (sizes,)
    assert with_gpu(family_of(wb.ops.matmul), None).gpu is None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="install Linux: the library stands in for libcuda.so.1")
def test_calls_above_a_stand_in(tmp_path: Path, compilers: dict[str, tuple[str, ...]]) -> None:
    """The kernels, their gradients and the C between run as on a GPU; only the driver below is not NVIDIA's."""
    assert session("tests.export.gpu_session", tmp_path, compilers) == {
        "matmul": {"right": [True, True], "titles": ["h200: M=64, K=32, N=48", "h200: all sizes"]},
        "decaying": {"right": [True, True], "titles": ["h200: M=8, N=32", "h200: all sizes"]},
        "index": ["IndexError", "embedding: an index of table in O is out of range: idx(n) (dimension 0); "
                                "nothing was written"],
        "type": ["TypeError", "matmul: B expected type Float but found Int"],
        "shape": ["ValueError", "matmul: mismatched sizes for K: K = 9 from A, dimension 1; B, dimension 0 has 7"],
        "device": ["RuntimeError", "matmul: B is on meta; expected a tensor on cpu"],
        "replaced": ["NotImplementedError", "wb_gpu::matmul was exported for dense tensors on cpu; move tensors with "
                                            ".cpu(), and make sparse ones dense with .to_dense()"],
        "derivatives": [["SUCCESS"], True],
    }  # fmt: skip
