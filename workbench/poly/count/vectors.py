"""How full the vectors of a schedule are: rests of tiles and short rows leave lanes without work."""

from __future__ import annotations

from fractions import Fraction

from workbench.errors import ScheduleError
from workbench.poly.count.counting import cardinality, points
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, path
from workbench.poly.sets import isl
from workbench.poly.time.timemap import instance, row_text


@isl.guarded
def lanes_filled(program: Program, tree: Tree, statement: str, lanes: int) -> Fraction | None:
    """The part of the lanes that compute an instance of a statement (by id), of all lanes of all its vectors.

    A vector begins at each multiple of so many `lanes` of its loop.  None where no loop around it is in lanes, or where
    a row is not affine.  Exact; LoweringError while sizes are symbolic.
    """
    own, around = program.statement(statement), path(tree, statement)
    if not any(loop.kind == "vector" for loop in around):
        return None
    instances = points(program, statement)
    try:
        rows = [(loop.kind, row_text(loop, own, program)) for loop in around]
    except ScheduleError:
        return None
    times = ", ".join(f"floor(({text})/{lanes})" if kind == "vector" else text for kind, text in rows)
    vectors = isl.parse_set(own.domain).apply(isl.parse_map(f"{{ {instance(own)} -> [{times}] }}"))
    return Fraction(instances, lanes * cardinality(vectors)) if instances else None
