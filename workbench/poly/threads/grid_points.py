"""Instances of a statement on a grid of blocks, enumerated: block, serial loops, thread, as columns of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.errors import LoweringError, WorkbenchError
from workbench.lang.expr import Binary, Call, Const, Expr, Index, Select, Unary
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Loop, Tree, path
from workbench.poly.regions.boxes import written
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.ast_expressions import language_expression
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.timemap import instance, row, row_text
from workbench.records import record

Column = np.ndarray[Any, np.dtype[np.int64]]
MOST_POINTS = 1 << 20
MOST_SLICES = 8
MOST_PIECES = 9
"""Slices of which each costs a few questions; of the loops inside so many the first values are looked at alone."""


@record
class Points:
    """Instances: a column for each dim and, by name, for each loop around the statement; whether these are all."""

    dims: Mapping[str, Column]
    loops: Mapping[str, Column]
    complete: bool

    @property
    def number(self) -> int:
        return len(next(iter({**self.dims, **self.loops}.values()), np.zeros(1)))


@isl.guarded
def grid_points(
    program: Program, tree: Tree, statement: str, most: int = MOST_POINTS, *, first: bool = False
) -> Points:
    """The instances of a statement (by id) in a tree that `on_grid` gave.

    Beyond `most` candidates those in which outer loops have their first, middle and last values, or the `first`; every
    value of thread loops is there.  LoweringError while sizes are symbolic.
    """
    if program.symbols:
        raise LoweringError(f"{program.name} has symbolic sizes: {', '.join(program.symbols)}; bind them")
    own = program.statement(statement)
    loops = path(tree, statement)
    domain = isl.parse_set(own.domain).intersect_params(isl.parse_set(program.context))
    domain = domain.project_out(isl.dim.param, 0, domain.dim(isl.dim.param))
    pieces, complete = _cut(program, domain, own, loops, most, first=first)
    columns = [_columns(piece, own) for piece in pieces]
    dims = {d: np.concatenate([c[d] for c in columns]) for d in own.dims} if columns else {}
    times = {x.name: values(row(x, own, program), dims) for x in loops} if dims or not own.dims else {}
    count = len(next(iter(dims.values()))) if dims else 1
    return Points(dims, {n: np.broadcast_to(v, (count,)) for n, v in times.items()}, complete)


def _cut(
    program: Program, domain: isl.Set, own: ProgramStatement, loops: tuple[Loop, ...], most: int, *, first: bool
) -> tuple[list[isl.Set], bool]:
    """The domain in one piece, or its slices at some values of outer loops."""
    pieces, complete = [domain], True
    derived = {} if domain.is_empty() else determined(domain, own)
    for loop in loops:
        if sum(_box(p, own, derived) for p in pieces) <= most:
            break
        if is_thread(loop.kind):
            continue
        time = isl.parse_map(f"{{ {instance(own)} -> [{row_text(loop, own, program)}] }}")
        found: list[isl.Set] = []
        for piece in pieces:
            image = time.intersect_domain(piece).range()
            if image.is_empty():
                continue
            low, high = (unpack.python_int(f(0)) for f in (image.dim_min_val, image.dim_max_val))
            few = (high - low + 1) * len(pieces) <= MOST_SLICES
            chosen = range(low, high + 1) if few else sorted({low, (low + high) // 2, high})
            chosen = [low] if first or len(pieces) >= MOST_PIECES else chosen
            complete = complete and len(chosen) == high - low + 1
            found += [piece.intersect(time.intersect_range(isl.parse_set(f"{{ [{v}] }}")).domain()) for v in chosen]
        pieces = found
    return [p for p in pieces if not p.is_empty()], complete


def _bounds(domain: isl.Set) -> list[tuple[int, int]]:
    return [
        (unpack.python_int(domain.dim_min_val(i)), unpack.python_int(domain.dim_max_val(i)))
        for i in range(domain.dim(isl.dim.set))
    ]


def _box(domain: isl.Set, own: ProgramStatement, derived: Mapping[str, Expr]) -> int:
    """Candidates for the points of a set, in which some dims follow from the others."""
    if domain.is_empty():
        return 0
    total = 1
    for dim, (low, high) in zip(own.dims, _bounds(domain), strict=True):
        total *= 1 if dim in derived else high - low + 1
    return total


def _columns(domain: isl.Set, own: ProgramStatement) -> dict[str, Column]:
    """The points of a set, one column a dim."""
    if not own.dims:
        return {}
    derived = determined(domain, own)
    free = [i for i, d in enumerate(own.dims) if d not in derived]
    ranges = [np.arange(low, high + 1, dtype=np.int64) for low, high in (_bounds(domain)[i] for i in free)]
    grids = np.meshgrid(*ranges, indexing="ij")
    columns: dict[str, Any] = {own.dims[i]: g.ravel() for i, g in zip(free, grids, strict=True)}
    count = int(np.prod([len(r) for r in ranges]))
    for dim in reversed(derived):
        columns[dim] = np.broadcast_to(values(derived[dim], columns), (count,))
    inside = np.broadcast_to(values(_condition(domain, own), columns), (count,)).astype(bool)
    return {d: columns[d][inside] for d in own.dims}


def determined(domain: isl.Set, own: ProgramStatement) -> dict[str, Expr]:
    """Dims that the dims after them, and those not among these, leave one value: the value."""
    found: dict[str, Expr] = {}
    for dim in own.dims:
        names = {f"x{i}'": d for i, d in enumerate(own.dims) if d not in found and d != dim}
        points = domain.reset_tuple_id()
        for i in reversed(range(len(own.dims))):
            if own.dims[i] in found:
                points = points.project_out(isl.dim.set, i, 1)
        left = [d for d in own.dims if d not in found]
        for name, other in names.items():
            position = left.index(other)
            left.pop(position)
            count = points.dim(isl.dim.param)
            points = points.move_dims(isl.dim.param, count, isl.dim.set, position, 1)
            points = points.set_dim_name(isl.dim.param, count, name)
        low = points.dim_min(0)
        if names and low.is_equal(points.dim_max(0)):
            found[dim] = written(low, points.params(), names)
    return found


def _condition(domain: isl.Set, own: ProgramStatement) -> Expr:
    """Whether a point is in a set, over the dims."""
    names = {f"x{i}'": d for i, d in enumerate(own.dims)}
    points = domain.reset_tuple_id().move_dims(isl.dim.param, 0, isl.dim.set, 0, len(own.dims))
    for i, name in enumerate(names):
        points = points.set_dim_name(isl.dim.param, i, name)
    build = isl.AstBuild.from_context(isl.parse_set("{ : }"))
    return language_expression(build.expr_from_set(points.params()), names)


def values(expr: Expr, columns: Mapping[str, Any]) -> Any:
    """An integer expression over columns; WorkbenchError for one that reads data."""
    match expr:
        case Const(value, _):
            return np.int64(int(value))
        case Index(name, _):
            return columns[name]
        case Unary("-", operand, _):
            return -values(operand, columns)
        case Unary("!", operand, _):
            return np.logical_not(values(operand, columns))
        case Binary(op, left, right, _) if op in _BINARY:
            return _BINARY[op](values(left, columns), values(right, columns))
        case Call("min" | "max" as which, arguments, _):
            return (np.minimum if which == "min" else np.maximum).reduce(
                np.broadcast_arrays(*(values(a, columns) for a in arguments))
            )
        case Select(condition, then, otherwise, _):
            return np.where(*(values(e, columns) for e in (condition, then, otherwise)))
    raise WorkbenchError(f"{expr} depends on data, not on loops alone")


_BINARY: dict[str, Any] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.floor_divide, "%": np.mod, "<": np.less,
    "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
    "&&": np.logical_and, "||": np.logical_or,
}  # fmt: skip
