"""What `test_torch_library_on_gpu.py` runs where `libcuda.so.1` is a stand-in: libraries for PyTorch whose kernels for
GPUs run on the processor, as PyTorch calls them."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

import torch

import workbench as wb
from tests.export.gpu_calls import CASES, agrees, given, operator_of
from tests.export.gpu_session import CUDA
from tests.export.stand_in import images, refusal
from workbench.export.stable import building

NAMES = ("matmul", "decaying", "embedding")


def exported(name):
    """A schedule for a GPU and the operator."""
    op = operator_of(name)
    return op if name == "embedding" else [wb.autoschedule(op, "cuda", sizes=CASES[name][0]), op]


def calls(name):
    """Through the kernel that PyTorch finds for CUDA tensors: the schedule's sizes, others; in double."""
    found, right = getattr(torch.ops.wb_gpu, name).default, []
    for each in CASES[name]:
        values = given(name, each, torch, "cpu")
        right.append(agrees(name, found.redispatch(CUDA, *values), values, torch))
    wide = [v.double() if isinstance(v, torch.Tensor) and v.is_floating_point() else v for v in values]
    return [*right, agrees(name, found.redispatch(CUDA, *wide), wide, torch)] if operator_of(name).generic else right


def odd_arrays():
    """Views, no cells, and what is refused."""
    mm, table = torch.ops.wb_gpu.matmul.default, torch.ops.wb_gpu.embedding.default
    a, b = torch.randn(12, 9), torch.randn(7, 12)
    torch.testing.assert_close(mm.redispatch(CUDA, a.T, b.T), a.T @ b.T)
    torch.testing.assert_close(mm.redispatch(CUDA, a.T[:, :0], b.T[:0]), torch.zeros(9, 7))
    return {
        "index": refusal(lambda: table.redispatch(CUDA, torch.randn(4, 3), torch.tensor([1, 4], dtype=torch.int32))),
        "type": refusal(lambda: mm.redispatch(CUDA, a, b.int())),
        "shape": refusal(lambda: mm.redispatch(CUDA, a, b)),
        "device": refusal(lambda: mm.redispatch(CUDA, a, b.T.to("meta"))),
    }


def derivatives():
    """A gradient by kernels for GPUs, beside PyTorch's."""
    x, seed = torch.randn(9, dtype=torch.float64), torch.randn(9, dtype=torch.float64)
    found = torch.ops.wb_gpu.cube_grad.default.redispatch(CUDA, x, seed)
    return torch.allclose(found, 3 * x * x * seed)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    building.images_of = images
    several = {name: exported(name) for name in NAMES}
    written = wb.export.torch_library(several, folder / "libgpu.so", namespace="wb_gpu", orders=0, gpu=True)
    cube = wb.operator("def cube(double(N) x) -> (y) { y(i) = x(i) * x(i) * x(i) }")
    wb.export.torch_library(cube, folder / "libcube.so", namespace="wb_gpu", gpu=True)
    sys.path.insert(0, str(folder))
    for name in ("libgpu_torch", "libcube_torch"):
        import_module(name)
    said = {name: calls(name) for name in NAMES}
    said |= odd_arrays()
    said["derivatives"] = derivatives()
    said["titles"] = [title for title in written.kernels if title.startswith("matmul: cuda")]
    json.dump(said, sys.stdout)
