"""Does a part of a schedule compute what a warp's instruction computes, with each cell on the lane that holds it?"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.lang.expr import Binary, Const, Expr, Index, index_names
from workbench.poly.programs.program import Array, ProgramStatement
from workbench.poly.programs.tree import Loop
from workbench.records import record
from workbench.schedules.kernels.matching import unified
from workbench.schedules.kernels.warp_instructions import AXES, LANES, WarpInstruction

LONGEST = 512


@record
class WarpFit:
    """Which dims of a statement are the instruction's rows, columns and contributions, and how many of each the part
    has (multiples of the instruction's); the arrays of its operands."""

    dims: tuple[str, str, str]
    spans: tuple[int, int, int]
    left: str
    right: str


def warp_fit(
    kernel: WarpInstruction, s: ProgramStatement, inner: tuple[Loop, ...], around: tuple[Loop, ...],
    arrays: Mapping[str, Array],
) -> WarpFit | str:  # fmt: skip
    """How the loops `inner` inside the loops `around` fit, or what stands against it."""
    if s.kind != "update" or s.reduction != "+" or len(s.targets) != 1:
        return f"{s.name} is no sum"
    lanes = {x.kind: x for x in around if x.kind in AXES}
    if len(lanes) != len(AXES):
        return f"{kernel.name} is executed by a warp: bind loops of {AXES['thread.y']} and {AXES['thread.x']} " + (
            "iterations to thread.y and thread.x"
        )
    own = (*inner, *lanes.values())
    movers = {d for x in own for d in index_names(x.row(s.id)) & {*s.dims}}
    reasons = [f"{s.name} does not hold {kernel.definition.strip()}"]
    for found in unified(kernel.statement.values[0], s.values[0], {}):
        places = found["A"][0], found["B"][0]
        dims = _dims([_moving(array, at, arrays) for array, at in (*places, s.targets[0])], movers)
        if dims is None:
            continue
        placed = _placed(kernel, s, dims, own, lanes, tuple(x for x in around if x not in lanes.values()))
        if not isinstance(placed, str):
            return WarpFit(dims, placed, places[0][0], places[1][0])
        reasons.append(placed)
    return reasons[min(1, len(reasons) - 1)]


def _moving(array: str, subscripts: tuple[Expr, ...], arrays: Mapping[str, Array]) -> set[str]:
    """The dims that a cell moves with, but for the iterations that its buffer belongs to."""
    return {d for e in subscripts[arrays[array].times :] for d in index_names(e)}


def _dims(found: list[set[str]], movers: set[str]) -> tuple[str, str, str] | None:
    """(rows, columns, contributions) among the dims that move; None unless there is one of each and no other."""
    left, right, cell = found
    groups = (movers & left & cell - right, movers & right & cell - left, movers & left & right - cell)
    if any(len(g) != 1 for g in groups) or len(movers) != 3:
        return None
    (rows,), (columns,), (depth,) = groups
    return rows, columns, depth


def _placed(
    kernel: WarpInstruction, s: ProgramStatement, dims: tuple[str, str, str], own: tuple[Loop, ...],
    lanes: Mapping[str, Loop], outer: tuple[Loop, ...],
) -> tuple[int, int, int] | str:  # fmt: skip
    """How far the part goes along each dim; a text where a cell is not on its lane."""
    rows = {x.name: x.row(s.id) for x in own}
    for lane in range(LANES):
        for register in range(kernel.result.registers):
            row, column = kernel.result.place(lane, register)
            at = dict.fromkeys(s.dims, 0) | {dims[0]: row, dims[1]: column}
            x, y = (affine_value(lanes[axis].row(s.id), at) for axis in ("thread.x", "thread.y"))
            if x is None or y is None or x + AXES["thread.x"] * y != lane:
                return f"{s.name} at {dims[0]} = {row}, {dims[1]} = {column} belongs on lane {lane} of {kernel.name}"
    spans = []
    for dim, step in zip(dims, kernel.shape, strict=True):
        moving = [r for r in rows.values() if dim in index_names(r)]
        span = _span(moving, dim, step)
        others = [x.row(s.id) for x in outer if dim in index_names(x.row(s.id))]
        if span is None or any(
            affine_value(r, {dim: at}) != affine_value(r, {dim: 0}) for r in others for at in range(span)
        ):
            return f"the loops do not run over blocks of {step} along {dim}"
        spans.append(span)
    return spans[0], spans[1], spans[2]


def _span(rows: list[Expr], dim: str, step: int) -> int | None:
    """After how many values of a dim the loops over it begin anew; None if that is no multiple of the step."""
    first = [affine_value(r, {dim: 0}) for r in rows]
    if None in first:
        return None
    for span in range(step, LONGEST + 1, step):
        if [affine_value(r, {dim: span}) for r in rows] == first:
            found = {tuple(affine_value(r, {dim: at}) for r in rows) for at in range(span)}
            return span if len(found) == span else None
    return None


def affine_value(expr: Expr, names: Mapping[str, int]) -> int | None:
    """The value of quasi-affine arithmetic; None where something else stands in it."""
    match expr:
        case Const(int(value), _):
            return value
        case Index(name, _):
            return names.get(name)
        case Binary(op, a, b, _):
            x, y = affine_value(a, names), affine_value(b, names)
            if x is None or y is None or (op in "/%" and y == 0):
                return None
            match op:
                case "+":
                    return x + y
                case "-":
                    return x - y
                case "*":
                    return x * y
                case "/":
                    return x // y
                case "%":
                    return x % y
    return None
