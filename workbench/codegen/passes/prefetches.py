"""Cells that a later iteration touches are asked for where `prefetch` marked a loop."""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import Cell, Define, For, Hold, Nest, Prefetch, Write, children, rebuild, walk, writes
from workbench.codegen.passes.gathered_rows import prefetched_rows
from workbench.lang.algebra.normal_form import mentions, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, substitute
from workbench.lang.expr import reads as reads_of
from workbench.poly.programs.marks import PrefetchAhead
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, statements

MOST = 16
"""Cells asked for in one iteration."""


def prefetched(nest: Nest, tree: Tree, program: Program) -> Nest:
    """The nest with a request at the beginning of each marked loop's iterations."""
    for array, distance, loop, ids in _marked(tree):
        nest = _with_requests(nest, (array, distance, loop, ids), program)
    return nest


Marked = tuple[str, int, str, frozenset[str]]


def _marked(tree: Tree) -> list[Marked]:
    """(array, distance, loop, statements) of every mark."""
    match tree:
        case Mark(PrefetchAhead(array, distance), child):
            return [(array, distance, _outermost(child), frozenset(statements(child))), *_marked(child)]
        case Mark(_, child) | Band(_, child):
            return _marked(child)
        case Sequence(parts):
            return [x for part in parts for x in _marked(part)]
    return []


def _outermost(tree: Tree) -> str:
    """The loop that a mark is about."""
    while isinstance(tree, Mark):
        tree = tree.child
    return tree.loops[0].name if isinstance(tree, Band) else ""


def _with_requests(nest: Nest, mark: Marked, program: Program) -> Nest:
    array, distance, loop, ids = mark
    inside = {w.statement for w in writes(nest)}
    if isinstance(nest, For) and nest.loop == loop and nest.kind != "unroll" and inside and inside <= ids:
        own = Index(nest.variable, INT64)
        later = Binary("+", own, Const(distance * nest.step, INT64), INT64)
        lane, rows = _lanes_apart(nest.body, array)
        now, then = (_first_cells(nest.body, array, {nest.variable: v}, lane) for v in (own, later))
        cells = tuple(new for old, new in zip(now, then, strict=False) if old != new)
        cells = (*cells, *prefetched_rows(nest, program.arrays, array, distance))
        return replace(nest, body=Prefetch(cells, nest.body, rows)) if cells else nest
    return rebuild(nest, tuple(_with_requests(child, mark, program) for child in children(nest)))


def _first_cells(nest: Nest, array: str, known: dict[str, Expr], lane: str) -> tuple[Cell, ...]:
    """The cells that an iteration touches, its inner loops at their beginning; all rows of lanes that lie apart."""
    found: dict[Cell, None] = {}
    for node in walk(nest):
        match node:
            case For(variable, _, lower):
                first = substitute(lower, known)
                row = Index(_row(lane), INT64)
                known = {**known, variable: Binary("+", first, row, INT64) if variable == lane else first}
            case Define(variable, value):
                known = {**known, variable: substitute(value, known)}
        for cell in _touched(node, array):
            where = tuple(simplify(substitute(e, known)) for e in cell.subscripts)
            if not any(list(reads_of(e)) for e in where):
                found[replace(cell, subscripts=where)] = None
    return tuple(found)[:MOST]


def _lanes_apart(nest: Nest, array: str) -> tuple[str, tuple[str, int] | None]:
    """The variable of a vector loop whose lanes touch different rows; the variable of these rows, and their number."""
    for loop in walk(nest):
        if isinstance(loop, For) and loop.lanes > 1:
            cells = [cell for node in walk(loop.body) for cell in _touched(node, array)]
            if any(mentions(s, loop.variable) for cell in cells for s in cell.subscripts[:-1]):
                return loop.variable, (_row(loop.variable), loop.lanes)
    return "", None


def _row(lane: str) -> str:
    return f"{lane}_row"


def _touched(node: Nest, array: str) -> list[Cell]:
    match node:
        case Write(cells=cells, values=values):
            own = [c for c in cells if c.array == array]
            roots = values
        case Hold(_, value, _):
            own, roots = [], (value,)
        case _:
            return []
    return [*own, *(Cell(array, r.subscripts, r.dtype) for r in reads_of(*roots) if r.tensor == array)]

