"""Loops over blocks that are not there, because they have one iteration for what is inside: no other block executes it.

    A; for n_o < 4 (block.x): B      →      for n_o in 0:1 (block.x): A; for n_o < 4 (block.x): B

Where all of a kernel lost its loop the grid has one block along that axis, and nothing is to be done.
"""

from __future__ import annotations

from typing import TypeGuard

from workbench.codegen.nest.nest import Define, For, Nest, Write, children, rebuild, walk, writes
from workbench.codegen.nest.ranges import Ranges, interval, ranged
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, index_names, substitute
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Loop, Tree, path
from workbench.poly.threads.grid import Region
from workbench.poly.time.concurrency import is_block
from workbench.poly.time.timemap import row


def with_lost_blocks(nest: Nest, program: Program, tree: Tree, found: tuple[Region, ...]) -> Nest:
    """The nest with loops over blocks around all whose loop was left out, where the kernel has several blocks."""
    for region in found:
        bound = {x.name: x.kind for own in region.statements for x in path(tree, own) if is_block(x.kind)}
        here = frozenset(region.statements)
        there = {bound[n.loop] for n in walk(nest) if _is_loop(n) and n.loop in bound and _statements(n) <= here}
        if there:
            nest = _within(nest, _Region(program, tree, region, frozenset(there)), ())
    return nest


class _Region:
    """What is asked about one kernel: its statements, its host's loops, the axes along which it has blocks."""

    def __init__(self, program: Program, tree: Tree, region: Region, axes: frozenset[str]) -> None:
        self.program, self.tree, self.axes = program, tree, axes
        self.statements = frozenset(region.statements)
        self.host = {x.name for x in region.host}

    def loops(self, statement: str) -> list[Loop]:
        """The loops over blocks around a statement, along axes that the kernel has."""
        return [x for x in path(self.tree, statement) if x.kind in self.axes]

    def lost(self, nest: Nest, around: tuple[str, ...]) -> tuple[Loop, Expr] | None:
        """The outermost loop that stands neither around nor inside, and its iteration, the same for all inside."""
        inside = {n.loop for n in walk(nest) if _is_loop(n)}
        known = {n.variable for n in walk(nest) if isinstance(n, For | Define)}
        for loop in self.loops(next(writes(nest)).statement):
            if loop.name in inside or loop.name in around:
                continue
            values = {self.iteration(w, loop.name, ranges) for w, ranges in ranged(nest) if isinstance(w, Write)}
            value = values.pop()
            if not values and value is not None and not index_names(value) & known:
                return loop, value
        return None

    def iteration(self, write: Write, name: str, ranges: Ranges) -> Expr | None:
        """The iteration of a loop in which a statement writes; None if it is in no such loop."""
        own = self.program.statement(write.statement)
        loop = next((x for x in self.loops(own.id) if x.name == name), None)
        if loop is None or len(write.instance) != len(own.dims):
            return None
        at = dict(zip(own.dims, write.instance, strict=True))
        value = simplify(substitute(row(loop, own, self.program), at), INT64)
        low, high = interval(value, ranges)
        return Const(low, INT64) if low is not None and low == high else value


def _within(nest: Nest, region: _Region, around: tuple[str, ...]) -> Nest:
    found = _statements(nest)
    if not found & region.statements or all(x.name in around for s in found for x in region.loops(s)):
        return nest
    loops = {n.loop for n in walk(nest) if _is_loop(n)}
    lost = region.lost(nest, around) if found <= region.statements and not loops & region.host else None
    if lost is not None:
        loop, value = lost
        after = simplify(Binary("+", value, Const(1, INT64), INT64), INT64)
        return For(loop.name, loop.name, value, after, _within(nest, region, (*around, loop.name)), 1, "parallel")
    inner = (*around, nest.loop) if _is_loop(nest) else around
    return rebuild(nest, tuple(_within(child, region, inner) for child in children(nest)))


def _is_loop(nest: Nest) -> TypeGuard[For | Define]:
    return isinstance(nest, For | Define) and bool(nest.loop)


def _statements(nest: Nest) -> frozenset[str]:
    return frozenset(w.statement for w in writes(nest))
