"""The order a person would write, as a tree."""

from __future__ import annotations

from functools import lru_cache

from workbench.lang.expr import Index
from workbench.poly.programs.program import Nest, Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Sequence, Tree


def naive_tree(program: Program) -> Tree:
    """The program's own order: loops named after dims, those directly inside one another in one Band."""
    return program.reference if program.reference is not None else _sequence(program.order)


@lru_cache(maxsize=256)
def _sequence(items: tuple[Nest | str, ...]) -> Tree:
    trees = tuple(Leaf(item) if isinstance(item, str) else _band(item) for item in items)
    return trees[0] if len(trees) == 1 else Sequence(trees)


def _band(nest: Nest) -> Band:
    below = nest_statements(nest)
    rows = tuple(sorted((s, Index(nest.dim)) for s in below))
    loop = Loop(nest.dim, rows)
    child = _sequence(nest.body)
    if isinstance(child, Band):
        return Band((loop, *child.loops), child.child)
    return Band((loop,), child)


def nest_statements(item: Nest | str) -> tuple[str, ...]:
    """The statements of a part of the naive order."""
    return (item,) if isinstance(item, str) else tuple(s for inner in item.body for s in nest_statements(inner))
