"""Index checks in CUDA: kernels that run before the others, and `wb_at` where an index is computed."""

from __future__ import annotations

from workbench.codegen.c.checks import MISSES, Checks, Place, checker
from workbench.codegen.c.index_checks import Early
from workbench.codegen.c.printer import Printer
from workbench.codegen.cuda.grid.launches import Amount
from workbench.codegen.nest.nest import For, Nest
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const

THREADS = 256
MOST_BLOCKS = 1024
CUDA_MISSES = MISSES.replace("static inline int", "WB_INLINE int")
CUDA_AT = """WB_INLINE int64_t wb_at(int64_t i, int64_t n, int code, int *status) {
    if (i >= 0 && i < n) return i;
    atomicCAS(status, 0, code);
    return 0;
}
"""


class CudaChecks(Checks):
    """The checks of one file; those before the kernel are kernels of their own."""

    helper = CUDA_AT
    status = "wb_status + 1"  # the second word: what the running kernels report

    def body(self, early: Early) -> tuple[list[str], Amount, int]:
        """Lines of such a kernel, its number of blocks, its threads in a block."""
        self.values.helpers.text("wb_misses", CUDA_MISSES)
        printer = _Checking(self.program, self.values, "serial")
        printer.write = checker(printer, Place(self._bounds(early), early.check))  # type: ignore[method-assign]
        blocks, threads = _spread(early.nest)
        printer.spread = threads > 1
        code = self.found.index(early.check) + 1
        lines = ["if (*wb_status != 0) return;", "int wb_bad = 0;", *printer.lines(early.nest)]
        return [*lines, f"if (wb_bad) atomicCAS(wb_status, 0, {code});"], blocks, threads


class _Checking(Printer):
    """Prints the walk of a check, its outermost loop spread over all threads."""

    spread = False

    def head(self, loop: For) -> str:
        if not self.spread or self.scope:
            return super().head(loop)
        name, lower = self.values.names("index", loop.variable), self.values.inside(loop.lower, 9)
        first = "(int64_t)blockIdx.x*blockDim.x + threadIdx.x"
        start = first if lower == "0" else f"{lower} + {first}"
        return (
            f"for (int64_t {name} = {start}; {name} < {self.values.inside(loop.upper, 8)}; "
            f"{name} += (int64_t)gridDim.x*blockDim.x)"
        )


def _spread(nest: Nest) -> tuple[Amount, int]:
    """Blocks and threads for the outermost loop of a walk; one thread where it has none."""
    if not isinstance(nest, For) or nest.step != 1:
        return 1, 1
    count = Binary("-", nest.upper, nest.lower, INT64)
    blocks = simplify(Binary("/", Binary("+", count, Const(THREADS - 1, INT64), INT64), Const(THREADS, INT64), INT64))
    number = constant(blocks)
    if number is not None:
        return min(number, MOST_BLOCKS), THREADS
    return Call("min", (blocks, Const(MOST_BLOCKS, INT64)), INT64), THREADS
