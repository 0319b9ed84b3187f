"""The road from a schedule to a nest: a flat list of named rewrites."""

from __future__ import annotations

from collections.abc import Callable

from workbench import poly
from workbench.codegen.nest.from_program import (
    mark_disjoint_writes,
    mark_nontemporal_stores,
    nest_of,
    with_atomic_updates,
)
from workbench.codegen.nest.nest import Nest
from workbench.codegen.passes.full_blocks import full_blocks
from workbench.codegen.passes.invariants import hoist_invariants
from workbench.codegen.passes.local_storage import stored, with_local_storage, without_dead_stores
from workbench.codegen.passes.loop_splitting import divided, split_transposed_copies
from workbench.codegen.passes.register_tiles.slanted import slanted_tiles
from workbench.codegen.passes.register_tiles.turned_cells import turned
from workbench.codegen.passes.subscript_collapse import collapsed
from workbench.codegen.passes.vector_loops import vectorize_loops
from workbench.poly.programs.marks import NontemporalStores
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, marked, unmarked
from workbench.poly.regions.regions import apart
from workbench.poly.time.concurrency import atomic_statements, on_processors
from workbench.records import record
from workbench.target import Target


@record
class Lowering:
    """What a rewrite may look at: the program, its order, the machine."""

    program: Program
    tree: Tree
    target: Target


@record
class Rewrite:
    """One named step on the nest, and what it does in one line.

    Every write of a nest bears its statement and instance, every loop the schedule's name; rewrites keep both.
    """

    name: str
    does: str
    apply: Callable[[Nest, Lowering], Nest]


def _has_marks(tree: Tree) -> bool:
    return unmarked(tree) != tree


def _invoked(nest: Nest, given: Lowering) -> Nest:
    from workbench.codegen.passes.micro_kernel_calls import (
        invoked,  # loaded with the first schedule that marks something
    )

    return invoked(nest, stored(given.program, given.tree), given.tree)


def _prefetched(nest: Nest, given: Lowering) -> Nest:
    from workbench.codegen.passes.prefetches import prefetched

    return prefetched(nest, given.tree, given.program)


def _past_caches(nest: Nest, given: Lowering) -> Nest:
    return mark_nontemporal_stores(nest, marked(given.tree, NontemporalStores))


REWRITES: tuple[Rewrite, ...] = (
    Rewrite(
        "storage of local arrays",
        "local arrays stand in the loop that needs them, and their subscripts count from there",
        lambda nest, given: with_local_storage(nest, given.program, given.tree),
    ),
    Rewrite(
        "subscripts of collapsed loops",
        "cells take the subscripts that need the fewest divisions; addresses stay",
        lambda nest, given: collapsed(nest, stored(given.program, given.tree)),
    ),
    Rewrite(
        "micro-kernels",
        "blocks that `replace` marked become calls where they are whole",
        lambda nest, given: _invoked(nest, given) if _has_marks(given.tree) else nest,
    ),
    Rewrite(
        "slanted tiles",
        "register tiles that a border of the domain may cut have a copy with constant bounds for where it does not",
        lambda nest, given: slanted_tiles(nest),
    ),
    Rewrite(
        "choices along a row",
        "vector loops whose only assignment chooses by the loop variable are divided where the choice changes",
        lambda nest, given: divided(nest),
    ),
    Rewrite(
        "vector loops and register tiles",
        "vector loops advance by whole vectors, and what a loop keeps adding to lives in registers",
        lambda nest, given: vectorize_loops(nest, given.target),
    ),
    Rewrite(
        "cells across lanes",
        "what an epilogue reads and writes across its lanes goes through registers of its own, and so do temporaries",
        lambda nest, given: turned(nest, stored(given.program, given.tree).arrays),
    ),
    Rewrite(
        "temporaries in registers",
        "temporaries that registers stand for from the first value to the last read are not stored",
        lambda nest, given: without_dead_stores(nest, given.program),
    ),
    Rewrite(
        "copies from rows into lanes",
        "whole vectors of a copy whose source runs across them, and what is left of them, get loops of their own",
        lambda nest, given: split_transposed_copies(nest),
    ),
    Rewrite(
        "full blocks",
        "unrolled loops that may end early have a copy with a constant number of iterations for full blocks",
        lambda nest, given: full_blocks(nest),
    ),
    Rewrite(
        "prefetches",
        "loops that `prefetch` marked ask the cache for what later iterations touch",
        lambda nest, given: _prefetched(nest, given) if _has_marks(given.tree) else nest,
    ),
    Rewrite(
        "writes past the caches",
        "what statements that `nontemporal` marked write in whole vectors goes to memory past the caches",
        lambda nest, given: _past_caches(nest, given) if _has_marks(given.tree) else nest,
    ),
    Rewrite(
        "invariant values",
        "what an innermost loop reads or computes again and again is held in a scalar",
        lambda nest, given: hoist_invariants(nest, given.target),
    ),
)


def lower_nest(program: Program, tree: Tree, target: Target) -> Nest:
    """The nest after every rewrite."""
    return rewritten(program, tree, target)[-1]


def rewritten(program: Program, tree: Tree, target: Target) -> tuple[Nest, ...]:
    """The nest that the time map becomes, then the nest after each rewrite in order."""
    tree = on_processors(tree)
    nest = with_atomic_updates(nest_of(program, poly.scan(program, tree)), atomic_statements(tree))
    nests = [mark_disjoint_writes(nest, apart(program, tree))]
    given = Lowering(program, tree, target)
    for rewrite in REWRITES:
        nests.append(rewrite.apply(nests[-1], given))
    return tuple(nests)
