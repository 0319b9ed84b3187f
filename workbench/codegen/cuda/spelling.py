"""What a language for GPUs has in place of what C has: one record, which the printers of kernels read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from workbench.records import record

if TYPE_CHECKING:
    from workbench.codegen.c.expressions.values import Values
    from workbench.codegen.c.helpers import Helpers
    from workbench.codegen.c.names import Names
    from workbench.codegen.cuda.grid.kernels import KernelNest
    from workbench.codegen.cuda.grid.launches import Argument
    from workbench.codegen.nest.nest import For, Write
    from workbench.lang.dtypes import DType


@record
class Spelling:
    """How a language for GPUs is written.

    `block` and `thread` give the number of a block or thread along an axis (0 is x), `blocks` and `threads` how many
    there are.  `head` is the first line of a kernel with a block of such a size, `argument` one of its parameters,
    `barrier` the line at which the threads of a block wait.  `shared` and `align` qualify arrays of a block;
    where the size of its memory is known at the launch only, `own` are the kernel's further parameters, `dynamic` the
    lines that begin it, `pointer` the type of a pointer into it.  `lanes` threads exchange values without memory, and
    `summed` are the lines of a sum over threads.  With `copies`, copies may be under way while threads go on.  Wide
    accesses are `loaded` and `stored`, `vector` is their type; where they need it, arrays are `aligned`.
    `updated` are the lines of an atomic update, `swapped` compares and swaps, `at` is the text of `wb_at`.
    """

    prelude: str
    names: type[Names]
    helpers: type[Helpers]
    block: Callable[[int], str]
    thread: Callable[[int], str]
    blocks: Callable[[int], str]
    threads: Callable[[int], str]
    head: Callable[[tuple[int, int, int]], str]
    argument: Callable[[Argument], str]
    barrier: Callable[[KernelNest], str]
    shared: str
    own: tuple[str, ...]
    dynamic: tuple[str, ...]
    pointer: Callable[[str], str]
    updated: Callable[[Values, KernelNest, Write, str, str], list[str]]
    swapped: str
    at: str
    summed: Callable[[Values, For, Write, bool], list[str]]
    vector: Callable[[DType, int], str]
    loaded: Callable[[DType, int, str], str]
    stored: Callable[[DType, int, str, str], str]
    align: str = ""
    lanes: int = 1
    copies: bool = False
    aligned: bool = False

    def where(self, axes: Mapping[int, str]) -> str:
        """A condition on the numbers of a thread: axis → what its number is compared with."""
        return " && ".join(f"{self.thread(axis)} {test}" for axis, test in axes.items())
