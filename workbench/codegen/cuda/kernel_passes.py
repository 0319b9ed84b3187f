"""Passes over one kernel of a grid: instructions, launch, where its arrays live, where its threads wait."""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.cuda.grid.barrier_placement import behind_sums, with_syncs
from workbench.codegen.cuda.grid.block_code import code_of, counting_threads, lost_axes, pieces
from workbench.codegen.cuda.grid.collectives import collectives, of_others, tree_on_threads, vector_loops_on_threads
from workbench.codegen.cuda.grid.kernels import (
    Grid,
    KernelNest,
)
from workbench.codegen.cuda.grid.launch_extents import Extents, extents_of, head, parts_of
from workbench.codegen.cuda.grid.thread_arrays import dropped, thread_owned, without
from workbench.codegen.cuda.grid.warp_calls import executable, partial_results, with_instructions
from workbench.codegen.cuda.grid.wide_accesses import touched_wide
from workbench.codegen.cuda.memory import shared_of
from workbench.codegen.cuda.memory_spaces import fitting_places, late_copies
from workbench.codegen.cuda.spelling import Spelling
from workbench.codegen.cuda.warp_printing import wide_operands
from workbench.codegen.nest.nest import For, Invoke, Nest, walk, writes
from workbench.poly.threads.cross_thread_dependences import crossings
from workbench.poly.time.concurrency import is_block
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import WarpInstruction


def extents_in(nest: Nest, kernel: KernelNest, grid: Grid) -> Extents:
    """Grid and block of a nest in a kernel."""
    return extents_of(nest, frozenset(kernel.host), grid.target, kernel.name, parts_of(grid.tree))


def instructed(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Parts that warps can execute as calls of their instructions."""
    after = with_instructions(kernel.nest, grid.program, grid.stored, grid.tree, grid.target)
    if after is kernel.nest or not executable(after, grid.stored, extents_in(after, kernel, grid)):
        return kernel
    return replace(kernel, nest=after, cleared=partial_results(after))


def summed(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Sums over the threads of a block as loops over threads, in the nest and in the order."""
    extents = extents_in(kernel.nest, kernel, grid)
    after = vector_loops_on_threads(kernel.nest, extents)
    found = frozenset((w.statement, x.loop) for x, w in collectives(after, extents))
    return replace(kernel, nest=after, tree=tree_on_threads(grid.tree, found)) if found else kernel


def launched(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Grid and block, from the bounds of bound loops."""
    return replace(kernel, extents=extents_in(kernel.nest, kernel, grid))


def in_memory(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Where local arrays live."""
    places: dict[str, str] = {}
    code_of(kernel.nest, places, _inside(kernel.nest))
    alone, blocks = kernel.extents.block == (1, 1, 1), any(is_block(x.kind) for x in kernel.region.loops)
    return replace(kernel, places=fitting_places(places, kernel.arrays, grid.outside, alone=alone, blocks=blocks))


def _inside(nest: Nest) -> str:
    """Where arrays live that stand around all: loops over blocks of one iteration are gone."""
    several = any(isinstance(n, For) and is_block(n.kind) for n in walk(nest))
    return "workspace" if several else "shared"


def _spelling(grid: Grid) -> Spelling:
    """How the grid's language is written."""
    return grid.target.language.load("spelling")


def asynchronous(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Which copies need not be waited for at once."""
    if not _spelling(grid).copies:
        return kernel
    by_value = {a.name for a in grid.stored.arrays.values() if a.rank == 0 and a.role == "input"}
    return replace(kernel, late=late_copies(kernel.nest, kernel.tree, kernel.places, by_value))


def private(kernel: KernelNest, _: Grid) -> KernelNest:
    """What belongs to single threads in their registers."""
    copied = {c.array for w in writes(kernel.nest) if w.statement in kernel.late for c in w.cells}
    shared = [a for a, place in kernel.places.items() if place == "shared" and a not in copied]
    found = thread_owned(kernel.nest, {a: kernel.arrays[a] for a in shared}, kernel.extents)
    less = {name: without(kernel.arrays[name], positions) for name, positions in found.items()}
    return replace(
        kernel, nest=dropped(kernel.nest, found), arrays={**kernel.arrays, **less}, registers=tuple(found),
        places={**kernel.places, **dict.fromkeys(found, "thread")},
        extents=replace(kernel.extents, own=frozenset(found)),
    )  # fmt: skip


def in_shared_memory(kernel: KernelNest, grid: Grid) -> KernelNest:
    """The arrays of a block; CodegenError if they are too large."""
    names = [a for a, place in kernel.places.items() if place == "shared"]
    return replace(kernel, shared=shared_of(kernel.arrays, names, grid.target, kernel.name).arrays)


def aligned_arrays(kernel: KernelNest, grid: Grid) -> KernelNest:
    """Arrays that must begin at a multiple of 16 bytes."""
    if not _spelling(grid).aligned:
        return kernel
    found: set[str] = set()
    for node in walk(kernel.nest):
        if isinstance(node, For) and node.lanes > 1:
            found |= touched_wide(next(writes(node.body)), node, kernel.arrays)
        elif isinstance(node, Invoke) and isinstance(registered(node.kernel), WarpInstruction):
            found |= wide_operands(node, kernel.arrays, kernel.shared)
    return replace(kernel, aligned=frozenset(found))


def waiting(kernel: KernelNest, grid: Grid) -> KernelNest:
    """The code of a kernel with the places where threads wait."""
    nest, extents, late = kernel.nest, kernel.extents, kernel.late
    code = code_of(nest)
    ids = tuple(dict.fromkeys(w.statement for w in writes(nest)))
    aligned = counting_threads(code, kernel.tree) - grid.shifted
    alone = frozenset(s for p in pieces(code) if not p.axes for s in p.statements)
    found = crossings(grid.program, kernel.tree, ids, aligned, late, lost_axes(code, kernel.tree), grid.starts)
    used = bool(kernel.shared) or any(collectives(nest, extents))
    exact = all(head(n) in extents.exact for n in walk(nest) if isinstance(n, For) and is_block(n.kind))
    code = with_syncs(code, of_others(found, nest, extents, alone), late, repeated=used and not exact)
    return replace(kernel, code=behind_sums(code, extents, _spelling(grid).lanes))
