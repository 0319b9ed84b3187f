"""Prologue and epilogue of a register tile: the values its cells begin with, and what is computed from them last.

    for m_i, n_i: C(m,n) = 0;   for k: for m_i, n_i: C(m,n) += A(m,k) * B(k,n);   for m_i, n_i: C(m,n) = relu(C(m,n))

With all three in one tile the cells are in registers from the first value to the last, and memory sees only that one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from workbench.codegen.nest.nest import Block, Cell, Define, For, Nest, Write, map_write
from workbench.codegen.passes.register_tiles.accumulators import inlined, reads_of, separable
from workbench.codegen.passes.register_tiles.tiles import Tile
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Expr, Index, Read, reads, substitute, transform
from workbench.poly.programs.tree import at_once

MOST_LOOPS = 3  # of a tile: loops are matched in every order


def with_prologue_and_epilogue(before: Nest | None, tile: Tile, after: Nest | None) -> Tile | None:
    """The tile with what stands before and after it, as far as given; None where it would compute something else."""
    first = () if before is None else _renamed(before, tile)
    last = () if after is None else _renamed(after, tile)
    if first is None or last is None or (before is not None and not _begins(first, tile)):
        return None
    begun, ended = (tuple(_on_cells(w, tile, around) for w in around) for around in (first, last))
    found = replace(tile, before=begun, after=ended)
    return found if _independent(found) else None


def _renamed(nest: Nest, tile: Tile) -> tuple[Write, ...] | None:
    """The writes of a nest in the tile's own loops; None unless it has the same ones."""
    found = _writes(nest)
    if found is None or not 0 < len(found[0]) == len(tile.cells) <= MOST_LOOPS:
        return None
    loops, writes = found
    for order in permutations(tile.cells):
        names: dict[str, Expr] = {own.variable: Index(x.variable, INT64) for own, x in zip(loops, order, strict=True)}
        if not all(_same(a, b) for own, x in zip(loops, order, strict=True) for a, b in _ends(own, x)):
            continue
        moved = tuple(map_write(w, lambda e, names=names: substitute(e, names)) for w in writes)
        touching = [_touches(w, tile) for w in moved]
        if any(touching) and None not in touching:
            return moved
    return None


def _writes(nest: Nest) -> tuple[list[For], tuple[Write, ...]] | None:
    """The loops straight down to some writes."""
    loops: list[For] = []
    while True:
        match nest:
            case For() if nest.step == 1 and not at_once(nest.kind):
                loops.append(nest)
                nest = nest.body
            case Define(variable, value, body):
                nest = inlined(body, variable, value)
            case Write():
                return loops, (nest,)
            case Block(parts):
                own = tuple(p for p in parts if isinstance(p, Write))
                return (loops, own) if own and len(own) == len(parts) else None
            case _:
                return None


def _ends(a: For, b: For) -> Iterator[tuple[Expr, Expr]]:
    yield a.lower, b.lower
    yield a.upper, b.upper


def _same(a: Expr, b: Expr) -> bool:
    return a == b or constant(simplify(Binary("-", a, b, INT64))) == 0


def _is_cell(array: str, subscripts: tuple[Expr, ...], cell: Cell) -> bool:
    return array == cell.array and all(_same(a, b) for a, b in zip(subscripts, cell.subscripts, strict=True))


def _touches(write: Write, tile: Tile) -> bool | None:
    """Whether it writes or reads some of the tile's cells; None if other cells of the tile's arrays."""
    own = {c.array: c for c in tile.write.cells}
    touched = [(c.array, c.subscripts) for c in write.cells if c.array in own]
    touched += [(r.tensor, r.subscripts) for r in reads_of(write) if r.tensor in own]
    return bool(touched) if all(_is_cell(array, at, own[array]) for array, at in touched) else None


def _begins(writes: tuple[Write, ...], tile: Tile) -> bool:
    """Whether these give every cell of the tile a value that depends on none."""
    own = {c.array for c in tile.write.cells}
    written = [c.array for w in writes for c in w.cells]
    return sorted(written) == sorted(own) and not any(r.tensor in own for w in writes for r in reads_of(w))


def _on_cells(write: Write, tile: Tile, others: tuple[Write, ...]) -> Write:
    """The write with the tile's cells, and those that `others` write, spelt in one way."""
    own = {c.array: c for w in others for c in w.cells} | {c.array: c for c in tile.write.cells}

    def spelt(node: Expr) -> Expr:
        if isinstance(node, Read) and node.tensor in own and _is_cell(node.tensor, node.subscripts, own[node.tensor]):
            return replace(node, subscripts=own[node.tensor].subscripts)
        return node

    cells = tuple(own[c.array] if c.array in own and _is_cell(c.array, c.subscripts, own[c.array]) else c
                  for c in write.cells)  # fmt: skip
    return replace(write, cells=cells, values=tuple(transform(v, spelt) for v in write.values))


def _independent(tile: Tile) -> bool:
    """Whether the tile's pieces may come one after the other, each with what stands before and after it."""
    around, own = (*tile.before, *tile.after), {c.array for c in tile.write.cells}
    if any(w.reduction is not None or w.atomic or _gathers(w) for w in around):
        return False
    others = [c for w in tile.after for c in w.cells if c.array not in own]
    places = {c.array: c for c in others}
    variables = [x.variable for x in tile.cells]
    if not all(separable(c, variables) and _is_cell(c.array, c.subscripts, places[c.array]) for c in others):
        return False
    if any(r.tensor in places for w in (*tile.before, tile.write) for r in reads_of(w)):
        return False
    seen = [r for w in tile.after for r in reads_of(w) if r.tensor in places]
    return all(_is_cell(r.tensor, r.subscripts, places[r.tensor]) for r in seen)


def _gathers(write: Write) -> bool:
    """Whether some subscript is data."""
    subscripts = [s for c in write.cells for s in c.subscripts] + [s for r in reads_of(write) for s in r.subscripts]
    return any(True for _ in reads(*subscripts))
