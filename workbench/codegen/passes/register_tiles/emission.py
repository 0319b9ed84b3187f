"""A matched register tile as a nest: its reduction around the cells in registers, or in lanes itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.codegen.nest.nest import Block, For, Nest, Write, map_expressions
from workbench.codegen.passes.register_tiles.accumulators import SCALAR, Lane, fresh, registers, scalar_loop
from workbench.codegen.passes.register_tiles.cells import over_cells
from workbench.codegen.passes.register_tiles.partial_lanes import sums_may_end_early
from workbench.codegen.passes.register_tiles.tiles import Tile, cut
from workbench.lang.algebra.normal_form import constant, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, Index, substitute

ABREAST = 4
"""Vectors of partial sums of a single cell: no addition waits for the one before."""


def emit_tile(tile: Tile, lanes: Callable[[Write], int], lane: Lane, used: set[str]) -> Nest:
    """The tile in full and partial versions."""
    vectors = [x for x in (*tile.reductions, *tile.cells) if x.kind == "vector"]
    if lane.variable or not vectors:
        return over_cells(tile, lane, 1, lambda t, d, ln: _sum(t, d, ln, used))
    width = lanes(tile.write)
    if width < 2:
        return over_cells(tile, lane, 1, lambda t, d, ln: _sum(t, d, ln, used))
    if vectors[-1].variable in {x.variable for x in tile.reductions}:
        return over_cells(tile, lane, 1, lambda t, d, ln: _dot(t, d, vectors[-1], width, used))
    return over_cells(tile, lane, width, lambda t, d, ln: _sum(t, d, ln, used))


def _sum(tile: Tile, dims: tuple[For, ...], lane: Lane, used: set[str]) -> Nest:
    """Reduction loops around the unrolled cells, between their first values and what is computed with the last."""
    nest = _each((tile.write,), dims)
    for loop in reversed(tile.reductions):
        nest = replace(loop, body=nest, kind="unroll" if loop.kind == "unroll" else "serial")
    parts = [nest]
    if tile.before:
        parts.insert(0, _each(tile.before, dims))
    if tile.after:
        parts.append(_each(tile.after, dims))
    body = nest if len(parts) == 1 else Block(tuple(parts))
    return registers(tile.write, dims, lane, body, used, loads=not tile.before)


def _each(writes: tuple[Write, ...], dims: tuple[For, ...]) -> Nest:
    """The writes in the unrolled loops over cells."""
    nest: Nest = writes[0] if len(writes) == 1 else Block(writes)
    for loop in reversed(dims):
        nest = replace(loop, body=nest)
    return nest


def _dot(tile: Tile, dims: tuple[For, ...], vector: For, width: int, used: set[str]) -> Nest:
    """The reduction itself runs in lanes: partial sums, then a scalar pass over what is left.

    An instruction (`Group`) adds zeros in lanes that do not exist: its last vector ends early instead.
    """
    others = tuple(x for x in tile.reductions if x is not vector)
    parts, start = [], vector.lower
    if not dims:
        start = cut(vector, width * ABREAST)
        if _turns(vector.lower, start):
            parts.append(_lanes(tile, dims, (replace(vector, upper=start),), width, ABREAST, others, used))
    end = cut(replace(vector, lower=start), width)
    early = sums_may_end_early(tile.write, width)
    whole = [replace(vector, lower=start, upper=end)] if _turns(start, end) else []
    last = [replace(vector, lower=end, limit=vector.upper)] if early and _turns(end, vector.upper) else []
    if whole or last:
        parts.append(_lanes(tile, dims, (*whole, *last), width, 1, others, used))
    if not early and _turns(end, vector.upper):
        scalar = replace(tile, reductions=(*others, scalar_loop(replace(vector, lower=end))))
        parts.append(_sum(scalar, dims, SCALAR, used))
    return parts[0] if len(parts) == 1 else Block(tuple(parts))


def _turns(lower: Expr, upper: Expr) -> bool:
    """Whether a loop may have iterations."""
    return constant(simplify(Binary("-", upper, lower, INT64))) != 0


def _lanes(
    tile: Tile, dims: tuple[For, ...], vectors: tuple[For, ...], width: int, unrolled: int, others: tuple[For, ...],
    used: set[str],
) -> Nest:  # fmt: skip
    """Sums in the same registers over vector loops one after another, the last of which may have a limit."""
    variable = vectors[0].variable
    nest, extra = stripped(tile.write, variable, width, unrolled, used)
    for loop in reversed(dims):
        nest = replace(loop, body=nest)
    if extra is not None:
        nest = replace(extra, body=nest)
    each = tuple(replace(x, body=nest, step=width * unrolled, lanes=width, kind="vector") for x in vectors)
    nest = each[0] if len(each) == 1 else Block(each)
    for loop in reversed(others):
        nest = replace(scalar_loop(loop), body=nest)
    kept_in = (*((extra,) if extra is not None else ()), *dims)
    return registers(tile.write, kept_in, Lane(variable, width), nest, used)


def stripped(nest: Nest, variable: str, width: int, unrolled: int, used: set[str]) -> tuple[Nest, For | None]:
    """The nest shifted by `width * u` and the loop over u, when several vectors are processed at once."""
    if unrolled == 1:
        return nest, None
    name = fresh(f"{variable}.u", used)
    step = Binary("*", Const(width, INT64), Index(name, INT64), INT64)
    moved = Binary("+", Index(variable, INT64), step, INT64)
    shifted = map_expressions(nest, lambda e: substitute(e, {variable: moved}))
    return shifted, For(name, name, Const(0, INT64), Const(unrolled, INT64), nest, 1, "unroll")
