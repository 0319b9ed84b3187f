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
from workbench.poly import isl, unpack
from workbench.poly.access import read_places
from workbench.poly.arrivals import arrivals, mixed
from workbench.poly.companions import torn
from workbench.poly.concerning import concerned
from workbench.poly.program import Program, ProgramStatement
from workbench.poly.value_sources import END, Flow, Sink, tuple_of, values_read
from workbench.poly.witness import witness
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
