"""The road from a schedule to the kernels of a grid: a flat list of named passes on frozen states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench import poly
from workbench.codegen.cuda.functions import file_names
from workbench.codegen.cuda.grid.counting_loops import counting
from workbench.codegen.cuda.grid.kernels import (
    Grid,
    HostLoop,
    HostNode,
    KernelNest,
    bound_loop,
    divided,
    each_kernel,
    refuse_unbound,
    uneven_loops,
)
from workbench.codegen.cuda.grid.tail_guards import in_whole_pieces, without_known
from workbench.codegen.cuda.grid.thread_arrays import plain, with_registers_unrolled
from workbench.codegen.cuda.grid.unit_block_loops import with_lost_blocks
from workbench.codegen.cuda.grid.wide_accesses import wide
from workbench.codegen.cuda.kernel_passes import (
    _spelling,
    aligned_arrays,
    asynchronous,
    in_memory,
    in_shared_memory,
    instructed,
    launched,
    private,
    summed,
    waiting,
)
from workbench.codegen.nest.from_program import nest_of, with_atomic_updates
from workbench.codegen.nest.nest import For, Nest, transform, walk
from workbench.codegen.passes.full_blocks import full_blocks
from workbench.codegen.passes.invariants import hoist_invariants
from workbench.codegen.passes.local_storage import stored, with_local_storage
from workbench.codegen.passes.subscript_collapse import collapsed
from workbench.codegen.passes.vector_loops import vectorize_loops
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.poly.threads.grid import on_grid, regions
from workbench.poly.time.concurrency import atomic_statements, is_block
from workbench.records import record
from workbench.target import Target


@record
class GridPass:
    """One named pass over a grid, and what it does in one line.

    Every write of a nest bears its statement and instance, every loop the schedule's name; passes keep both.
    """

    name: str
    does: str
    apply: Callable[[Grid], Grid]


def grid_start(program: Program, tree: Tree, target: Target) -> Grid:
    """The nest that the order of a grid becomes; CodegenError if a kernel has loops of which none is bound."""
    order = on_grid(tree)
    found = regions(order)
    for region in found:
        refuse_unbound(program, region)
    nest = with_atomic_updates(nest_of(program, poly.scan(program, order)), atomic_statements(order))
    return Grid(program, stored(program, order), order, target, found, nest)


def lower_grid(program: Program, tree: Tree, target: Target) -> Grid:
    """The grid after every pass; CodegenError where loops are not bound, or a limit of the target is exceeded."""
    grid = grid_start(program, tree, target)
    for own in GRID_PASSES:
        grid = own.apply(grid)
    return grid


def rewritten_grid(program: Program, tree: Tree, target: Target) -> tuple[Grid, ...]:
    """The grid at the start, then after each pass in order."""
    grids = [grid_start(program, tree, target)]
    for own in GRID_PASSES:
        grids.append(own.apply(grids[-1]))
    return tuple(grids)


# -- What becomes of the nest of all kernels --


def _nest_pass(name: str, does: str, change: Callable[[Nest, Grid], Nest]) -> GridPass:
    return GridPass(name, does, lambda grid: replace(grid, nest=change(grid.nest, grid)))


def _counting_threads(grid: Grid) -> Grid:
    shifted, starts = uneven_loops(grid.nest)
    return replace(grid, shifted=shifted, starts=starts)


def _counted(nest: Nest, grid: Grid) -> Nest:
    return counting(nest, lambda x: any(isinstance(n, For) and is_block(n.kind) for n in walk(x.body)))


def _divided(grid: Grid) -> Grid:
    """Each kernel with what it begins with."""
    steps, outside = divided(grid.nest, grid.regions)
    return replace(grid, steps=tuple(_given(node, grid, ()) for node in steps), outside=outside)


def _given(node: HostNode, grid: Grid, host: tuple[str, ...]) -> HostNode:
    if isinstance(node, KernelNest):
        return replace(node, host=host, tree=grid.tree, arrays=grid.stored.arrays)
    return HostLoop(node.loop, tuple(_given(x, grid, (*host, node.loop.variable)) for x in node.body))


def _named(grid: Grid) -> Grid:
    """A kernel's name: the operator's, with the statement's where there are several."""
    program, used = grid.program, set[str]()
    names = file_names(grid.stored, _spelling(grid).names)
    alone = len(grid.kernels) == 1

    def change(kernel: KernelNest) -> KernelNest:
        wanted = f"{program.name}.{program.statement(kernel.region.statements[-1]).name}"
        name, number = program.name if alone else wanted, 1
        while name in used:
            number += 1
            name = f"{wanted}.{number}"
        used.add(name)
        return replace(kernel, name=names("function", name))

    return each_kernel(grid, change)


# -- What becomes of the nest of one kernel --


def _kernel_pass(name: str, does: str, change: Callable[[KernelNest, Grid], KernelNest]) -> GridPass:
    return GridPass(name, does, lambda grid: each_kernel(grid, lambda kernel: change(kernel, grid)))


def _rewrite(name: str, does: str, change: Callable[[Nest, KernelNest, Grid], Nest]) -> GridPass:
    return _kernel_pass(name, does, lambda kernel, grid: replace(kernel, nest=change(kernel.nest, kernel, grid)))


GRID_PASSES: tuple[GridPass, ...] = (
    _nest_pass(
        "bound loops",
        "bound loops of one iteration are loops, so that it is known which block or thread executes them",
        lambda nest, grid: transform(nest, lambda n: bound_loop(n, grid.tree)),
    ),
    _nest_pass(
        "loops over blocks",
        "what one block executes where a kernel has several gets back the loop over blocks that isl left out",
        lambda nest, grid: with_lost_blocks(nest, grid.program, grid.tree, grid.regions),
    ),
    _nest_pass(
        "storage of local arrays",
        "local arrays stand in the loop that needs them, and their subscripts count from there",
        lambda nest, grid: with_local_storage(nest, grid.program, grid.tree),
    ),
    _nest_pass(
        "subscripts of collapsed loops",
        "cells take the subscripts that need the fewest divisions; addresses stay",
        lambda nest, grid: collapsed(nest, grid.stored),
    ),
    GridPass("numbers of threads", "it is noted which iterations of thread loops thread 0 executes", _counting_threads),
    _nest_pass("loops from 0", "loops inside kernels count from 0 by 1, so that iteration i is thread i", _counted),
    _nest_pass(
        "whole pieces",
        "loops over pieces that are whole or not there at all are guarded, and have a constant length",
        lambda nest, grid: in_whole_pieces(nest),
    ),
    GridPass("kernels", "regions become kernels, serial loops around them the host's", _divided),
    GridPass("names of kernels", "kernels are named after the operator and their last statement", _named),
    _kernel_pass(
        "instructions of warps", "parts that `replace` marked become calls where warps can execute them", instructed
    ),
    _kernel_pass("sums over threads", "vector loops that add up what each thread found are thread loops", summed),
    _kernel_pass("launch", "grid and block follow from the bounds of bound loops", launched),
    _kernel_pass(
        "memory", "local arrays live in the workspace, in the block's shared memory or in a thread", in_memory
    ),
    _kernel_pass("asynchronous copies", "marked copies from global to shared memory do not wait", asynchronous),
    _kernel_pass(
        "registers of threads",
        "arrays of a block of which each thread touches only its own cells are arrays of the thread",
        private,
    ),
    _kernel_pass("shared memory", "the arrays of a block fit the memory that it may have", in_shared_memory),
    _rewrite(
        "updates of a thread's own",
        "updates of arrays of a thread are not atomic",
        lambda nest, kernel, grid: plain(nest, kernel.own),
    ),
    _rewrite(
        "wide accesses",
        "vector loops over neighbours are accesses of 8 or 16 bytes where that fits, others are written out",
        lambda nest, kernel, grid: wide(nest, kernel.arrays, kernel.own),
    ),
    _rewrite(
        "register tiles",
        "what a loop keeps adding to lives in registers",
        lambda nest, kernel, grid: vectorize_loops(nest, grid.target),
    ),
    _rewrite(
        "full blocks",
        "unrolled loops that may end early have a copy with a constant number of iterations for full blocks",
        lambda nest, kernel, grid: full_blocks(nest),
    ),
    _rewrite(
        "invariant values",
        "what an innermost loop reads or computes again and again is held in a scalar",
        lambda nest, kernel, grid: hoist_invariants(nest, grid.target),
    ),
    _rewrite(
        "loops along registers",
        "loops along arrays of a thread are written out, so that compilers know each element's number",
        lambda nest, kernel, grid: with_registers_unrolled(nest, kernel.own),
    ),
    _rewrite(
        "known guards",
        "guards that the loops around decide are gone",
        lambda nest, kernel, grid: without_known(nest),
    ),
    _kernel_pass("alignment", "what wide accesses touch begins at a multiple of 16 bytes", aligned_arrays),
    _kernel_pass("barriers", "threads of a block wait where something crosses from one to another", waiting),
)
