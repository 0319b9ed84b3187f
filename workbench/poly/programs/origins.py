"""Which instances of the operator's own program the instances of a scheduled program compute."""

from __future__ import annotations

from workbench.errors import LoweringError
from workbench.poly.programs.program import Program
from workbench.poly.sets import isl, unpack

Point = tuple[int, ...]


@isl.guarded
def originals(program: Program, statement: str, limit: int = 20_000) -> dict[Point, tuple[str, Point]]:
    """Instance → (id, instance) of the original program that it computes, for every instance of a statement (by id).

    Empty for a statement that only moves values, or begins partial results.  LoweringError while sizes are symbolic.
    """
    if program.symbols:
        raise LoweringError(f"{program.name}: instances can be listed when every size is bound")
    own = program.statement(statement)
    if own.part != "computes":
        return {}
    domain = isl.parse_set(own.domain)
    relation = isl.Map.identity(domain.get_space().map_from_set()).intersect_domain(domain)
    step, identifier = program, statement
    while step.parent is not None:
        made = step.statement(identifier)
        if made.part != "computes":
            return {}
        if made.origin:
            relation = relation.apply_range(isl.parse_map(made.origin))
            identifier = relation.get_tuple_name(isl.dim.out)
        step = step.parent
    pairs = unpack.points(relation.wrap().flatten(), limit)
    return {point[: len(own.dims)]: (identifier, point[len(own.dims) :]) for point in pairs}
