"""The iteration at which an instance is first needed, or last supplied: rows that bring it there.

isl finds them as a lexicographic minimum (maximum) over the iterations that read (write) the same cells.
"""

from __future__ import annotations

from functools import reduce

from workbench.errors import ScheduleError
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Call, Expr
from workbench.poly.derive.recomputation import Group, flows_through, needed
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.regions.regions import Around
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.ast_expressions import language_expression

Rows = dict[str, tuple[Expr, ...]]


@isl.guarded
def first_needs(program: Program, tree: Tree, group: Group, users: tuple[str, ...], depth: int) -> Rows:
    """For each statement of the group: the first iteration of the `depth` loops in which users (ids) need it.

    Statements that nothing needs have none.  ScheduleError where that is no single expression.
    """
    around = Around(program, tree, depth)
    wanted = needed(around, group, [program.statement(s) for s in users], exactly=True)
    return {
        s.id: _rows(program, s, wanted[s.id].reverse().lexmin(), "first needed")
        for s in group.statements
        if s.id in wanted
    }


@isl.guarded
def last_supplies(
    program: Program, tree: Tree, statements: tuple[str, ...], producers: tuple[str, ...], depth: int
) -> Rows:
    """For each statement: the last iteration of the `depth` loops in which a producer (id) writes what it reads.

    One that reads nothing of them (an initialisation) comes with the first of the others that uses its value.
    """
    around = Around(program, tree, depth)
    arrays = tuple(dict.fromkeys(a.array for s in producers for a in program.statement(s).writes))
    last: dict[str, isl.Map] = {}
    for source, target, relation in flows_through(program, arrays):
        if source in producers and target in statements:
            times = relation.reverse().apply_range(around.times(program.statement(source)))
            last[target] = last[target].union(times) if target in last else times
    last = {s: times.lexmax() for s, times in last.items()}
    own = [program.statement(s) for s in statements]
    if not last:
        raise ScheduleError(f"{own[0].name} reads nothing that is computed there")
    for s in (*own, *reversed(own)):
        if s.id not in last:
            last |= _beside(program, s, last)
    left = [s.name for s in own if s.id not in last]
    if left:
        raise ScheduleError(f"{left[0]} has nothing to do with what is computed there")
    return {s.id: _rows(program, s, last[s.id], "last supplied") for s in own}


def _beside(program: Program, s: ProgramStatement, last: dict[str, isl.Map]) -> dict[str, isl.Map]:
    """A statement after the last of the others whose values it uses, or else before the first that uses its values."""
    arrays = tuple(dict.fromkeys(a.array for a in s.accesses))
    through = flows_through(program, arrays)
    after = [m.reverse().apply_range(last[a]) for a, b, m in through if b == s.id and a in last]
    if after:
        return {s.id: reduce(isl.Map.union, after).lexmax()}
    before = [m.apply_range(last[b]) for a, b, m in through if a == s.id and b in last]
    return {s.id: reduce(isl.Map.union, before).lexmin()} if before else {}


def _rows(program: Program, s: ProgramStatement, times: isl.Map, what: str) -> tuple[Expr, ...]:
    """A single-valued relation from instances to iterations as expressions over the dims."""
    if times.is_empty():
        raise ScheduleError(f"{s.name} is not {what} anywhere in that loop")
    return tuple(_row(times, s, position) for position in range(times.dim(isl.dim.out)))


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
    exprs = tuple(language_expression(build.expr_from_pw_aff(piece), names) for piece in whole)
    if len(exprs) == 1:
        return exprs[0]
    for name, together in (("max", isl.PwAff.max), ("min", isl.PwAff.min)):
        if value.is_equal(reduce(together, whole).intersect_domain(domain)):
            return Call(name, exprs, INT64)
    raise ScheduleError(
        f"the iteration in which {s.name} belongs there is no single expression of its indices; another loop may do"
    )
