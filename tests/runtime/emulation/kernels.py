"""CUDA kernels written by hand, with what they should compute, so that execution is tested without the generator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.runtime.hand import numbers, parameter
from workbench.codegen.cuda.grid.launches import Argument, Launch
from workbench.codegen.kernel import ArrayParameter, Kernel, Signature
from workbench.lang.dtypes import INT64
from workbench.target import Target

Array = np.ndarray[Any, Any]
Three = tuple[int, int, int]


@dataclass(frozen=True)
class Example:
    """A kernel with arguments for it and the result; `differing` (source, in its place) makes a mutant."""

    kernel: Kernel
    arrays: tuple[Array, ...]
    wanted: Array
    out: Array | None = None

    def mutant(self, before: str, after: str) -> Kernel:
        """The kernel with one piece of its text exchanged."""
        assert self.kernel.source.count(before) == 1, f"{before!r} does not stand once in the text"
        return replace(self.kernel, source=self.kernel.source.replace(before, after))

    def given(self) -> dict[str, Any]:
        """Keyword arguments of a call."""
        return {} if self.out is None else {"out": self.out.copy()}


def line_of(kernel: Kernel, piece: str) -> int:
    """The number of the line that holds a piece of text."""
    (found,) = [n for n, line in enumerate(kernel.source.split("\n"), 1) if piece in line]
    return found


def cuda(
    name: str, source: str, *parameters: ArrayParameter, grid: Three, block: Three, shared: int = 0, **sizes: int
) -> Kernel:
    """A kernel of one launch that takes its arrays, then its sizes."""
    arrays = [Argument("array", p.name, p.name, p.dtype, p.is_output) for p in parameters]
    numbers_ = [Argument("size", size, size, INT64) for size in sizes]
    launch = Launch(name, grid, block, shared, (*arrays, *numbers_))
    signature = Signature(name, parameters, ())
    return Kernel(name, source, signature, Target("cuda", dialect="cuda"), sizes, launches=(launch,))


MATMUL = """\
extern "C" __global__ void __launch_bounds__(64)
matmul(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int64_t n)
{
    __shared__ float A_tile[2][64];
    __shared__ float B_tile[2][64];
    const int64_t x = threadIdx.x, y = threadIdx.y;
    const int64_t i = 8*blockIdx.y + y, j = 8*blockIdx.x + x;
    float sum = 0.0f;
    A_tile[0][8*y + x] = A[i*n + x];
    B_tile[0][8*y + x] = B[y*n + j];
    for (int64_t k_o = 0; k_o < n/8; k_o++) {
        __syncthreads();
        if (k_o + 1 < n/8) {
            A_tile[(k_o + 1)%2][8*y + x] = A[i*n + 8*(k_o + 1) + x];
            B_tile[(k_o + 1)%2][8*y + x] = B[(8*(k_o + 1) + y)*n + j];
        }
        for (int64_t k = 0; k < 8; k++)
            sum += A_tile[k_o%2][8*y + k] * B_tile[k_o%2][8*k + x];
    }
    C[i*n + j] = sum;
}
"""


def matmul(n: int = 24) -> Example:
    """Tiles in shared memory, double-buffered."""
    a, b = numbers(n, n, seed=1), numbers(n, n, seed=2)
    made = cuda(
        "matmul", MATMUL, parameter("A", (n, n)), parameter("B", (n, n)), parameter("C", (n, n), role="output"),
        grid=(n // 8, n // 8, 1), block=(8, 8, 1), n=n,
    )  # fmt: skip
    return Example(made, (a, b), a @ b)


PIPELINE = """\
extern "C" __global__ void __launch_bounds__(32)
pipeline(const float *__restrict__ A, float *__restrict__ S, int64_t n)
{
    __shared__ __align__(16) float tile[3][128];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int64_t s = 0; s < 2; s++) {
        wb_copy_async(&tile[s][4*t], &A[128*s + 4*t], 16);
        wb_copies_commit();
    }
    for (int64_t s = 0; s < n; s++) {
        wb_copies_wait(1);
        __syncthreads();
        if (s + 2 < n) {
            wb_copy_async(&tile[(s + 2)%3][4*t], &A[128*(s + 2) + 4*t], 16);
        }
        wb_copies_commit();
        for (int i = 0; i < 4; i++)
            sum += tile[s%3][32*i + (t + 1)%32];
    }
    S[t] = sum;
}
"""


def pipeline(n: int = 6) -> Example:
    """Three stages of asynchronous copies, read by other threads than those that copied."""
    a = numbers(n, 4, 32, seed=3)
    made = cuda(
        "pipeline", PIPELINE, parameter("A", (n, 4, 32)), parameter("S", (32,), role="output"),
        grid=(1, 1, 1), block=(32, 1, 1), n=n,
    )  # fmt: skip
    return Example(made, (a,), np.roll(a.sum(axis=(0, 1)), -1))


SOFTMAX = """\
extern "C" __global__ void __launch_bounds__(96)
softmax(const float *__restrict__ X, float *__restrict__ Y, int64_t n)
{
    __shared__ float parts[3];
    const float *x = X + blockIdx.x*n;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float top = -INFINITY;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        top = fmaxf(top, x[i]);
    for (int d = 16; d > 0; d /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    if (lane == 0)
        parts[warp] = top;
    __syncthreads();
    top = fmaxf(fmaxf(parts[0], parts[1]), parts[2]);
    __syncthreads(); /* all have read the maxima */
    float sum = 0.0f;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        sum += expf(x[i] - top);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0)
        parts[warp] = sum;
    __syncthreads(); /* the sums are there */
    sum = parts[0] + parts[1] + parts[2];
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        Y[blockIdx.x*n + i] = expf(x[i] - top) / sum;
}
"""


def softmax(rows: int = 5, n: int = 131) -> Example:
    """Reductions by shuffles in a warp, through shared memory between warps."""
    x = numbers(rows, n, seed=4)
    made = cuda(
        "softmax", SOFTMAX, parameter("X", (rows, n)), parameter("Y", (rows, n), role="output"),
        grid=(rows, 1, 1), block=(96, 1, 1), n=n,
    )  # fmt: skip
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return Example(made, (x,), e / e.sum(axis=1, keepdims=True))


HISTOGRAM = """\
extern "C" __global__ void __launch_bounds__(64)
histogram(const int *__restrict__ V, int *__restrict__ H, int64_t n)
{
    WB_DYNAMIC_SHARED(memory);
    int *own = (int *)memory;
    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = blockIdx.x*blockDim.x + threadIdx.x; i < n; i += blockDim.x*gridDim.x)
        atomicAdd(&own[V[i]], 1);
    __syncthreads(); /* the block has counted */
    if (threadIdx.x < 16)
        atomicAdd(&H[threadIdx.x], own[threadIdx.x]);
}
"""


def histogram(n: int = 1000) -> Example:
    """Atomic updates in dynamic shared memory, then in global memory."""
    v = np.random.default_rng(5).integers(0, 16, n).astype(np.int32)
    made = cuda(
        "histogram", HISTOGRAM, parameter("V", (n,), "int"), parameter("H", (16,), "int", "inout"),
        grid=(7, 1, 1), block=(64, 1, 1), shared=64, n=n,
    )  # fmt: skip
    start = np.arange(16, dtype=np.int32)
    return Example(made, (v,), start + np.bincount(v, minlength=16).astype(np.int32), start)


TRANSPOSE = """\
extern "C" __global__ void __launch_bounds__(128)
transpose(const float *__restrict__ A, float *__restrict__ T, int64_t m, int64_t n)
{
    __shared__ float tile[16][17];
    int64_t i = 16*blockIdx.y + threadIdx.y, j = 16*blockIdx.x + threadIdx.x;
    for (int r = 0; r < 16; r += 8)
        if (i + r < m && j < n)
            tile[threadIdx.y + r][threadIdx.x] = A[(i + r)*n + j];
    __syncthreads();
    i = 16*blockIdx.x + threadIdx.y, j = 16*blockIdx.y + threadIdx.x;
    for (int r = 0; r < 16; r += 8)
        if (i + r < n && j < m)
            T[(i + r)*m + j] = tile[threadIdx.x][threadIdx.y + r];
}
"""


def transpose(m: int = 21, n: int = 35) -> Example:
    """A padded tile, and blocks that hang over both ends."""
    a = numbers(m, n, seed=6)
    made = cuda(
        "transpose", TRANSPOSE, parameter("A", (m, n)), parameter("T", (n, m), role="output"),
        grid=(-(-n // 16), -(-m // 16), 1), block=(16, 8, 1), m=m, n=n,
    )  # fmt: skip
    return Example(made, (a,), a.T)


VOTES = """\
extern "C" __global__ void __launch_bounds__(40)
votes(const int *__restrict__ V, int *__restrict__ R)
{
    const int t = threadIdx.x, positive = V[t] > 0;
    const unsigned lanes = t < 32 ? 0xffffffffu : 0xffu;
    R[t] = __syncthreads_count(positive);
    R[40 + t] = __syncthreads_or(V[t] > 90) + 2*__syncthreads_and(V[t] > -90);
    R[80 + t] = (int)__ballot_sync(lanes, positive);
    R[120 + t] = __shfl_sync(lanes, V[t], 3, 8);
    R[160 + t] = __shfl_up_sync(lanes, V[t], 2);
    const float4 four = make_float4(1.0f, 2.0f, 3.0f, 4.0f);
    R[200 + t] = __float_as_int(four.x + four.w) + __popc(lanes) + max(t, 7);
    R[240 + t] = __half_as_ushort(__float2half(0.1f * V[t])) + __bfloat16_as_ushort(__float2bfloat16(0.1f * V[t]));
}
"""


def votes() -> Example:
    """Votes, ballots, shuffles of a warp and of an incomplete one, conversions."""
    import ml_dtypes

    v = np.random.default_rng(7).integers(-99, 99, 40).astype(np.int32)
    made = cuda(
        "votes", VOTES, parameter("V", (40,), "int"), parameter("R", (7, 40), "int", "output"),
        grid=(1, 1, 1), block=(40, 1, 1),
    )  # fmt: skip
    t, up = np.arange(40), v.copy()
    for first in (0, 32):
        up[first + 2 : first + 32] = v[first : first + 32][:-2]
    bits = [sum(1 << n for n, x in enumerate(part) if x > 0) for part in (v[:32], v[32:])]
    tenth = np.float32(0.1) * v.astype(np.float32)
    rows = [
        np.full(40, (v > 0).sum()),
        np.full(40, int((v > 90).any()) + 2 * int((v > -90).all())),
        np.where(t < 32, bits[0], bits[1]),
        v[t // 8 * 8 + 3],
        up,
        np.float32(5).view(np.int32) + np.where(t < 32, 32, 8) + np.maximum(t, 7),
        tenth.astype(np.float16).view(np.uint16).astype(int)
        + tenth.astype(ml_dtypes.bfloat16).view(np.uint16).astype(int),
    ]
    return Example(made, (v,), np.array(rows).astype(np.uint32).view(np.int32))


EXAMPLES: dict[str, Callable[[], Example]] = {
    "matmul": matmul,
    "pipeline": pipeline,
    "softmax": softmax,
    "histogram": histogram,
    "transpose": transpose,
    "votes": votes,
}
