"""Launches: how the kernels of a text for a GPU are started, in which order, with what, as plain data.

`kernel.launches` is a tuple of steps that a host executes one after another; each waits for all of the one before.

    Clear("T", bytes)                  bytes of a workspace array become 0
    Launch("matmul_C", grid, block, …) one kernel
    Repeat("t", lower, upper, body)    the steps of `body` for t = lower, …, upper - 1

Every extent is a number or an expression over sizes (Size) and variables of Repeats (Index); `amount(e, values)` gives
the number.  A launch with an extent of 0 or less in its grid is left out.  The text of one kernel, as it stands in
`kernel.source` after the prelude (docs/cuda.md has the conventions):

    extern "C" __global__ void __launch_bounds__(256)
    matmul_C(const float *__restrict__ A, const float *__restrict__ B, float *C)
    {
        __shared__ float A_local[256];
        const int64_t m_o = blockIdx.y;
        const int64_t n_o = blockIdx.x;
        for (int64_t k_o = 0; k_o < 5; k_o++) {
            {
                const int64_t m = 16 * m_o + threadIdx.y;
                if (m < wb_min_i64(16 * m_o + 16, 100)) {
                    const int64_t k = 16 * k_o + threadIdx.x;
                    /* A_local.load: A_local(m, k) = A(m, k) */
                    A_local[(m - 16 * m_o)*16 + k - 16 * k_o] = A[m*80 + k];
                }
            }
            __syncthreads();
            ...
        }
    }

    Launch("matmul_C", (6, 7, 1), (16, 16, 1), 0, (Argument("array", "A", "A", FLOAT32), ...), static_bytes=1024)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from workbench.lang.algebra.folding import fold
from workbench.lang.dtypes import DType
from workbench.lang.expr import Expr
from workbench.lang.printing.printer import show
from workbench.records import record

Amount = int | Expr
ArgumentKind = Literal["array", "workspace", "scalar", "size", "loop", "status"]


@record(slots=True)
class Argument:
    """One argument of a kernel, in order.

    `kind` "array": pointer to the first element of the operator's array `name`; "workspace": pointer to the temporary
    `name`, see `Buffer`; "scalar": the rank-0 input `name` by value, as it is stored; "size": a symbolic size, int64;
    "loop": the variable of a Repeat around, int64; "status": pointer to two int32 words (see docs/cuda.md).
    `c_name` is the parameter's name in the text; `written` says whether the kernel may write through the pointer.
    """

    kind: ArgumentKind
    name: str
    c_name: str
    dtype: DType
    written: bool = False


@record(slots=True)
class Launch:
    """One kernel: `grid` blocks (x, y, z) of `block` threads (x, y, z), with bytes of dynamic shared memory.

    `static_bytes` are those the kernel declares itself; both together count against the target's limit.
    """

    name: str
    grid: tuple[Amount, Amount, Amount]
    block: tuple[int, int, int]
    shared_bytes: Amount
    arguments: tuple[Argument, ...]
    static_bytes: int = 0

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    def __str__(self) -> str:
        grid, block = (" x ".join(map(shown_amount, extents)) for extents in (self.grid, self.block))
        shared = f", {shown_amount(self.shared_bytes)} B of dynamic shared memory" if self.shared_bytes != 0 else ""
        return f"{self.name}({', '.join(a.c_name for a in self.arguments)}): {grid} blocks of {block} threads{shared}"


@record(slots=True)
class Clear:
    """The first `bytes` bytes of the workspace array `array` become 0."""

    array: str
    bytes: Amount

    def __str__(self) -> str:
        return f"{self.array}: {shown_amount(self.bytes)} B become 0"


@record(slots=True)
class Repeat:
    """`body` once for each value of `variable` from `lower` to `upper` - 1, by `step`."""

    variable: str
    lower: Amount
    upper: Amount
    body: tuple[Step, ...]
    step: int = 1

    def __str__(self) -> str:
        step = "" if self.step == 1 else f" by {self.step}"
        head = f"for {self.variable} from {shown_amount(self.lower)} below {shown_amount(self.upper)}{step}"
        return "\n".join([head, *(f"  {line}" for part in self.body for line in str(part).splitlines())])


Step = Launch | Clear | Repeat


@record(slots=True)
class Buffer:
    """A temporary in the caller's workspace: `bytes` bytes, `offset` bytes after its beginning (a multiple of 256)."""

    array: str
    dtype: DType
    offset: Amount
    bytes: Amount


def shown_amount(value: Amount) -> str:
    """An extent as text."""
    return str(value) if isinstance(value, int) else show(value)


def amount(value: Amount, values: Mapping[str, int]) -> int:
    """The number that an extent is, with the sizes and the Repeats' variables of `values` (KeyError if one is missing).

    >>> from workbench.lang.expr import Size
    >>> amount(Size("N"), {"N": 7})
    7
    """
    return value if isinstance(value, int) else fold(value, dict(values))


def each_launch(steps: tuple[Step, ...]) -> tuple[Launch, ...]:
    """The launches of the steps in textual order, those inside Repeats too."""
    found: list[Launch] = []
    for step in steps:
        if isinstance(step, Repeat):
            found += each_launch(step.body)
        elif isinstance(step, Launch):
            found.append(step)
    return tuple(found)
