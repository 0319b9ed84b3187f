"""What `test_gpus.py` runs where `libcuda.so.1` is a stand-in: kernels for GPUs as XLA calls them, on the processor."""

from __future__ import annotations

import ctypes
import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import workbench as wb
from tests.export.jax.gpu_jax_calls import SIZES, agrees, given, on_gpu
from tests.export.sampled import whole
from tests.export.stand_in import image, refusal
from workbench.export.cuda import at_hand
from workbench.export.dispatch import Source, linked
from workbench.export.xla import kernels
from workbench.export.xla.functions import exported_as
from workbench.runtime.compilers.discovery import preferred_toolchain
from workbench.target import Target


def pretended() -> ctypes.CDLL:
    """The processor's handler becomes that for GPUs, which is told of a stream, a device and memory there."""
    text = Path(__file__).with_name("pretended_gpu.c").read_text()
    header = (Path(jax.ffi.include_dir()) / kernels.INTERFACE).read_text()
    source = Source("pretended_gpu.c", text)
    library = ctypes.CDLL(str(linked("pretended_gpu", [source], {"c_api.h": header}, preferred_toolchain())))
    library.pretend(ctypes.cast(kernels.ffi_library().wb_jax_gpu_handler, ctypes.c_void_p))
    registered = set()

    def register(target):
        if target not in registered:
            jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(library.pretended), platform="cpu")
        registered.add(target)

    kernels.register = register
    return library


def calls(name):
    """Jitted and alone: the schedule's sizes, others; and which kernels ran."""
    found, right, titles = on_gpu(name), [], []
    for sizes in SIZES[name]:
        values = given(name, sizes)
        right += [agrees(name, call(*values), values) for call in (jax.jit(found), found)]
        titles.append(exported_as(f"gpu_{name}").kernels.last_kernel(on_gpu=True))
    return [right, titles]


def transformations():
    """Gradients, vmap, both; what is updated goes into memory of its own."""
    mm, gemm = on_gpu("matmul"), on_gpu("gemm")
    A, B, C = whole(3, 2, 4), whole(4, 5), whole(2, 5)
    loss, plain = (lambda a, b, call=call: (call(a, b) ** 2).sum() for call in (mm, jnp.matmul))
    pairs = [
        (jax.jit(jax.grad(loss, (0, 1)))(A[0], B), jax.grad(plain, (0, 1))(A[0], B)),
        (jax.jit(jax.vmap(mm, (0, None)))(A, B), A @ B),
        (jax.jit(jax.vmap(jax.grad(loss), (0, None)))(A, B), jax.vmap(jax.grad(plain), (0, None))(A, B)),
        (jax.grad(lambda s: gemm(A[0], B, s, 1.0, C).sum())(2.0), np.float32((A[0] @ B).sum())),
    ]
    kept = np.copy(C)
    gemm(A[0], B, 1.0, 1.0, C)
    return [*(bool(jax.tree.all(jax.tree.map(np.array_equal, *pair))) for pair in pairs), bool((kept == C).all())]


def refusals():
    """An index out of range; an operator for processors alone; the same operator, exported anew with kernels."""
    table = on_gpu("embedding")
    op = wb.operator("def fourfold(float(N) x) -> (y) { y(i) = 4 * x(i) }")
    x = whole(5)
    index = refusal(lambda: table(whole(4, 3), np.array([1, 4], np.int32)).block_until_ready())
    alone = refusal(lambda: wb.export.jax(op)(x).block_until_ready())
    again = wb.export.jax(op, gpu=True)(x)
    newer = replace(Target("cuda"), march="sm_999")
    small = refusal(lambda: wb.export.jax(op, gpu=newer)(x).block_until_ready())
    return {"index": index, "alone": alone, "again": again.tolist() == (4 * x).tolist(), "newer": small}


if __name__ == "__main__":
    jax.config.update("jax_enable_x64", True)
    at_hand.image_for = lambda kernel, device: (at_hand.architecture_for(kernel, device), image(kernel))[1]
    gpu = pretended()
    said = {name: calls(name) for name in SIZES}
    said["transformations"] = transformations()
    said |= refusals()
    said["memory"] = [gpu.taken() > 0, gpu.kept()]
    print(json.dumps(said))
