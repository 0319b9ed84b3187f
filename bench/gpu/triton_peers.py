"""Matrix product and softmax in Triton, as its tutorials teach them: blocks chosen by its autotuner, rows in one block.

Written for this benchmark; Triton compiles them on the machine.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

TILES = (
    (128, 128, 32, 8, 3), (128, 64, 32, 4, 4), (64, 128, 32, 4, 4), (128, 256, 64, 8, 3), (64, 64, 32, 4, 4),
    (128, 128, 64, 8, 4),
)  # fmt: skip
CONFIGS = [
    triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in TILES
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def _matmul(
    a, b, c, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0)
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = number // (GROUP * columns)
    height = min(rows - group * GROUP, GROUP)
    m = group * GROUP + (number % (GROUP * columns)) % height
    n = (number % (GROUP * columns)) // height
    ms = m * BLOCK_M + tl.arange(0, BLOCK_M)
    ns = n * BLOCK_N + tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - k * BLOCK_K
        inside_x = (ms[:, None] < M) & (ks[None, :] < left)
        inside_y = (ks[:, None] < left) & (ns[None, :] < N)
        x = tl.load(a + ms[:, None] * K + (k * BLOCK_K + ks)[None, :], mask=inside_x, other=0.0)
        y = tl.load(b + (k * BLOCK_K + ks)[:, None] * N + ns[None, :], mask=inside_y, other=0.0)
        if EXACT:  # noqa: SIM108 (Triton compiles one branch)
            total = tl.dot(x, y, total, input_precision="ieee")
        else:
            total = tl.dot(x, y, total)
    inside = (ms[:, None] < M) & (ns[None, :] < N)
    tl.store(c + ms[:, None] * N + ns[None, :], total.to(c.dtype.element_ty), mask=inside)


def matmul(A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
    """A B; in fp32 without tensor cores."""
    (M, K), N = A.shape, B.shape[1]
    C = torch.empty((M, N), device=A.device, dtype=A.dtype)

    def grid(meta: dict[str, Any]) -> tuple[int]:
        return (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)

    _matmul[grid](A, B, C, M, N, K, EXACT=A.dtype == torch.float32)
    return C


@triton.jit
def _softmax(x, y, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * N + columns, mask=columns < N, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * N + columns, weights / tl.sum(weights, axis=0), mask=columns < N)


def softmax(X: torch.Tensor) -> torch.Tensor:
    """Softmax of each row."""
    M, N = X.shape
    Y = torch.empty_like(X)
    block = triton.next_power_of_2(N)
    _softmax[(M,)](X, Y, N, BLOCK=block, num_warps=min(16, max(4, block // 256)))
    return Y
