"""Index checks in CUDA: kernels that run before the others, and `wb_at` where an index is computed."""

from __future__ import annotations

from workbench.codegen.c.checks import MISSES, Checks, Place, checker
from workbench.codegen.c.expressions.values import Values
from workbench.codegen.c.index_checks import Early
from workbench.codegen.c.printer import Printer
from workbench.codegen.cuda.grid.kernels import KernelNest
from workbench.codegen.cuda.grid.launches import Amount
from workbench.codegen.cuda.mentions import NOTHING, STATUS, Mentioned, Mentions
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.nest.nest import Define, For, Local, Nest, Write
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Call, Const
from workbench.poly.programs.program import Program

THREADS = 256
MOST_BLOCKS = 1024
CUDA_MISSES = MISSES.replace("static inline int", "WB_INLINE int")


class CudaChecks(Checks):
    """The checks of one file; those before the kernel are kernels of their own."""

    status = "wb_status + 1"  # the second word: what the running kernels report

    def __init__(self, program: Program, values: Values, spelling: Spelling, *, enabled: bool) -> None:
        super().__init__(program, values, enabled=enabled)
        self.spelling, self.helper = spelling, spelling.at

    def body(self, early: Early) -> tuple[list[str], Amount, int]:
        """Lines of such a kernel, its number of blocks, its threads in a block."""
        self.values.helpers.text("wb_misses", CUDA_MISSES)
        printer = _Checking(self.program, self.values, "serial")
        printer.spelling = self.spelling
        printer.write = checker(printer, Place(self._bounds(early), early.check))  # type: ignore[method-assign]
        blocks, threads = _spread(early.nest)
        printer.spread = threads > 1
        code = self.found.index(early.check) + 1
        lines = ["if (*wb_status != 0) return;", "int wb_bad = 0;", *printer.lines(early.nest)]
        return [*lines, f"if (wb_bad) {self.spelling.swapped}(wb_status, 0, {code});"], blocks, threads


    def looks_at(self, array: str, dimension: int) -> bool:
        """Whether data-dependent subscripts of this dimension are looked at while the kernels run."""
        return bool(self.late) and self.code(array, dimension) is not None

    def mentioned(self, early: Early, kernel: KernelNest) -> Mentioned:
        """The names in the lines of a check."""
        return _CheckMentions(self, early, kernel).nest(early.nest) | STATUS


class _CheckMentions(Mentions):
    """What the walk of a check mentions."""

    def __init__(self, checks: CudaChecks, early: Early, kernel: KernelNest) -> None:
        super().__init__(kernel, checks.looks_at)
        self.place = Place(checks._bounds(early), early.check)

    def write(self, write: Write, held: tuple[Local, ...]) -> Mentioned:
        subscript, guard = write.values
        if isinstance(guard, Const) and not guard.value:
            return NOTHING
        return self.expr(self.place.of(subscript)) | self.expr(self.place.extent) | self.expr(guard)

    def defined(self, node: Define, inside: Mentioned, held: tuple[Local, ...] = ()) -> Mentioned:
        return inside | self.expr(node.value)


class _Checking(Printer):
    """Prints the walk of a check, its outermost loop spread over all threads."""

    spread = False
    spelling: Spelling

    def head(self, loop: For) -> str:
        if not self.spread or self.scope:
            return super().head(loop)
        name, lower = self.values.names("index", loop.variable), self.values.inside(loop.lower, 9)
        own, threads = self.spelling, self.spelling.threads(0)
        first = f"(int64_t){own.block(0)}*{threads} + {own.thread(0)}"
        start = first if lower == "0" else f"{lower} + {first}"
        return (
            f"for (int64_t {name} = {start}; {name} < {self.values.inside(loop.upper, 8)}; "
            f"{name} += (int64_t){own.blocks(0)}*{threads})"
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
