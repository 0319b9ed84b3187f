"""The iteration at which an instance is first needed, or last supplied: rows that bring it there.

isl finds them as a lexicographic minimum (maximum) over the iterations that read (write) the same cells.
"""

from __future__ import annotations

from functools import reduce

from workbench.errors import ScheduleError
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Call, Expr
from workbench.poly import isl, unpack
from workbench.poly.ast_expressions import expression
from workbench.poly.localising import Group, needed
from workbench.poly.program import Access, Program, ProgramStatement
from workbench.poly.regions import Around
from workbench.poly.tree import Tree

Rows = dict[str, tuple[Expr, ...]]


@isl.guarded
def first_needs(program: Program, tree: Tree, group: Group, users: tuple[str, ...], depth: int) -> Rows:
    """For each statement of the group: the first iteration of the `depth` loops in which users (ids) need it.

    ScheduleError where that is no single expression, or where nothing needs a statement.
    """
    around = Around(program, tree, depth)
    wanted = needed(around, group, [program.statement(s) for s in users], exactly=True)
    return {s.id: _rows(program, s, wanted[s.id].reverse().lexmin(), "first needed") for s in group.statements}


@isl.guarded
def last_supplies(
    program: Program, tree: Tree, statements: tuple[str, ...], producers: tuple[str, ...], depth: int
) -> Rows:
    """For each statement: the last iteration of the `depth` loops in which a producer (id) writes what it reads.

    One that reads nothing of them (an initialisation) comes with the first of the others that touches its cell.
    """
    around = Around(program, tree, depth)
    own, making = ([program.statement(s) for s in ids] for ids in (statements, producers))
    supplied = {s.id: _supplied(around, s, making) for s in own}
    last = {s: found.lexmax() for s, found in supplied.items() if found is not None}
    for s in own:
        if s.id not in last:
            last[s.id] = _with_cell(program, s, [(program.statement(o), m) for o, m in last.items()])
    return {s.id: _rows(program, s, last[s.id], "last supplied") for s in own}


def _supplied(around: Around, s: ProgramStatement, making: list[ProgramStatement]) -> isl.Map | None:
    """Instances to the iterations that write a cell they read."""
    found = []
    for a in s.reads:
        if a.accumulates:
            continue
        for producer in making:
            for write in producer.writes:
                if write.array == a.array:
                    pairs = _relation(around.program, a).apply_range(_relation(around.program, write).reverse())
                    found.append(pairs.apply_range(around.times(producer)))
    return reduce(isl.Map.union, found) if found else None


def _with_cell(program: Program, s: ProgramStatement, others: list[tuple[ProgramStatement, isl.Map]]) -> isl.Map:
    found = []
    for other, last in others:
        for a in s.writes:
            for b in other.writes:
                if a.array == b.array:
                    same = _relation(program, a).apply_range(_relation(program, b).reverse())
                    found.append(same.apply_range(last))
    if not found:
        raise ScheduleError(f"{s.name} reads nothing that is computed there")
    return reduce(isl.Map.union, found).lexmin()


def _relation(program: Program, access: Access) -> isl.Map:
    return isl.parse_map(access.relation).intersect_params(isl.parse_set(program.context))


def _rows(program: Program, s: ProgramStatement, times: isl.Map, what: str) -> tuple[Expr, ...]:
    """A single-valued relation from instances to iterations as expressions over the dims."""
    if times.is_empty():
        raise ScheduleError(f"{s.name} is not {what} anywhere in that loop")
    rows = tuple(_row(times, s, position) for position in range(times.dim(isl.dim.out)))
    return rows


def _row(times: isl.Map, s: ProgramStatement, position: int) -> Expr:
    depth, rank = len(s.dims), times.dim(isl.dim.out)
    own = times.project_out(isl.dim.out, position + 1, rank - position - 1).project_out(isl.dim.out, 0, position)
    points = own.wrap().flatten().reset_tuple_id()
    first = points.dim(isl.dim.param)
    points = points.move_dims(isl.dim.param, first, isl.dim.set, 0, depth)
    names = {f"d{i}'": dim for i, dim in enumerate(s.dims)}
    for i, name in enumerate(names):
        points = points.set_dim_name(isl.dim.param, first + i, name)
    return _written(points.dim_min(0).coalesce(), names, s)


def _written(value: isl.PwAff, names: dict[str, str], s: ProgramStatement) -> Expr:
    """The function as one expression: one piece, or the largest or smallest of all of them."""
    domain = value.domain()
    whole = unpack.affine_pieces(value.gist(domain))
    build = isl.AstBuild.from_context(isl.Set.universe(domain.get_space()))
    exprs = tuple(expression(build.expr_from_pw_aff(piece), names) for piece in whole)
    if len(exprs) == 1:
        return exprs[0]
    for name, together in (("max", isl.PwAff.max), ("min", isl.PwAff.min)):
        if value.is_equal(reduce(together, whole).intersect_domain(domain)):
            return Call(name, exprs, INT64)
    raise ScheduleError(
        f"the iteration in which {s.name} belongs there is no single expression of its indices; another loop may do"
    )
