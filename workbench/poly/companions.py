"""Values that an update of several cells combines with one another: each cell has to have had the same contributions.

`(n(m), mean(m)) combine= …` needs the n of its mean.  Where nobody else reads n, its flow to a reader says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.poly import isl, unpack
from workbench.poly.value_sources import Flow, Sink, tuple_of, union


def torn(old: Flow, new: Flow) -> Iterator[tuple[Sink, str, isl.Map]]:
    """Pairs of a cell that an update adds to and what it lacks that came to another one, and did not before.

    Each with the sink of the cell and how it is wrong.
    """
    for own, sinks in new.companions.items():
        origin = new.origins.get(own)
        before = old.companions.get(own if origin is None else str(origin.get_tuple_name(isl.dim.out)), ())
        if len(before) != len(sinks):
            continue
        for n, sink in enumerate(sinks):
            for m, other in enumerate(sinks):
                if n == m:
                    continue
                known = _lacking(old, before[n], before[m], old)
                if origin is not None:
                    known = union([origin]).apply_range(known)
                for pairs in unpack.maps(_lacking(new, sink, other, old).subtract(known)):
                    if not pairs.is_empty():
                        yield sink, "missing", pairs.set_tuple_name(isl.dim.in_, tuple_of(sink))


def _lacking(flow: Flow, sink: Sink, other: Sink, old: Flow) -> isl.UnionMap:
    """From instances of the update to instances before that the other cell has had, and this one has not."""
    has, has_not = (_instances(flow, x, old) for x in (other, sink))
    return has.subtract(has_not)


def _instances(flow: Flow, sink: Sink, old: Flow) -> isl.UnionMap:
    """The sources of a sink that are instances of statements, by the instances of the update."""
    assert sink.statement is not None
    known = {s.id for s in old.program.statements}
    found = [m for m in unpack.maps(flow.named(sink)) if m.get_tuple_name(isl.dim.out) in known]
    return union([m.set_tuple_name(isl.dim.in_, sink.statement.id) for m in found])
