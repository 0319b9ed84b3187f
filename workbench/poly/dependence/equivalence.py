"""Do two programs, each in its own order, compute the same values from the same values?

For every value an instance reads, and for every output cell at the end, the sources are found in both programs by
isl's value-based flow analysis: the last certain write, and every contribution to a reduction since.  What only
moves values (a copy, the sum of partial results) is looked through; what begins a partial result is neutral.  The
later program is right if its sources, mapped to the instances they stand for, are those of the earlier one, no
contribution arrives twice, and those of different operators to one cell arrive in the same order.  By induction over
the flow every output then has the same value, modulo the order of reductions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from workbench.errors import WorkbenchError
from workbench.lang.expr import Expr
from workbench.poly.dependence.affected_arrays import concerned
from workbench.poly.dependence.value_sources import END, Flow, Sink, tagged, tuple_of, union, values_read
from workbench.poly.programs.access import read_places
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.witness import witness
from workbench.records import record


@record
class Difference:
    """A value that comes from elsewhere: `reader` (a statement's name, or `array` at the end) at `instance`, for the
    smallest sizes, does or does not read what `source` at `origin` gives (None: what stood there at the beginning).

    `wrong` is "added" (a source it should not have), "missing", or "twice" (a contribution that arrives twice).
    """

    reader: str
    array: str
    wrong: str
    sizes: dict[str, int]
    instance: dict[str, int]
    source: str
    origin: tuple[int, ...]

    def __str__(self) -> str:
        at = ", ".join(map(str, self.instance.values()))
        who = f"{self.array}({at}) at the end" if self.reader == END else f"{self.reader}({at}), reading {self.array},"
        what = f"{self.source}({', '.join(map(str, self.origin))})" if self.origin else self.source
        sizes = ", ".join(f"{k}={v}" for k, v in self.sizes.items())
        verb = {"added": "would get a value of", "missing": "would not get", "twice": "would get twice"}[self.wrong]
        return f"{who} {verb} {what}{f' for {sizes}' if sizes else ''}"


@isl.guarded
def differences(before: Program, after: Program, limit: int = 3) -> tuple[Difference, ...]:
    """Where the later program, in its reference order, would compute something else; empty if nowhere.

    Exact for exact accesses.  BudgetExceeded if a chain of copies cannot be followed.
    """
    return tuple(_difference(after, *found) for found in islice(_wrong(before, after), limit))


@isl.guarded
def differing(before: Program, after: Program) -> tuple[str, ...]:
    """Every pair of a reader and a source it should not have, or lacks, as isl texts of relations."""
    return tuple(isl.text_of(relation) for *_, relation in _wrong(before, after))


def _wrong(before: Program, after: Program) -> Iterator[tuple[Flow, Sink, str, isl.Map]]:
    """What differs, one by one: the flow of the later program, who reads, how it is wrong, and the pairs."""
    touched = concerned(before, after)
    several = mixed(before, after) & touched
    old, new = Flow(_settled(before), touched, several), Flow(after, touched, several)
    for sink in new.sinks:
        found = new.named(sink)
        for expected, where in _expected(old, new, sink):
            actual = found if where is None else found.intersect_domain(isl.UnionSet.from_set(where))
            for wrong, relation in (("missing", expected.subtract(actual)), ("added", actual.subtract(expected))):
                yield from ((new, sink, wrong, r) for r in unpack.maps(relation) if not r.is_empty())
    yield from ((new, *found) for found in torn(old, new))
    if several:
        yield from ((new, *found) for found in arrivals(before, old, new))
    for sink in (*new.sinks, *new.passing):
        yield from ((new, sink, "twice", r) for r in new.repeated(sink))


def _settled(program: Program) -> Program:
    """The program for itself: what a step before made is a statement like any other."""
    return replace(program, statements=tuple(replace(s, part="computes", origin="") for s in program.statements))


def _expected(old: Flow, new: Flow, sink: Sink) -> Iterator[tuple[isl.UnionMap, isl.Set | None]]:
    """The sources of the instance that the sink stands for, in the program before.

    Reads of several cells may have become one, which then must be right for each of them, where that was read.
    """
    if sink.statement is None:
        match = [x for x in old.sinks if x.statement is None and x.array == sink.array]
        yield old.named(match[0]) if match else isl.parse_union_map("{ }"), None
        return
    origin = new.origins.get(sink.statement.id)
    source = sink.statement.id if origin is None else str(origin.get_tuple_name(isl.dim.out))
    reads = {x.position: x for x in old.sinks if x.statement and x.statement.id == source}
    match = [reads[p] for p in _partners(old.program.statement(source), sink) if p in reads]
    if not match:
        raise WorkbenchError(f"{sink.statement.name} reads {sink.array}, which nothing before corresponds to")
    if origin is None:
        origin = isl.Map.identity(sink.relation.domain().get_space().map_from_set())
    domain = sink.relation.domain().intersect_params(new.context)
    renamed = origin.set_tuple_name(isl.dim.in_, tuple_of(sink)).intersect_domain(domain)
    for read in match:
        there = renamed.set_tuple_name(isl.dim.out, tuple_of(read))
        where = there.intersect_range(read.relation.domain()).domain() if len(match) > 1 else None
        yield isl.UnionMap.from_map(there).apply_range(old.named(read)), where


def _partners(before: ProgramStatement, sink: Sink) -> list[int]:
    """The places of the reads before that a read now stands for."""
    assert sink.statement is not None
    old, new = read_places(_roots(before)), read_places(_roots(sink.statement))
    if len(old) != len(new):  # some vanished: what a cell modulo 1 depended on
        return _alike(before, sink)
    return sorted({a for a, b in zip(old, new, strict=True) if b == sink.position})


def _alike(before: ProgramStatement, sink: Sink) -> list[int]:
    """The places of the reads before that are written like a read now, or at least read the same array."""
    own = [(n, a) for n, a in enumerate(values_read(before)) if a.array == sink.array]
    same = [n for n, a in own if sink.access is not None and a.subscripts == sink.access.subscripts]
    return same or [n for n, _ in own]


def _roots(s: ProgramStatement) -> tuple[Expr, ...]:
    return (*(e for _, subscripts in s.targets for e in subscripts), *s.values)


def _difference(after: Program, flow: Flow, sink: Sink, wrong: str, relation: isl.Map) -> Difference:
    name = str(relation.get_tuple_name(isl.dim.out))
    known = next((s.name for p in _line(after) for s in p.statements if s.id == name), None)
    rank = relation.dim(isl.dim.out)
    proof = witness(relation, after.symbols, sink.dims, tuple(map(str, range(rank))))
    reader = END if sink.statement is None else sink.statement.name
    label = known if known is not None else f"what stood in {name}"
    return Difference(reader, sink.array, wrong, proof.sizes, proof.source, label, tuple(proof.target.values()))


def _line(program: Program) -> list[Program]:
    """The program and those it was derived from."""
    return [program, *(_line(program.parent) if program.parent is not None else [])]


# -- Contributions to one cell that do not commute: `Z += a` and `Z max= b`, or `Z(J(i)) = a` and anything else --

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


# Values that an update of several cells combines with one another: each cell has to have had the same contributions.
# `(n(m), mean(m)) combine= …` needs the n of its mean.  Where nobody else reads n, its flow to a reader says nothing.

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
