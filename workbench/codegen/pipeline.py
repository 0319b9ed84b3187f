"""The road from a schedule to a nest: a flat list of named rewrites."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench import poly
from workbench.codegen.collapsing import collapsed
from workbench.codegen.from_program import nest_of
from workbench.codegen.invariants import hoist_invariants
from workbench.codegen.invocations import invoked
from workbench.codegen.local_storage import placed, stored
from workbench.codegen.nest import Nest
from workbench.codegen.vector_loops import vectorize_loops
from workbench.poly.program import Program
from workbench.poly.tree import Tree
from workbench.target import Target


@dataclass(frozen=True)
class Rewrite:
    """One named step on the nest."""

    name: str
    apply: Callable[[Nest, Target], Nest]


REWRITES: tuple[Rewrite, ...] = (
    Rewrite("vector loops and register tiles", vectorize_loops),
    Rewrite("invariant values", hoist_invariants),
)


def lower_nest(program: Program, tree: Tree, target: Target) -> Nest:
    """Scan the time map, then apply every rewrite in order."""
    nest = placed(nest_of(program, poly.scan(program, tree)), poly.storage_of(program, tree))
    arrays = stored(program, tree)
    nest = invoked(collapsed(nest, arrays), arrays, tree)
    for rewrite in REWRITES:
        nest = rewrite.apply(nest, target)
    return nest
