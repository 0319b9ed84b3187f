"""Contributions to one cell that do not commute: `Z += a` and `Z max= b`, or `Z(J(i)) = a` and anything else."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.poly import isl, unpack
from workbench.poly.program import Program, ProgramStatement
from workbench.poly.value_sources import Flow, Sink, tagged, union

SCATTER = "="  # the operator of an assignment to cells that data decide: none of them surely hides another


def mixed(*programs: Program) -> frozenset[str]:
    """The arrays that are updated with more than one operator, or where data decide which assignment is the last."""
    found = {(t, by) for p in programs for s in p.statements if (by := _operator(s)) for t, _ in s.targets}
    arrays = [array for array, _ in found]
    return frozenset(array for array, by in found if by == SCATTER or arrays.count(array) > 1)


def arrivals(before: Program, old: Flow, new: Flow) -> Iterator[tuple[Sink, str, isl.Map]]:
    """Pairs of contributions that come to a cell in one order before and in another after: the later one of either
    program as a sink, how it is wrong, and the pairs.
    """
    expected, actual = _earlier(old, before), _earlier(new, before)
    for wrong, relation in (("missing", expected.subtract(actual)), ("added", actual.subtract(expected))):
        for pairs in unpack.maps(relation):
            if not pairs.is_empty():
                s = before.statement(pairs.get_tuple_name(isl.dim.in_))
                yield Sink(s, s.targets[0][0], 0, pairs, s.dims), wrong, pairs


def _earlier(flow: Flow, before: Program) -> isl.UnionMap:
    """Each contribution to what another operator added to its cell earlier; both as instances of the program before."""
    found = []
    for sink in flow.adding:
        assert sink.statement is not None
        others = _of_other_operators(flow.named(sink), sink.statement, before)
        if not others.is_empty():
            found.append(_contributions(flow, sink).reverse().apply_range(others))
    return union(found)


def _contributions(flow: Flow, sink: Sink) -> isl.UnionMap:
    """From the sink of an update to what the update brings to the cell."""
    assert sink.statement is not None
    instances = tagged(sink).reverse()
    if sink.statement.id not in flow.movers:
        return flow.projected(instances)
    values = [x for x in flow.passing if x.statement is sink.statement]
    return union([instances.apply_range(tagged(x)).apply_range(flow.named(x)) for x in values])


def _of_other_operators(sources: isl.UnionMap, own: ProgramStatement, before: Program) -> isl.UnionMap:
    others = {s.id for s in before.statements if not _commute(s, own)}
    return union([m for m in unpack.maps(sources) if m.get_tuple_name(isl.dim.out) in others])


def _commute(s: ProgramStatement, other: ProgramStatement) -> bool:
    return not _operator(s) or (_operator(s) == _operator(other) != SCATTER)


def _operator(s: ProgramStatement) -> str:
    """What combines the contributions of a statement with what stands in the cell; "" where they replace it."""
    if s.kind != "update":
        return "" if all(a.exact for a in s.writes) else SCATTER
    return s.reduction if isinstance(s.reduction, str) else getattr(s.reduction, "name", "")
