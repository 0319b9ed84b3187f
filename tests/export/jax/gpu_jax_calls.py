"""Functions of JAX on a GPU, or on a stand-in for one: what is exported, with what, and what has to come out."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb
from tests.export.gpu_calls import CASES, INVENTED
from tests.export.jax.jax_calls import arguments, several

# Sums that are wanted before others: kernels of several launches, and memory for what is between.
TWICE = "def twice_summed(float(M,N) A) -> (B) { s(i) +=! A(i,j)\n t(i) +=! s(i) * A(i,j)\n B(i) = t(i) }"
OWN = {"decaying": INVENTED, "twice_summed": TWICE}
# Name → sizes for which there is a schedule, others.
SIZES = {
    **{name: CASES[name] for name in ("matmul", "softmax", "embedding", "decaying")},
    "gemm": ({"M": 16, "N": 24, "K": 8}, {"M": 5, "N": 3, "K": 7}),
    "twice_summed": ({"M": 16, "N": 40}, {"M": 3, "N": 5}),
}


def operator_of(name: str) -> wb.Operator:
    """One of the library, or our own."""
    return wb.operator(OWN[name]) if name in OWN else wb.ops.load(name)


def on_gpu(name: str) -> Any:
    """The function with a schedule for the first sizes and a fallback."""
    op = operator_of(name)
    return wb.export.jax([wb.autoschedule(op, "cuda", sizes=SIZES[name][0]), op], name=f"gpu_{name}", gpu=True)


def given(name: str, sizes: dict[str, int]) -> list[Any]:
    """The arguments of a call."""
    op = operator_of(name)
    if name == "embedding" or name not in OWN:
        return list(arguments(op, sizes).values())
    random = np.random.default_rng(sizes["N"])
    wide = random.standard_normal((sizes["M"], sizes["N"])).astype(np.float32)
    if name == "twice_summed":
        return [wide]
    rates = random.uniform(0.1, 0.9, sizes["M"]).astype(np.float32)
    return [wide, rates, random.permutation(sizes["M"]).astype(np.int32)]


def agrees(name: str, found: Any, values: list[Any]) -> bool:
    """Whether results are the definition's."""
    op = operator_of(name)
    plain = [np.copy(v) for v in values]
    out = plain.pop() if len(values) > len(op.parameters) else None
    wanted = several(op.evaluate(*plain, out=out))
    pairs = list(zip(several(found), wanted, strict=True))
    return all(np.allclose(np.asarray(f), w, rtol=1e-4, atol=1e-4) and f.dtype == w.dtype for f, w in pairs)
