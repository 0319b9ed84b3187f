"""Parts of a kernel that a warp's instruction executes: `replace` marked them, and each lane holds its cells.

    m_y < 8 (thread.y), n_x < 4 (thread.x): m_g, n_g, m_h, n_v, k_i: C_own(…) += A_tile(m, k) * B_tile(k, n)
    →  all lanes: wb_mma_m16n8k16_bf16_32x64x16(C_own, &A_tile(m, k), strides, &B_tile(k, n), strides, sizes)

Operands lie where every lane can read them; the result in the registers of the lanes.  Partial blocks are the same
call, which takes zeros for what is beyond their sizes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

from workbench.codegen.cuda.grid.launch_extents import Extents
from workbench.codegen.cuda.grid.thread_arrays import thread_owned, without
from workbench.codegen.cuda.grid.wide_accesses import offset
from workbench.codegen.nest.nest import (
    Block,
    Cell,
    Define,
    For,
    If,
    Invoke,
    Nest,
    Write,
    children,
    rebuild,
    walk,
    writes,
)
from workbench.codegen.passes.register_tiles.accumulators import inlined
from workbench.lang.algebra.normal_form import constant, growth, simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, reads, substitute
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, path
from workbench.poly.regions.extents import upper_bounds
from workbench.poly.regions.storage import elements
from workbench.records import record
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_fits import WarpFit, affine_value, warp_fit
from workbench.schedules.kernels.warp_instructions import AXES, WarpInstruction
from workbench.target import Target

ZERO: Expr = Const(0, INT64)


@record
class Marked:
    """A marked part: the instruction, the statement (id) and the loops that it executes."""

    kernel: WarpInstruction
    statement: str
    loops: tuple[Loop, ...]


def parts_of_warps(tree: Tree) -> Iterator[Marked]:
    """The parts that instructions of warps are to execute."""
    match tree:
        case Mark(ExecutedBy(name), Band(loops, Leaf(statement))):
            kernel = registered(name)
            if isinstance(kernel, WarpInstruction):
                yield Marked(kernel, statement, loops)
        case Mark(_, child) | Band(_, child):
            yield from parts_of_warps(child)
        case Sequence(parts):
            for part in parts:
                yield from parts_of_warps(part)


def with_instructions(nest: Nest, source: Program, stored: Program, tree: Tree, target: Target) -> Nest:
    """The nest with calls where the target has the instruction; `stored` has the arrays as they are stored."""
    capability = tuple(map(int, target.device.capability.split(".")))
    if not target.language.warps:
        return nest
    for part in parts_of_warps(tree):
        sites = list(_sites(nest, part.statement)) if capability >= part.kernel.capability else []
        if len(sites) == 1 and (call := _call(sites[0], part, source, stored, tree)) is not None:
            nest = _exchanged(nest, sites[0], call)
    return nest


def executable(nest: Nest, stored: Program, extents: Extents) -> bool:
    """Whether blocks consist of warps whose lanes are as the instructions want them, and hold their results."""
    found = {_result(n) for n in walk(nest) if isinstance(n, Invoke)}
    arrays = {name: stored.arrays[name] for name in found}
    in_warps = extents.block[:2] == (AXES["thread.x"], AXES["thread.y"])
    return in_warps and thread_owned(nest, arrays, extents).keys() == found


def partial_results(nest: Nest) -> frozenset[str]:
    """The results of which some cells may not be there: nobody else gives these a first value."""
    calls = [n for n in walk(nest) if isinstance(n, Invoke)]
    return frozenset(_result(c) for c in calls if c.sizes[3:5] != c.sizes[:2])


def _result(call: Invoke) -> str:
    return next(writes(call.body)).cells[0].array


def _sites(nest: Nest, statement: str) -> Iterator[For]:
    """The outermost loops over lanes around nothing but a statement."""
    if isinstance(nest, For) and nest.kind in AXES and {w.statement for w in writes(nest)} == {statement}:
        yield nest
    else:
        for child in children(nest):
            yield from _sites(child, statement)


def _exchanged(nest: Nest, old: Nest, new: Nest) -> Nest:
    return new if nest is old else rebuild(nest, tuple(_exchanged(c, old, new) for c in children(nest)))


def _inside(nest: Nest, loops: tuple[For, ...] = ()) -> tuple[tuple[For, ...], Write] | None:
    """The loops down to the first write, and this write with definitions substituted."""
    match nest:
        case For():
            return _inside(nest.body, (*loops, nest))
        case If():
            return _inside(nest.then, loops)
        case Define(variable, value, body):
            return _inside(inlined(body, variable, value), loops)
        case Block((first, *_)):
            return _inside(first, loops)
        case Write():
            return loops, nest
    return None


def _call(site: For, part: Marked, source: Program, stored: Program, tree: Tree) -> Nest | None:
    """The loops over lanes around the call; None where the part is not what the instruction needs."""
    own, bounds, found = source.statement(part.statement), upper_bounds(source, part.statement), _inside(site)
    fit = warp_fit(part.kernel, own, part.loops, path(tree, own.id)[: -len(part.loops)], source.arrays)
    if bounds is None or found is None or not isinstance(fit, WarpFit):
        return None
    loops, write = found
    lanes = [x for x in loops if x.kind in AXES]
    if {x.kind for x in lanes} != set(AXES) or len(lanes) != 2 or len(write.instance) != len(own.dims):
        return None
    at = dict(zip(own.dims, write.instance, strict=True))
    place = _Place(tuple(x.variable for x in loops), tuple(at[d] for d in fit.dims))
    tops = [bounds[d] for d in fit.dims]
    spans = [_clipped(*x) for x in zip(fit.spans, tops, part.kernel.shape, strict=True)]
    operands = [_operand(r, write, stored, place, axes) for r, axes in ((fit.left, (0, 2)), (fit.right, (2, 1)))]
    if place.moved is None or None in operands:
        return None
    left = [_left(top, base, span) for top, base, span in zip(tops, place.base, spans, strict=True)]
    body: Nest = write
    covered = prod(AXES.values())
    for loop in reversed([x for x in loops if x.kind not in AXES]):
        row = next(x for x in part.loops if x.name == loop.loop).row(own.id)
        dim = next(d for d in fit.dims if affine_value(row, {d: 0}) is not None)
        count = len({affine_value(row, {dim: n}) for n in range(fit.spans[fit.dims.index(dim)])})
        body = replace(loop, lower=ZERO, upper=Const(count, INT64), step=1, kind="unroll", body=body)
        covered *= count
    if covered != prod(fit.spans):  # a loop is missing here: it was peeled, or has one iteration
        return None
    sizes = (*(Const(s, INT64) for s in spans), *left)
    call: Nest = Invoke(part.kernel.name, tuple(o for o in operands if o is not None), sizes, body)
    for lane in reversed(lanes):
        call = replace(lane, lower=ZERO, upper=Const(AXES[lane.kind], INT64), step=1, body=call)
    return call if _in_order(write, stored, part.kernel, place, spans, lanes) else None


class _Place:
    """Rows, columns and contributions as functions of the variables of a site: the first ones, and how they move."""

    def __init__(self, variables: tuple[str, ...], where: tuple[Expr, ...]) -> None:
        self.variables = variables
        zeros = dict.fromkeys(variables, ZERO)
        self.base = tuple(simplify(substitute(e, zeros)) for e in where)
        steps = [[growth(e, v) for e in where] for v in variables]
        plain = all(None not in s and sum(map(bool, s)) <= 1 for s in steps)
        self.moved = {v: s for v, s in zip(variables, steps, strict=True)} if plain else None

    def strides(self, address: Expr, axes: tuple[int, int]) -> tuple[int, int] | None:
        """Elements that an address moves on for each step along two of the three; None if it moves otherwise."""
        found = [0, 0, 0]
        for variable, steps in (self.moved or {}).items():
            axis = next((i for i, s in enumerate(steps) if s), None)
            step = growth(address, variable)
            if step is None or (step and axis not in axes):
                return None
            if axis is None:
                continue
            each, rest = divmod(step, steps[axis] or 1)
            if rest or found[axis] not in (0, each):
                return None
            found[axis] = each
        return found[axes[0]], found[axes[1]]


def _operand(
    array: str, write: Write, stored: Program, place: _Place, axes: tuple[int, int]
) -> tuple[Cell, tuple[Expr, ...]] | None:
    """Where an operand begins, and its strides along its rows and columns."""
    own = [r for r in reads(*write.values) if r.tensor == array]
    if len({r.subscripts for r in own}) != 1 or array not in stored.arrays:
        return None
    strides = place.strides(offset(stored.arrays[array], own[0].subscripts, {}), axes)
    if strides is None:
        return None
    zeros = dict.fromkeys(place.variables, ZERO)
    first = tuple(simplify(substitute(s, zeros)) for s in own[0].subscripts)
    return Cell(array, first, own[0].dtype), tuple(Const(s, INT64) for s in strides)


def _clipped(span: int, top: Expr, step: int) -> int:
    """How far the part goes where the whole dim is shorter."""
    number = constant(top)
    return span if number is None else min(span, -(-number // step) * step)


def _left(top: Expr, base: Expr, span: int) -> Expr:
    """How many there are from the first one on; just the span where every part is full."""
    number = constant(top)
    if number is not None and number % span == 0:
        return Const(span, INT64)
    return simplify(Binary("-", top, base, INT64))


def _in_order(
    write: Write, stored: Program, kernel: WarpInstruction, place: _Place, spans: list[int], lanes: list[For]
) -> bool:
    """Whether the result lies in the lanes as the instruction has it: fragment after fragment, row after row."""
    cell, names = write.cells[0], {x.variable for x in lanes}
    thread = tuple(p for p, s in enumerate(cell.subscripts) if getattr(s, "name", "") in names)
    array = without(stored.arrays[cell.array], _numbers(cell, thread))
    rows, columns = spans[0] // kernel.shape[0], spans[1] // kernel.shape[1]
    if constant(elements(array)) != rows * columns * kernel.result.registers or place.moved is None:
        return False
    kept = tuple(s for p, s in enumerate(cell.subscripts) if p not in _numbers(cell, thread))
    address = offset(array, kept, {})
    for variable, steps in place.moved.items():
        if variable not in names and growth(address, variable) != _expected(kernel, steps, columns):
            return False
    return True


def _numbers(cell: Cell, lanes: tuple[int, ...]) -> tuple[int, ...]:
    """The subscripts that only say which thread it is: its lane, and what stands before (its warp)."""
    return tuple(range(max(lanes, default=-1) + 1))


def _expected(kernel: WarpInstruction, steps: list[int | None], columns: int) -> int | None:
    """How far the register moves with a variable that moves rows, columns or contributions so."""
    rows, cells, depth = (s or 0 for s in steps)
    if depth:
        return 0
    registers = kernel.result.registers
    if rows % kernel.shape[0] == 0 and cells % kernel.shape[1] == 0:
        return (rows // kernel.shape[0] * columns + cells // kernel.shape[1]) * registers
    moves = kernel.result.register
    return 1 << moves.index((rows, cells)) if (rows, cells) in moves else None
