"""Multi-buffering: buffers of several iterations at once, the storage of one iteration, a few times over."""

from __future__ import annotations

from dataclasses import replace

from workbench.errors import ScheduleError
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT32, INT64
from workbench.lang.expr import Binary, Const, Expr, integer, substitute
from workbench.poly.derive.layouts import Cell, redirected
from workbench.poly.programs.affine import NotAffine, affine_text
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.programs.tree import Tree, path
from workbench.poly.regions.boxes import coordinate
from workbench.poly.regions.storage import Storage, place_of
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, prefix, row


def multi_buffered(
    program: Program, tree: Tree, name: str, count: int
) -> tuple[Array, tuple[ProgramStatement, ...]]:
    """The array with the storage of `count` iterations of its innermost loop, used in turn, and the statements changed.

    Iteration t has slot `t % count`; inside it cells are counted from where the iteration's storage begins.
    """
    array = program.arrays[name]
    storage = place_of(program, tree, name)
    if storage is None or not array.times or len(storage.home) != array.times:
        raise ScheduleError(f"{name} is not the buffer of one iteration of a loop, or the loops around have changed")
    _require_same_loops(program, tree, array)
    kept = {position: (low, extent) for position, low, extent in storage.kept}
    last = array.times - 1
    cells = range(array.times, array.rank)
    extent: tuple[Expr, ...] = (Const(count, INT64), *(kept[p][1] if p in kept else Const(1, INT64) for p in cells))
    zeros = tuple(Const(0, INT64) for _ in extent)
    made = replace(
        array, lower=(*array.lower[:last], *zeros), extent=(*array.extent[:last], *extent), times=last,
        strides=tuple(Const(0, INT32) for _ in range(array.rank)), padding=(),
    )  # fmt: skip

    def place(cell: Cell) -> Cell:
        inside = tuple(_relative(cell, p, storage, kept) for p in cells)
        slot = simplify(Binary("%", cell[last], integer(count), INT32), INT32)
        return (*cell[:last], slot, *inside)

    return made, tuple(redirected(program, made, s, place) for s in program.statements)


def _relative(cell: Cell, position: int, storage: Storage, kept: dict[int, tuple[Expr, Expr]]) -> Expr:
    """A coordinate counted from where the iteration's storage begins."""
    if position not in kept:
        return Const(0, INT32)
    known = {**dict(zip(storage.home, cell, strict=False)), **{coordinate(d): e for d, e in enumerate(cell)}}
    low = substitute(kept[position][0], known)
    return simplify(Binary("-", cell[position], low, INT32), INT32)


def _require_same_loops(program: Program, tree: Tree, array: Array) -> None:
    """The loops around the buffer are still those whose iterations its cells are named after."""
    for own in program.statements:
        for access in own.accesses:
            if access.array != array.name:
                continue
            around = path(tree, own.id)
            for position in range(array.times):
                if not _same(program, own, row(around[position], own, program), access.subscripts[position]):
                    raise ScheduleError(f"the loops around {array.name} have changed since it was made")


def _same(program: Program, own: ProgramStatement, iteration: Expr, named: Expr) -> bool:
    """Whether two expressions are equal in each instance: a copy of a copy has dims of its own for what it copies."""
    first, second = simplify(iteration, INT32), simplify(named, INT32)
    if first == second:
        return True
    try:
        differing = f"{affine_text(first)} != {affine_text(second)}"
    except NotAffine:
        return False
    instances = isl.parse_set(f"{prefix(program)}{{ {instance(own)} : {differing} }}")
    return isl.parse_set(own.domain).intersect(instances).is_empty()
