"""Who wrote what is read: isl's value-based flow analysis, one piece of the reads at a time.

isl looks for the last write of every read by itself, but carries all reads of a statement through its lexicographic
maxima as one relation.  Periodic subscripts (`A[(i + 1) % n]`, `A[i == n - 1 ? 0 : i + 1]`) are relations in pieces,
and every maximum of a union compares each piece with each: 77 pieces of 15 reads took 11 seconds together, and one
after the other take 0.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import zip_longest

from workbench.errors import BudgetExceeded
from workbench.poly.sets import isl, unpack


def last_writes(
    sinks: isl.UnionMap, must: isl.UnionMap | None, may: isl.UnionMap | None, times: isl.UnionMap
) -> tuple[isl.UnionMap, isl.UnionMap]:
    """From writes to the readers of their cells, and the reads that may find nothing certain.

    `sinks`, `must` and `may` lead from instances to cells; `times` from instances to when they run.  BudgetExceeded
    where isl trips over itself: on relations full of remainders it sometimes fails unless the equalities that they
    imply are spelt out.
    """
    for spelt_out in (False, True):
        try:
            found = [_analysed(part, must, may, times, spelt_out=spelt_out) for part in pieces(sinks)]
        except isl.Error:
            if isl.cap_reached():
                raise
        else:
            first, missing = (reduce(isl.UnionMap.union, side) for side in zip(*found, strict=True))
            return first, missing
    raise BudgetExceeded("isl cannot say where the values come from: the question is not answered")


def pieces(relation: isl.UnionMap) -> Iterator[isl.UnionMap]:
    """The relation in parts with one convex piece of each statement; at least one part, which may be empty."""
    columns = [m.get_basic_maps() for m in unpack.maps(relation)]
    if max(map(len, columns), default=0) <= 1:
        yield relation
        return
    for row in zip_longest(*columns):
        yield reduce(isl.UnionMap.union, (isl.UnionMap.from_basic_map(b) for b in row if b is not None))


def _analysed(
    sinks: isl.UnionMap, must: isl.UnionMap | None, may: isl.UnionMap | None, times: isl.UnionMap, *, spelt_out: bool
) -> tuple[isl.UnionMap, isl.UnionMap]:
    def of(relation: isl.UnionMap) -> isl.UnionMap:
        return relation.detect_equalities() if spelt_out else relation

    info = isl.UnionAccessInfo.from_sink(of(sinks)).set_schedule_map(times)
    if must is not None:
        info = info.set_must_source(of(must))
    if may is not None:
        info = info.set_may_source(of(may))
    flow = info.compute_flow()
    return flow.get_may_dependence(), flow.get_may_no_source()
