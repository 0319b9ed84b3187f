"""What `test_torch_on_gpu.py` runs where `libcuda.so.1` is a stand-in: kernels for GPUs as PyTorch calls them, on the
processor, end to end."""

from __future__ import annotations

import json
import sys

import torch

import workbench as wb
from tests.export.gpu_calls import CASES, agrees, given, on_gpu, operator_of, smooth, tiny
from tests.export.stand_in import image, refusal
from workbench.export.cuda import at_hand
from workbench.export.pytorch import registry
from workbench.export.pytorch.registry import registered_operator

CUDA = torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA)


def calls(name):
    """Through the kernel that PyTorch finds for CUDA tensors: the schedule's sizes, others, none at all."""
    found, (sizes, others) = on_gpu(name), CASES[name]
    titles, right = [], []
    for each in (sizes, others):
        values = given(name, each, torch, "cpu")
        right.append(agrees(name, found.default.redispatch(CUDA, *values), values, torch))
        titles.append(registered_operator(f"wb_gpu::{name}").last_kernel(on_gpu=True))
    return {"right": right, "titles": titles}


def odd_arrays():
    """Views, no cells, double, and what is refused."""
    mm = on_gpu("matmul").default
    a, b = torch.randn(12, 9), torch.randn(7, 12)
    views = mm.redispatch(CUDA, a.T, b.T)
    torch.testing.assert_close(views, a.T @ b.T)
    torch.testing.assert_close(mm.redispatch(CUDA, a.T.double(), b.T.double()), a.T.double() @ b.T.double())
    torch.testing.assert_close(mm.redispatch(CUDA, a.T[:, :0], b.T[:0]), torch.zeros(9, 7))
    table = on_gpu("embedding").default
    return {
        "index": refusal(lambda: table.redispatch(CUDA, torch.randn(4, 3), torch.tensor([1, 4], dtype=torch.int32))),
        "type": refusal(lambda: mm.redispatch(CUDA, a, b.int())),
        "shape": refusal(lambda: mm.redispatch(CUDA, a, b)),
        "device": refusal(lambda: mm.redispatch(CUDA, a, b.T.to("meta"))),
    }


def derivatives(name):
    """An operator and its gradients by kernels for GPUs alone: what PyTorch checks, and differences."""
    registry.hosted = lambda family: at_hand.library_for(family, 0)
    found = wb.export.torch(operator_of(name), namespace="wb_gpu_all", gpu=True)
    values = given(name, tiny(name), torch, "cpu")
    checked = set(torch.library.opcheck(found.default, tuple(values)).values())
    return [sorted(checked), torch.autograd.gradcheck(found, smooth(values, torch))]


if __name__ == "__main__":
    at_hand.image_for = image
    said = {name: calls(name) for name in ("matmul", "decaying")}
    said |= odd_arrays()
    said["replaced"] = refusal(lambda: wb.export.torch(wb.ops.matmul, namespace="wb_gpu").default.redispatch(
        CUDA, torch.ones(2, 2), torch.ones(2, 2)))  # fmt: skip
    said["derivatives"] = derivatives("decaying")
    json.dump(said, sys.stdout)
