"""Where a statement's dims end, for domains that are boxes from 0 on."""

from __future__ import annotations

from functools import lru_cache

from workbench.lang.expr import Expr
from workbench.poly import isl
from workbench.poly.boxes import written
from workbench.poly.program import Program


@lru_cache(maxsize=256)
@isl.guarded
def upper_bounds(program: Program, statement: str) -> dict[str, Expr] | None:
    """`{"m": M, "n": N}`: each dim counts from 0 to there whatever the others are; None if it is not so."""
    own, context = program.statement(statement), isl.parse_set(program.context)
    domain = isl.parse_set(own.domain).intersect_params(context)
    if domain.is_empty():
        return None
    box, found = isl.Set.universe(domain.get_space()), {}
    for position, dim in enumerate(own.dims):
        others = domain
        for other in reversed(range(len(own.dims))):
            others = others if other == position else others.project_out(isl.dim.set, other, 1)
        low = others.dim_min_val(0)
        if not (low.is_int() and low.is_zero()):
            return None
        alone = others.insert_dims(isl.dim.set, 0, position)
        alone = alone.insert_dims(isl.dim.set, position + 1, len(own.dims) - position - 1)
        box = box.intersect(alone.set_tuple_name(own.id))
        found[dim] = written(others.dim_max(0).add_constant_val(isl.value(1)), context, {})
    return found if box.intersect_params(domain.params()).is_equal(domain) else None
