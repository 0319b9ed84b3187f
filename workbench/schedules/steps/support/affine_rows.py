"""`affine` of statements: any affine map from a statement's dims to the loops around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from workbench.errors import OperatorError, ScheduleError, shown
from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Expr, Index, substitute
from workbench.lang.printing.index_text import index_map
from workbench.poly.dependence.questions import statement_id
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Mark, Tree, path
from workbench.poly.programs.tree import Sequence as Parts
from workbench.records import record
from workbench.schedules.arguments import moderate
from workbench.schedules.edit import normal
from workbench.schedules.scheduled_program import Schedule
from workbench.schedules.transform import Transform
from workbench.wording import number_of

WIDEST = 4  # loops of a wavefront that is offered


@record
class AffineRows(Transform):
    """Give statements other dates in the loops around them.

    before → after:  for t: for i: S(t, i)   →   for a: for b: S, with (a, b) = map(t, i)

    `affine({"S": "(t, i) -> (t, t + i)"})`: one coordinate for each loop, over the statement's dims and the sizes; or a
    matrix with a row for each loop and a column for each dim (and one for a constant).  Skew, shift, reverse and
    interchange are special cases (Feautrier 1992).  Each instance needs a date of its own.
    """

    name: ClassVar[str] = "affine_rows"
    maps: tuple[tuple[str, str], ...]

    def apply(self, schedule: Schedule) -> Schedule:
        program, tree = schedule.program, schedule.tree
        for name, text in self.maps:
            own = program.statement(statement_id(program, name))
            rows = coordinates(self, program, own, text)
            around = path(tree, own.id)
            if len(rows) != len(around):
                loops = ", ".join(x.name for x in around)
                stands = f"{name} stands in {number_of(len(around), 'loop')} ({loops})"
                raise ScheduleError(f"{self}: {stands}, not {len(rows)}")
            for loop, row in zip(around, rows, strict=True):
                moderate(self, loop.name, row)
            tree = with_dates(tree, own.id, rows)
        return schedule.with_tree(normal(tree), self)

    @classmethod
    def choices(cls, schedule: Schedule) -> Iterator[AffineRows]:
        """Wavefronts: each loop of a statement also counts those outside it, `(t, i) -> (t, t + i)`."""
        for own in schedule.program.statements:
            around = [x.row(own.id) for x in path(schedule.tree, own.id)]
            names = [row.name for row in around if isinstance(row, Index)]
            if 1 < len(names) <= WIDEST and sorted(names) == sorted(own.dims) and len(names) == len(around):
                rows = (" + ".join(names[: n + 1]) for n in range(len(names)))
                yield cls(((own.name, f"({', '.join(own.dims)}) -> ({', '.join(rows)})"),))

    @classmethod
    def from_arguments(cls, arguments: dict[str, Any]) -> AffineRows:
        return cls(tuple((name, text) for name, text in arguments["maps"]))

    def __str__(self) -> str:
        return f"affine({dict(self.maps)!r})"


def coordinates(step: Transform, program: Program, own: ProgramStatement, text: str) -> tuple[Expr, ...]:
    """The rows that a map states, over the statement's dims."""
    try:
        names, rows = index_map(text, (*program.symbols, *program.sizes))
    except OperatorError as error:
        raise ScheduleError(f"{step}: {error}") from error
    if len(names) != len(own.dims):
        raise ScheduleError(f"{step}: {own.name} has the dims {', '.join(own.dims)}; the map names {len(names)}")
    renamed = {n: Index(d, INT64) for n, d in zip(names, own.dims, strict=True)}
    return tuple(simplify(substitute(row, dict(renamed)), INT64) for row in rows)


def with_dates(tree: Tree, statement: str, rows: tuple[Expr, ...]) -> Tree:
    """The tree with these rows for one statement, outermost loop first."""
    match tree:
        case Band(loops, child) if statement in dict(loops[0].rows):
            own = tuple(
                replace(x, rows=tuple((s, new if s == statement else r) for s, r in x.rows))
                for x, new in zip(loops, rows, strict=False)
            )
            return Band(own, with_dates(child, statement, rows[len(loops) :]))
        case Mark():
            return replace(tree, child=with_dates(tree.child, statement, rows))
        case Parts(children):
            return Parts(tuple(with_dates(c, statement, rows) for c in children))
    return tree


def affine_rows(maps: Mapping[str, Any]) -> AffineRows:
    """The step for texts and matrices, one a statement."""
    if not maps or not all(isinstance(name, str) for name in maps):
        raise ScheduleError('affine expected maps such as {"S": "(t, i) -> (t, t + i)"}')
    texts = {name: value if isinstance(value, str) else _written(value) for name, value in maps.items()}
    return AffineRows(tuple(texts.items()))


def _written(matrix: Any) -> str:
    """A matrix as a map of indices: a row for each loop, a column for each dim, perhaps one for a constant.

    >>> _written([[1, 0], [2, 1]]), _written([[1, 0, 3], [0, -1, 0]])
    ('(i0, i1) -> (i0, 2 * i0 + i1)', '(i0, i1) -> (i0 + 3, -1 * i1)')
    """
    rows = [list(row) if hasattr(row, "__iter__") else [] for row in matrix] if hasattr(matrix, "__iter__") else []
    widths = {len(row) for row in rows}
    numbers = all(hasattr(x, "__index__") for row in rows for x in row)
    if len(widths) != 1 or 0 in widths or not numbers:
        raise ScheduleError(f"affine: {shown(matrix)} is no matrix of whole numbers, a row for each loop")
    (width,) = widths
    names = [f"i{n}" for n in range(min(width, len(rows)))]
    texts = [_sum([int(x) for x in row], names) for row in rows]
    return f"({', '.join(names)}) -> ({', '.join(texts)})"


def _sum(row: list[int], names: list[str]) -> str:
    """One row of a matrix: factors of the names, and then perhaps a constant."""
    terms = [name if x == 1 else f"{x} * {name}" for x, name in zip(row, names, strict=False) if x]
    constants = [str(x) for x in row[len(names) :] if x]
    return " + ".join((*terms, *constants)) or "0"
