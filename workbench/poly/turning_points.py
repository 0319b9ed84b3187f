"""The one iteration of a loop that others wait for: where cutting the loop leaves two parts without dependences."""

from __future__ import annotations

from workbench.lang.expr import Index
from workbench.poly import isl
from workbench.poly.flow import dependences
from workbench.poly.names import to_isl
from workbench.poly.program import Dependence, Program
from workbench.poly.timemap import compare, instance, prefix
from workbench.poly.tree import Loop


@isl.guarded
def turning_point(program: Program, statement: str, dim: str) -> str | None:
    """A dim outside of `dim` such that each dependence between its iterations begins or ends where both are equal.

    In Floyd and Warshall's shortest paths, row `k` is what step `k` of all others needs: the loops over rows and over
    columns turn at `k`.  None where the dependences have no such point, and where there are none.
    """
    own = program.statement(statement)
    outside = own.dims[: own.dims.index(dim)]
    itself = [d for d in dependences(program) if d.source == d.target == statement]
    carried = [_carried(program, d, outside, dim) for d in itself]
    found = [pairs for pairs in carried if not pairs.is_empty()]
    for other in outside if found else ():
        at = isl.parse_set(f"{prefix(program)}{{ {instance(own)} : {to_isl(dim)} = {to_isl(other)} }}")
        if all(p.domain().is_subset(at) or p.range().is_subset(at) for p in found):
            return other
    return None


def _carried(program: Program, dependence: Dependence, outside: tuple[str, ...], dim: str) -> isl.Map:
    """The pairs with equal dims outside and different ones here."""
    own = program.statement(dependence.source)
    pairs = isl.parse_map(dependence.relation).intersect_params(isl.parse_set(program.context))
    for name, sign in (*((d, "=") for d in outside), (dim, "!=")):
        pairs = pairs.intersect(compare(program, Loop(name, ((own.id, Index(name)),)), own, own, sign))
    return pairs
