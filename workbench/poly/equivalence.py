"""Do two programs, each in its own order, compute the same values from the same values?

For every value an instance reads, and for every output cell at the end, the sources are found in both programs by
isl's value-based flow analysis: the last certain write, and every contribution to a reduction since.  What only
moves values (a copy, the sum of partial results) is looked through; what begins a partial result is neutral.  The
later program is right if its sources, mapped to the instances they stand for, are those of the earlier one, and no
contribution arrives twice.  By induction over the flow every output then has the same value, modulo the order of
reductions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import islice

from workbench.errors import BudgetExceeded, WorkbenchError
from workbench.poly import isl, unpack
from workbench.poly.concerning import concerned
from workbench.poly.naive import naive_tree
from workbench.poly.names import to_isl
from workbench.poly.program import Access, Program, ProgramStatement
from workbench.poly.timemap import components, instance, prefix
from workbench.poly.tree import Tree
from workbench.poly.witness import witness

END = "end"
CHAIN = 4


@dataclass(frozen=True)
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
        what = f"{self.source}({', '.join(map(str, self.origin))})"
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


def _wrong(before: Program, after: Program) -> Iterator[tuple[_Flow, Sink, str, isl.Map]]:
    """What differs, one by one: the flow of the later program, who reads, how it is wrong, and the pairs."""
    touched = concerned(before, after)
    old, new = _Flow(_settled(before), touched), _Flow(after, touched)
    for sink in new.sinks:
        expected = _expected(old, new, sink)
        actual = new.named(sink)
        for wrong, relation in (("missing", expected.subtract(actual)), ("added", actual.subtract(expected))):
            yield from ((new, sink, wrong, r) for r in unpack.maps(relation) if not r.is_empty())
    for sink in (*new.sinks, *new.passing):
        yield from ((new, sink, "twice", r) for r in new.repeated(sink))


def _settled(program: Program) -> Program:
    """The program for itself: what a step before made is a statement like any other."""
    return replace(program, statements=tuple(replace(s, part="computes", origin="") for s in program.statements))


@dataclass(frozen=True)
class Sink:
    """A value that is read: by one access of a statement, or (statement None) an output at the end."""

    statement: ProgramStatement | None
    array: str
    position: int
    relation: isl.Map  # from the sink's own tuple to cells
    dims: tuple[str, ...]


class _Flow:
    """Sources of every value one program reads."""

    def __init__(self, program: Program, arrays: frozenset[str]) -> None:
        self.program, self.tree = program, naive_tree(program)
        self.context = isl.parse_set(program.context)
        self.sinks: list[Sink] = []
        self.passing: list[Sink] = []
        for s in program.statements:
            own = [_sink(s, a, i) for i, a in enumerate(_values(s)) if a.array in arrays or s.part == "moves"]
            (self.passing if s.part == "moves" else self.sinks).extend(own)
        self.sinks += [x for name in program.outputs if name in arrays and (x := _end(program, name)) is not None]
        touching = {x.array for x in (*self.sinks, *self.passing)}
        self.flow = _analysed(program, self.tree, [*self.sinks, *self.passing], touching)
        self.moves = _union([_tagged(x).apply_range(self.of(x)) for x in self.passing])
        self.movers = {s.id for s in program.statements if s.part == "moves"}
        self.neutral = {s.id for s in program.statements if s.part == "neutral"}
        self.origins = {s.id: isl.parse_map(s.origin) for s in program.statements if s.origin}

    def of(self, sink: Sink) -> isl.UnionMap:
        """The sources as they are: instances, or cells as they stood at the beginning."""
        return self.flow[_tuple(sink)]

    def named(self, sink: Sink) -> isl.UnionMap:
        """The sources behind what only moves values, as instances of the program before; neutral ones are left out."""
        return self._followed(self.of(sink))

    def _followed(self, found: isl.UnionMap) -> isl.UnionMap:
        """Values instead of what moves them."""
        result, waiting = _parted(found, self.movers)
        if not waiting.is_empty():
            onwards, again = _parted(self.moves, self.movers)
            for _ in range(CHAIN):
                result = result.union(waiting.apply_range(onwards))
                waiting = waiting.apply_range(again)
                if waiting.is_empty():
                    break
            else:
                closure, exact = again.transitive_closure()
                if not exact:
                    raise BudgetExceeded("a chain of copies cannot be followed to its end: not answered")
                reached = waiting.union(waiting.apply_range(closure))
                result = result.union(reached.apply_range(onwards))
        return self._projected(_parted(result, self.neutral)[0])

    def _projected(self, relation: isl.UnionMap) -> isl.UnionMap:
        pieces = []
        for piece in unpack.maps(relation):
            name = piece.get_tuple_name(isl.dim.out)
            pieces.append(piece.apply_range(self.origins[name]) if name in self.origins else piece)
        return _union(pieces)

    def repeated(self, sink: Sink) -> list[isl.Map]:
        """Contributions that reach a sink by two ways, as relations from the sink to the instance before."""
        ways = unpack.maps(self.of(sink))
        if not any(w.get_tuple_name(isl.dim.out) in {*self.movers, *self.origins} for w in ways):
            return []
        ends = self._followed(_union([_identity(w.range()) for w in ways]))
        by_way = _union(ways).reverse().range_product(ends).reverse()  # [sink → end] → way
        if by_way.is_single_valued():
            return []
        return [ends.unwrap() for ends in _ambiguous(unpack.maps(by_way))]


def _ambiguous(pieces: list[isl.Map]) -> list[isl.Set]:
    """Where the pieces of a relation, taken together, have more than one image."""
    found: list[isl.Set] = []
    seen = isl.parse_union_set("{ }")
    for piece in pieces:
        domain = isl.UnionSet.from_set(piece.domain())
        found += unpack.sets(domain.intersect(seen))
        if not piece.is_single_valued():
            found.append(piece.subtract(piece.lexmin()).domain())
        seen = seen.union(domain)
    return [points for points in found if not points.is_empty()]


def _values(s: ProgramStatement) -> list[Access]:
    return [a for a in s.accesses if a.kind == "read" and not a.accumulates]


def _sink(s: ProgramStatement, access: Access, position: int) -> Sink:
    relation = isl.parse_map(access.relation)
    if s.origin:  # an instance that stands for none before may read what it likes
        relation = relation.intersect_domain(isl.parse_map(s.origin).domain())
    relation = relation.set_tuple_name(isl.dim.in_, f"{s.id}__{position}")
    return Sink(s, access.array, position, relation, s.dims)


def _end(program: Program, name: str) -> Sink | None:
    """The cells of an output that anything writes, at the end."""
    written = [isl.parse_map(a.relation).range() for s in program.statements for a in s.writes if a.array == name]
    if not written:
        return None
    cells = reduce(isl.Set.union, written).intersect_params(isl.parse_set(program.context))
    relation = _identity(cells)
    rank = program.arrays[name].rank
    relation = relation.set_tuple_name(isl.dim.in_, f"{END}__{to_isl(name)}")
    return Sink(None, name, 0, relation, tuple(f"x{i}" for i in range(rank)))


def _tuple(sink: Sink) -> str:
    return str(sink.relation.get_tuple_name(isl.dim.in_))


def _tagged(sink: Sink) -> isl.UnionMap:
    """From the instances of the reading statement to the sink's tuple."""
    assert sink.statement is not None
    return isl.UnionMap.from_map(_identity(sink.relation.domain()).set_tuple_name(isl.dim.in_, sink.statement.id))


def _identity(points: isl.Set) -> isl.Map:
    return isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points)


def _analysed(program: Program, tree: Tree, sinks: list[Sink], arrays: set[str]) -> dict[str, isl.UnionMap]:
    """For each sink its sources: instances that write, and cells nobody surely wrote before."""
    empty = isl.parse_union_map("{ }")
    found = {_tuple(x): empty for x in sinks}
    if not sinks:
        return found
    writes = [(s, a) for s in program.statements for a in s.writes if a.array in arrays]
    must = [isl.parse_map(a.relation) for s, a in writes if a.exact and s.kind != "update"]
    may = [isl.parse_map(a.relation) for s, a in writes if not a.exact or s.kind == "update"]
    info = isl.UnionAccessInfo.from_sink(_union([x.relation for x in sinks])).set_schedule_map(
        _times(program, tree, sinks, {s.id for s, _ in writes})
    )
    if must:
        info = info.set_must_source(_union(must))
    if may:
        info = info.set_may_source(_union(may))
    flow = info.compute_flow()
    context = isl.parse_set(program.context)
    for piece in unpack.maps(flow.get_may_dependence().reverse()):
        name = piece.get_tuple_name(isl.dim.in_)
        found[name] = found[name].union(isl.UnionMap.from_map(piece.intersect_params(context)))
    unwritten = {to_isl(a.name) for a in program.arrays.values() if a.role == "temporary"}
    for piece in unpack.maps(flow.get_may_no_source()):
        name = piece.get_tuple_name(isl.dim.in_)
        if piece.get_tuple_name(isl.dim.out) in unwritten:
            piece = _nothing(piece)
        found[name] = found[name].union(isl.UnionMap.from_map(piece.intersect_params(context)))
    return found


def _nothing(reads: isl.Map) -> isl.Map:
    """Reads of cells that nobody wrote: whichever cell of the array it is, nothing stands there."""
    space = isl.Set.universe(reads.range().get_space().drop_dims(isl.dim.set, 0, reads.dim(isl.dim.out)))
    return isl.Map.from_domain_and_range(reads.domain(), space.set_tuple_name(reads.get_tuple_name(isl.dim.out)))


def _times(program: Program, tree: Tree, sinks: list[Sink], writers: set[str]) -> isl.UnionMap:
    """Times of writers and sinks, padded to one length; outputs are read after everything."""
    times: list[tuple[str, list[str]]] = []
    for s in program.statements:
        own = components(program, tree, s.id)
        tuples = [s.id] if s.id in writers else []
        tuples += [_tuple(x) for x in sinks if x.statement is not None and x.statement.id == s.id]
        inside = instance(s).partition("[")[2]
        times += [(f"{name}[{inside}", ["0", *own]) for name in tuples]
    times += [(f"{_tuple(x)}[{', '.join(x.dims)}]", ["1"]) for x in sinks if x.statement is None]
    length = max(len(t) for _, t in times)
    pieces = [f"{name} -> [{', '.join(t + ['0'] * (length - len(t)))}]" for name, t in times]
    return isl.parse_union_map(f"{prefix(program)}{{ {'; '.join(pieces)} }}")


def _expected(old: _Flow, new: _Flow, sink: Sink) -> isl.UnionMap:
    """The sources of the instance that the sink stands for, in the program before."""
    if sink.statement is None:
        match = [x for x in old.sinks if x.statement is None and x.array == sink.array]
        return old.named(match[0]) if match else isl.parse_union_map("{ }")
    origin = new.origins.get(sink.statement.id)
    source = sink.statement.id if origin is None else str(origin.get_tuple_name(isl.dim.out))
    match = [x for x in old.sinks if x.statement and x.statement.id == source and x.position == sink.position]
    if not match:
        raise WorkbenchError(f"{sink.statement.name} reads {sink.array}, which nothing before corresponds to")
    known = old.named(match[0])
    tag, earlier = _tuple(sink), _tuple(match[0])
    if origin is None:
        origin = isl.Map.identity(sink.relation.domain().get_space().map_from_set())
    renamed = origin.set_tuple_name(isl.dim.in_, tag).set_tuple_name(isl.dim.out, earlier)
    domain = sink.relation.domain().intersect_params(new.context)
    return isl.UnionMap.from_map(renamed.intersect_domain(domain)).apply_range(known)


def _parted(relation: isl.UnionMap, names: set[str]) -> tuple[isl.UnionMap, isl.UnionMap]:
    """(the part whose range is elsewhere, the part whose range is in these tuples)."""
    inside = [m for m in unpack.maps(relation) if m.get_tuple_name(isl.dim.out) in names]
    outside = [m for m in unpack.maps(relation) if m.get_tuple_name(isl.dim.out) not in names]
    return _union(outside), _union(inside)


def _union(relations: list) -> isl.UnionMap:  # type: ignore[type-arg]
    unions = [isl.UnionMap.from_map(m) if isinstance(m, isl.Map) else m for m in relations]
    return reduce(isl.UnionMap.union, unions) if unions else isl.parse_union_map("{ }")


def _difference(after: Program, flow: _Flow, sink: Sink, wrong: str, relation: isl.Map) -> Difference:
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
