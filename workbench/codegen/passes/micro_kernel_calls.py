"""Parts of a nest that a micro-kernel executes: the call, and the loops where a block is not whole.

An instruction in lanes is no call: its loop goes into the write, which the register tile around keeps in registers.
Where operands do not lie as an instruction for tiles takes them, the loops stay.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.codegen.nest.nest import (
    Cell,
    For,
    Group,
    If,
    Invoke,
    Nest,
    Write,
    children,
    map_write,
    rebuild,
    writes,
)
from workbench.codegen.passes.register_tiles.accumulators import chain
from workbench.errors import CodegenError
from workbench.lang.algebra.normal_form import constant, depends, simplify
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Index, conjunction, substitute
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, statements
from workbench.schedules.kernels.lane_instructions import LaneInstruction
from workbench.schedules.kernels.matching import Fit, Work, fit
from workbench.schedules.kernels.micro_kernels import MicroKernel, registered
from workbench.schedules.kernels.tile_instructions import TileInstruction
from workbench.schedules.kernels.warp_instructions import WarpInstruction


def invoked(nest: Nest, program: Program, tree: Tree) -> Nest:
    """The nest with calls in place of what `replace` marked; `program` has its arrays as they are stored."""
    for kernel, loop, ids in _marked(tree):
        nest = _replaced(nest, program, kernel, loop, ids)
    return nest


def _marked(tree: Tree) -> list[tuple[str, str, frozenset[str]]]:
    """(micro-kernel, outermost loop, statements) of every marked part."""
    match tree:
        case Mark(ExecutedBy(kernel), Band(loops, child)):
            if isinstance(registered(kernel), WarpInstruction):
                return []  # of a warp, which processors have not
            return [(kernel, loops[0].name, frozenset(statements(child)))]
        case Mark(_, child) | Band(_, child):
            return _marked(child)
        case Sequence(parts):
            return [x for part in parts for x in _marked(part)]
    return []


def _replaced(nest: Nest, program: Program, kernel: str, loop: str, ids: frozenset[str]) -> Nest:
    if isinstance(nest, For) and nest.loop == loop and {w.statement for w in writes(nest)} <= ids:
        return _call(nest, program, kernel)
    return rebuild(nest, tuple(_replaced(child, program, kernel, loop, ids) for child in children(nest)))


def _call(nest: For, program: Program, name: str) -> Nest:
    kernel = registered(name)
    found = chain(nest)
    if isinstance(kernel, LaneInstruction):
        return nest if found is None else _grouped(nest, found, kernel)
    match = _fitting(found, program, kernel)
    if isinstance(match, str) and isinstance(kernel, TileInstruction):
        return nest
    if found is None or isinstance(match, str):
        raise CodegenError(f"{name} cannot execute loop {nest.loop}: {match}")
    return _guarded(nest, *found, match, name, dict(kernel.sizes), program)


def _fitting(found: tuple[list[For], Write] | None, program: Program, kernel: MicroKernel) -> Fit | str:
    """How loops around a write fit a micro-kernel, or what stands against it."""
    if found is None:
        return "guards or other statements stand inside"
    loops, write = found
    variables = tuple(x.variable for x in loops)
    for inner in loops:
        if any(depends(bound, v) for bound in (inner.lower, inner.upper) for v in variables) or inner.step != 1:
            return f"the bounds of {inner.loop} move inside it"
    work = Work((write.cells[0].array, write.cells[0].subscripts), write.values[0], write.reduction, variables)
    return fit(kernel, work, program.arrays)


def _grouped(nest: For, found: tuple[list[For], Write], kernel: LaneInstruction) -> Nest:
    """The write of all iterations of a loop at once, where these are as many as the instruction takes."""
    (loop, *others), write = found
    extent = simplify(Binary("-", loop.upper, loop.lower, INT64))
    if others or loop.step != 1 or constant(extent) not in (None, kernel.group):
        return nest
    first = {loop.variable: simplify(Binary("+", loop.lower, Index(loop.variable, INT64), INT64))}
    moved = write if constant(loop.lower) == 0 else map_write(write, lambda e: substitute(e, first))
    grouped = replace(moved, group=Group(kernel.name, loop.variable, loop.loop, kernel.group))
    if constant(extent) is not None:
        return grouped
    return If(Binary("==", extent, Const(kernel.group, INT64), BOOL), grouped, nest)


def _guarded(
    nest: For, loops: list[For], write: Write, match: Fit, name: str, fixed: dict[str, int], program: Program
) -> Nest:
    """The call, where the block has the sizes the kernel is written for."""
    lowest = {x.variable: x.lower for x in loops}
    extents = {x.variable: simplify(Binary("-", x.upper, x.lower, INT64)) for x in loops}
    arrays = tuple(
        (Cell(a, tuple(simplify(substitute(s, lowest)) for s in subs), program.arrays[a].dtype), strides)
        for (a, subs), strides in match.arrays
    )
    sizes = tuple(Const(fixed[n], INT64) if n in fixed else extents[m] for n, m in match.sizes)
    call = Invoke(name, arrays, sizes, nest)
    whole: list[Expr] = []
    for size, mover in match.sizes:
        if size in fixed and constant(extents[mover]) != fixed[size]:
            if constant(extents[mover]) is not None:
                return nest
            whole.append(Binary("==", extents[mover], Const(fixed[size], INT64), BOOL))
    return If(conjunction(whole), call, nest) if whole else call
