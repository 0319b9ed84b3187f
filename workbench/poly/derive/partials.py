"""Partial results: a reduction's contributions collected apart for each iteration of some loops, then combined.

    for k_o: for k_i: C(m) += …
→   for k_o: { C_rf(k_o, m) = 0;  for k_i: C_rf(k_o, m) += … };  for k_o: C(m) += C_rf(k_o, m)
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.errors import ScheduleError
from workbench.lang.algebra.identities import identity
from workbench.lang.dtypes import INT32
from workbench.lang.expr import Expr, Index, Read
from workbench.lang.operator import Monoid
from workbench.poly.derive.deriving import Body, body_of, changed, fresh_ids, statement
from workbench.poly.derive.recomputation import iteration_names, local_array, localised
from workbench.poly.programs.program import Array, Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.regions.regions import Around
from workbench.poly.sets import isl
from workbench.poly.sets.names import unique
from workbench.records import record


@record
class Partials:
    """`user` collects into `arrays`, which `neutral` begins and `combining` adds to the result.

    `cells` names the dimensions of the result in which an iteration touches more than one place.
    """

    arrays: tuple[Array, ...]
    user: ProgramStatement
    neutral: ProgramStatement
    combining: ProgramStatement
    times: tuple[str, ...]
    cells: tuple[str, ...]


@isl.guarded
def adds_up(program: Program, tree: Tree, user: ProgramStatement, depth: int) -> bool:
    """Whether several iterations of the last of `depth` loops add to one cell."""
    write = user.writes[0]
    touched = Around(program, tree, depth).cells([(user, write)])
    assert touched is not None
    by_cell = isl.Map.from_range(touched).move_dims(isl.dim.in_, 0, isl.dim.out, 0, touched.dim(isl.dim.set))
    iterations = by_cell.move_dims(isl.dim.out, 0, isl.dim.in_, depth - 1, 1)
    return not iterations.is_single_valued()


@isl.guarded
def with_partials(
    program: Program, tree: Tree, user: ProgramStatement, depth: int, names: Mapping[str, str]
) -> Partials:
    """Partial results of an update for each iteration of the `depth` loops around it, in arrays of these names."""
    reduction = user.reduction
    assert reduction is not None
    subscripts = user.targets[0][1]
    if any(other != subscripts for _, other in user.targets):
        raise ScheduleError(f"the targets of {user.name} are at different cells; partial results need one cell for all")
    around = Around(program, tree, depth)
    times = iteration_names(program, around.loops(user.id))
    cells = _cells(program, subscripts, user.targets[0][0], times)
    local = {name: local_array(program.arrays[name], names[name], len(times)) for name, _ in user.targets}
    arrays = {**program.arrays, **{a.name: a for a in local.values()}}
    touched = around.cells([(user, next(a for a in user.writes if a.array == user.targets[0][0]))])
    assert touched is not None
    space = ((*times, *cells), touched.set_tuple_name("T"))
    place, cell = _indices((*times, *cells)), _indices(cells)
    first, second = fresh_ids(program, 2)
    main = names[user.targets[0][0]]
    neutral = statement(
        program, arrays, (first, f"{main}.init"), space, _beginning(user, local, place, reduction), "neutral"
    )
    values = tuple(Read(a.name, place, a.dtype) for a in local.values())
    targets = tuple((name, cell) for name in local)
    text = f"{_all(user, tuple(local), cells)} {_sign(reduction)} {_all(user, tuple(names.values()), cells)}"
    adding = Body("update", targets, values, reduction, text)
    combining = statement(program, arrays, (second, f"{main}.add"), space, adding, "moves")
    body = localised(body_of(user), local, around.rows(user), own_writes=True)
    free = tuple(c for i, c in enumerate(cells) if not _fixed(touched, depth, i))
    return Partials(tuple(local.values()), changed(program, arrays, user, body), neutral, combining, times, free)


def _fixed(touched: isl.Set, depth: int, position: int) -> bool:
    """Whether an iteration touches a single coordinate in one dimension of the result."""
    rank = touched.dim(isl.dim.set) - depth
    others = touched.project_out(isl.dim.set, depth + position + 1, rank - position - 1)
    others = others.project_out(isl.dim.set, depth, position)
    return isl.Map.from_range(others).move_dims(isl.dim.in_, 0, isl.dim.out, 0, depth).is_single_valued()


def _beginning(
    user: ProgramStatement, local: Mapping[str, Array], place: tuple[Expr, ...], reduction: str | Monoid
) -> Body:
    values = tuple(identity(reduction, i, a.dtype) for i, a in enumerate(local.values()))
    targets = tuple((a.name, place) for a in local.values())
    return Body("initialise", targets, values, reduction, f"{', '.join(a.name for a in local.values())} begins neutral")


def _cells(program: Program, subscripts: tuple[Expr, ...], array: str, times: tuple[str, ...]) -> tuple[str, ...]:
    """Names for the result's dimensions: of the index that runs along it, if one does alone."""
    taken = {*program.symbols, *program.sizes, *times}
    found: list[str] = []
    for position, subscript in enumerate(subscripts):
        hint = subscript.name if isinstance(subscript, Index) else f"{array.lower()}{position}"
        found.append(unique(hint, taken))
        taken.add(found[-1])
    return tuple(found)


def _indices(names: tuple[str, ...]) -> tuple[Expr, ...]:
    return tuple(Index(name, INT32) for name in names)


def _all(user: ProgramStatement, arrays: tuple[str, ...], cells: tuple[str, ...]) -> str:
    inside = f"({', '.join(cells)})" if cells else ""
    return ", ".join(f"{a}{inside}" for a in arrays)


def _sign(reduction: str | Monoid) -> str:
    return f"{reduction.name if isinstance(reduction, Monoid) else reduction}="
