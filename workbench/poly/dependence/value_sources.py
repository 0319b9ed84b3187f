"""Where the values that a program reads come from: for each value read, the instances behind it.

What only moves values (a copy, the sum of partial results) is looked through; what begins a partial result is neutral.
"""

from __future__ import annotations

from functools import cached_property, reduce

from workbench.errors import BudgetExceeded
from workbench.poly.dependence.flow_cache import Times, sources
from workbench.poly.dependence.precedence import Touched, Writes, found_by, nearest, nothing_is_lost
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Tree
from workbench.poly.sets import isl, unpack
from workbench.poly.sets.names import to_isl
from workbench.poly.time.timemap import instance, naive_tree, time_components
from workbench.poly.time.timemap import prefix as prefix_of
from workbench.records import record

END, CHAIN = "end", 4
ADDING = 1000  # the position of the first sink that only fetches what an update adds to
TUPLES = 2000  # the same for updates of several cells


@record
class Sink:
    """A value that is read: by one access of a statement, or (statement None) an output at the end."""

    statement: ProgramStatement | None
    array: str
    position: int
    relation: isl.Map  # from the sink's own tuple to cells
    dims: tuple[str, ...]
    access: Access | None = None


class Flow:
    """Sources of every value one program reads."""

    def __init__(self, program: Program, arrays: frozenset[str], mixed: frozenset[str]) -> None:
        self.program, self.tree = program, naive_tree(program)
        self.context = isl.parse_set(program.context)
        self.sinks: list[Sink] = []
        self.passing: list[Sink] = []
        for s in program.statements:
            own = [_sink(s, a, i) for i, a in enumerate(values_read(s)) if a.array in arrays or s.part == "moves"]
            (self.passing if s.part == "moves" else self.sinks).extend(own)
        self.sinks += [x for name in program.outputs if name in arrays and (x := _end(program, name)) is not None]
        self.adding = [
            _sink(s, a, ADDING + i)
            for s in program.statements
            for i, a in enumerate(s.accesses)
            if a.array in mixed and (a.accumulates or (a.kind == "write" and not a.exact and s.kind != "update"))
        ]
        self.tuple_updates = {
            s.id: [_sink(s, a, TUPLES + i) for i, a in enumerate(s.accesses) if a.accumulates and a.kind == "read"]
            for s in program.statements
            if s.part == "computes" and s.kind == "update" and len(s.targets) > 1
            and any(t in arrays for t, _ in s.targets)
        }  # fmt: skip
        together = [x for sinks in self.tuple_updates.values() for x in sinks]
        every = [*self.sinks, *self.passing, *self.adding, *together]
        self.flow = _analysed(program, self.tree, every, {x.array for x in every})
        self.moves = union([tagged(x).apply_range(self.of(x)) for x in self.passing])
        self.movers = {s.id for s in program.statements if s.part == "moves"}
        self.neutral = {s.id for s in program.statements if s.part == "neutral"}
        self.origins = {s.id: isl.parse_map(s.origin) for s in program.statements if s.origin}

    def of(self, sink: Sink) -> isl.UnionMap:
        """The sources as they are: instances, or cells as they stood at the beginning."""
        return self.flow[tuple_of(sink)]

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
        return self.projected(_parted(result, self.neutral)[0])

    def projected(self, relation: isl.UnionMap) -> isl.UnionMap:
        """Instances as those of the program before that they stand for."""
        pieces = []
        for piece in unpack.maps(relation):
            name = piece.get_tuple_name(isl.dim.out)
            pieces.append(piece.apply_range(self.origins[name]) if name in self.origins else piece)
        return union(pieces)

    @cached_property
    def _are_apart(self) -> bool:
        """Whether no two instances stand for the same one before."""
        kept = {s.id for s in self.program.statements if not s.origin and s.part == "computes"}
        seen: dict[str, list[isl.Set]] = {}
        for s, stood_for in self.origins.items():
            origin = stood_for.intersect_domain(isl.parse_set(self.program.statement(s).domain))
            origin = origin.intersect_params(self.context)
            name, range_ = str(origin.get_tuple_name(isl.dim.out)), origin.range()
            if name in kept or not origin.is_injective() or not all(map(range_.is_disjoint, seen.get(name, ()))):
                return False
            seen.setdefault(name, []).append(range_)
        return True

    def repeated(self, sink: Sink) -> list[isl.Map]:
        """Contributions that reach a sink by two ways, as relations from the sink to the instance before."""
        ways = unpack.maps(self.of(sink))
        names = {w.get_tuple_name(isl.dim.out) for w in ways}
        if not names & {*self.movers, *self.origins} or (not names & self.movers and self._are_apart):
            return []
        ends = self._followed(union([_identity(w.range()) for w in ways]))
        by_way = union(ways).reverse().range_product(ends).reverse()  # [sink → end] → way
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


def values_read(s: ProgramStatement) -> list[Access]:
    """The reads of the values of a statement, in order."""
    return [a for a in s.accesses if a.kind == "read" and not a.accumulates]


def _sink(s: ProgramStatement, access: Access, position: int) -> Sink:
    relation = isl.parse_map(access.relation)
    if s.origin:  # an instance that stands for none before may read what it likes
        relation = relation.intersect_domain(isl.parse_map(s.origin).domain())
    relation = relation.set_tuple_name(isl.dim.in_, f"{s.id}__{position}")
    return Sink(s, access.array, position, relation, s.dims, access)


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


def tuple_of(sink: Sink) -> str:
    """The name of the sink's own tuple."""
    return str(sink.relation.get_tuple_name(isl.dim.in_))


def tagged(sink: Sink) -> isl.UnionMap:
    """From the instances of the reading statement to the sink's tuple."""
    assert sink.statement is not None
    return isl.UnionMap.from_map(_identity(sink.relation.domain()).set_tuple_name(isl.dim.in_, sink.statement.id))


def _identity(points: isl.Set) -> isl.Map:
    return isl.Map.identity(points.get_space().map_from_set()).intersect_domain(points)


def _analysed(program: Program, tree: Tree, sinks: list[Sink], arrays: set[str]) -> dict[str, isl.UnionMap]:
    """For each sink its sources: instances that write, and cells nobody surely wrote before."""
    context = isl.parse_set(program.context)
    found: dict[str, isl.UnionMap] = {tuple_of(x): isl.parse_union_map("{ }") for x in sinks}
    left: list[Sink] = []
    for array in sorted(arrays):
        writes = _writes(program, array)
        far: list[Sink] = []
        for sink in (x for x in sinks if x.array == array):
            near = _nearest(program, tree, sink, writes)
            if near is None:
                far.append(sink)
            else:
                found[tuple_of(sink)] = near
        if far and all(x.access is None or x.access.exact for x in far) and nothing_is_lost(program, tree, writes):
            found |= {tuple_of(x): _found(program, tree, x, writes) for x in far}
        else:
            left += far
    for piece in _by_isl(program, tree, left):
        name = piece.get_tuple_name(isl.dim.in_)
        found[name] = found[name].union(isl.UnionMap.from_map(piece.intersect_params(context)))
    return found


def _writes(program: Program, array: str) -> Writes:
    touches = [Touched.of(program, s, a) for s in program.statements for a in s.writes if a.array == array]
    certain = tuple(t for t in touches if t.access.exact and t.statement.kind != "update")
    return Writes(certain, tuple(t for t in touches if t not in certain))


def _read(program: Program, sink: Sink) -> Touched | None:
    """What a sink reads, by the instances of its statement; None for an output at the end."""
    if sink.statement is None or sink.access is None:
        return None
    relation = sink.relation.intersect_params(isl.parse_set(program.context))
    return Touched(sink.statement, sink.access, relation.set_tuple_name(isl.dim.in_, sink.statement.id))


def _nearest(program: Program, tree: Tree, sink: Sink, writes: Writes) -> isl.UnionMap | None:
    """The sources of a sink that finds them all in its own iteration."""
    read = _read(program, sink)
    found = nearest(program, tree, read, writes) if read is not None and read.access.exact else None
    return None if found is None else _of_sink(sink, [found])


def _found(program: Program, tree: Tree, sink: Sink, writes: Writes) -> isl.UnionMap:
    """The sources of a sink where no write is lost."""
    read = _read(program, sink)
    if read is None:
        relation = sink.relation.intersect_params(isl.parse_set(program.context))
        found = [relation.apply_range(w.relation.reverse()) for w in writes.every]
        nothing = reduce(isl.Map.subtract_range, (w.relation.range() for w in writes.certain), relation)
    else:
        found, nothing = found_by(program, tree, read, writes)
    return _of_sink(sink, [*found, *_unwritten(program, sink.array, nothing)])


def _of_sink(sink: Sink, pieces: list[isl.Map]) -> isl.UnionMap:
    return union([m.set_tuple_name(isl.dim.in_, tuple_of(sink)) for m in pieces if not m.is_empty()])


def _unwritten(program: Program, array: str, reads: isl.Map) -> list[isl.Map]:
    """What a read finds where nobody wrote: the cell as it stood at the beginning."""
    if reads.is_empty():
        return []
    return [_nothing(reads) if program.arrays[array].role == "temporary" else reads]


def _by_isl(program: Program, tree: Tree, sinks: list[Sink]) -> list[isl.Map]:
    """From sinks to their sources, by isl's analysis, array by array."""
    pieces: list[isl.Map] = []
    for array in sorted({x.array for x in sinks}):
        own, writes = [x for x in sinks if x.array == array], _writes(program, array)
        known = ([t.relation for t in writes.certain], [t.relation for t in writes.possible])
        must, may = (union(relations) if relations else None for relations in known)
        times = _times(program, tree, own, {t.statement.id for t in writes.every})
        found, nothing = sources(union([x.relation for x in own]), must, may, times, prefix_of(program))
        missing = unpack.maps(nothing)
        temporary = program.arrays[array].role == "temporary"
        pieces += [*unpack.maps(found.reverse()), *(map(_nothing, missing) if temporary else missing)]
    return pieces


def _nothing(reads: isl.Map) -> isl.Map:
    """Reads of cells that nobody wrote: whichever cell of the array it is, nothing stands there."""
    space = isl.Set.universe(reads.range().get_space().drop_dims(isl.dim.set, 0, reads.dim(isl.dim.out)))
    return isl.Map.from_domain_and_range(reads.domain(), space.set_tuple_name(reads.get_tuple_name(isl.dim.out)))


def _times(program: Program, tree: Tree, sinks: list[Sink], writers: set[str]) -> Times:
    """Times of writers and sinks; outputs are read after everything."""
    times: dict[str, list[str]] = {}
    for s in program.statements:
        own = time_components(program, tree, s.id)
        tuples = [s.id] if s.id in writers else []
        tuples += [tuple_of(x) for x in sinks if x.statement is not None and x.statement.id == s.id]
        inside = instance(s).partition("[")[2]
        times |= {f"{name}[{inside}": ["0", *own] for name in tuples}
    return times | {f"{tuple_of(x)}[{', '.join(x.dims)}]": ["1"] for x in sinks if x.statement is None}


def _parted(relation: isl.UnionMap, names: set[str]) -> tuple[isl.UnionMap, isl.UnionMap]:
    """(the part whose range is elsewhere, the part whose range is in these tuples)."""
    inside = [m for m in unpack.maps(relation) if m.get_tuple_name(isl.dim.out) in names]
    outside = [m for m in unpack.maps(relation) if m.get_tuple_name(isl.dim.out) not in names]
    return union(outside), union(inside)


def union(relations: list) -> isl.UnionMap:  # type: ignore[type-arg]
    """The union of relations, maps or unions of maps."""
    unions = [isl.UnionMap.from_map(m) if isinstance(m, isl.Map) else m for m in relations]
    return reduce(isl.UnionMap.union, unions) if unions else isl.parse_union_map("{ }")
