"""What a kernel for a GPU makes of marks that are meant for processors, in words."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.codegen.cuda.grid.warp_calls import parts_of_warps
from workbench.poly.programs.tree import Tree, loops, marked
from workbench.schedules.steps.execution.replace import MARK


def without_effect(tree: Tree) -> Iterator[str]:
    """Remarks on marks that mean nothing to a GPU."""
    names = dict.fromkeys(x.name for x in loops(tree) if x.kind == "parallel")
    if names:
        yield f"executed serially, because threads of a processor are no GPU's: {', '.join(names)}; bind them"
    if marked(tree, MARK) - {part.statement for part in parts_of_warps(tree)}:
        yield "micro-kernels of C are not called"
    if marked(tree, "prefetch"):
        yield "prefetches are ignored"
    if marked(tree, "nontemporal"):
        yield "writes past the caches are ordinary ones"
