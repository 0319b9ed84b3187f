"""Dependences of a program in its naive order, with reductions set apart.

Flow is value-based (isl's dataflow analysis: a read depends on the last write of its cell) except through
reductions: the updates of one statement may be reordered, so each of them must come after what initialises
the cell and before what reads it.  Anti and output dependences are memory-based: all pairs that touch the
same cell, in naive order.  Their transitive closure is that of the value-based ones, and they need no
lexicographic maxima.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from itertools import product

from workbench.poly.dependence.flow_cache import Scene, sources, times_of
from workbench.poly.dependence.precedence import Touched, same_iteration, surely_written
from workbench.poly.dependence.promised import meetings, promised_cells, promises
from workbench.poly.programs.program import Access, Dependence, DependenceKind, Program, ProgramStatement
from workbench.poly.programs.tree import Loop
from workbench.poly.sets import isl, unpack
from workbench.poly.time.timemap import before, naive_tree, nest_statements, prefix
from workbench.records import record

KINDS: tuple[DependenceKind, ...] = ("flow", "anti", "output", "reduction")


@lru_cache(maxsize=256)
@isl.guarded
def dependences(program: Program) -> tuple[Dependence, ...]:
    """Every dependence of the program in its naive order, within its context (memoised).

    One for each kind, array and pair of statements.  "reduction" holds the pairs of updates by one
    statement on one cell; those pairs are in no other kind unless the update also reads the cell in its
    value.
    """
    found = [d for array in program.arrays for d in _of_array(Scene.of(program, array))]
    return tuple(sorted(found, key=lambda d: (KINDS.index(d.kind), d.array, d.source, d.target)))


@record
class Touch:
    """What one statement does to one array: the accesses that read values and those that write, and their relations."""

    statement: ProgramStatement
    reading: tuple[Access, ...]
    writing: tuple[Access, ...]
    reads: isl.Map | None
    writes: isl.Map | None
    relaxed: bool
    exact_reads: bool
    exact_writes: bool


@lru_cache(maxsize=1024)
def _of_array(own: Scene) -> tuple[Dependence, ...]:
    program, array = own.program, own.array
    touches = _touches(program, array)
    if not any(t.writes is not None for t in touches):
        return ()
    pairs = product(touches, touches)
    found = [d for source, target in pairs for d in _memory_based(program, array, source, target)]
    return (*found, *_flows(own))


@isl.guarded
def flows(program: Program, array: str) -> tuple[Dependence, ...]:
    """The flow through one array: who uses whose values."""
    return _flows(Scene.of(program, array))


@lru_cache(maxsize=1024)
def _flows(own: Scene) -> tuple[Dependence, ...]:
    touches = _touches(own.program, own.array)
    if not any(t.writes is not None for t in touches):
        return ()
    return tuple(_flow(own.program, own.array, touches))


def _touches(program: Program, array: str) -> list[Touch]:
    return [t for s in program.statements if (t := _touch(program, s, array)) is not None]


def _touch(program: Program, statement: ProgramStatement, array: str) -> Touch | None:
    accesses = [a for a in statement.accesses if a.array == array]
    if not accesses:
        return None
    reads = tuple(a for a in accesses if a.kind == "read" and not a.accumulates)
    writes = tuple(a for a in accesses if a.kind == "write")
    return Touch(
        statement,
        reads,
        writes,
        _union(program, reads),
        _union(program, writes),
        statement.kind == "update" and bool(writes),
        all(a.exact for a in reads),
        all(a.exact for a in writes),
    )


def _union(program: Program, accesses: tuple[Access, ...]) -> isl.Map | None:
    return reduce(isl.Map.union, (promised_cells(program, a) for a in accesses)) if accesses else None


def _memory_based(program: Program, array: str, source: Touch, target: Touch) -> Iterator[Dependence]:
    """Anti, output and reduction dependences from one statement to another (or itself)."""
    itself = source.statement is target.statement
    written: DependenceKind = "reduction" if itself and target.relaxed else "output"
    kinds: tuple[tuple[DependenceKind, tuple[Access, ...]], ...] = ((written, source.writing), ("anti", source.reading))
    for kind, accesses in kinds:
        pairs, exact = _meeting(program, source, accesses, target)
        if pairs is not None:
            ordered = _in_order(program, source, accesses, pairs, target)
            yield from _made(program, kind, array, source, target, ordered, exact)


def _meeting(
    program: Program, source: Touch, accesses: tuple[Access, ...], target: Touch
) -> tuple[isl.Map | None, bool]:
    """Pairs on one cell that the target writes, and whether they surely are."""
    first = [(source.statement, a) for a in accesses]
    return meetings(program, first, [(target.statement, a) for a in target.writing])


def _in_order(
    program: Program, source: Touch, accesses: tuple[Access, ...], pairs: isl.Map, target: Touch
) -> isl.Map | None:
    """The pairs, on cells that these accesses of the source touch, whose source comes earlier than their target."""
    pairs = pairs.intersect_params(isl.parse_set(program.context))
    if pairs.is_empty():
        return None
    ends = [((source.statement, a), (target.statement, b)) for a in accesses for b in target.writing]

    def together(loop: Loop) -> bool:
        return all(same_iteration(program, loop, a, b) for a, b in ends)

    own = source.statement.id, target.statement.id
    levels = list(before(program, naive_tree(program), *own, pairs, together))
    return reduce(isl.Map.union, levels) if levels else None


def _made(
    program: Program,
    kind: DependenceKind,
    array: str,
    source: Touch,
    target: Touch,
    relation: isl.Map | None,
    exact: bool,
) -> Iterator[Dependence]:
    if relation is not None and not relation.is_empty():
        text = isl.text_of(relation.coalesce())
        yield Dependence(kind, array, source.statement.id, target.statement.id, text, exact)


def _flow(program: Program, array: str, touches: list[Touch]) -> Iterator[Dependence]:
    """Flow through one array: isl's analysis, then what reductions add and make superfluous."""
    by_id = {t.statement.id: t for t in touches}
    found = _analysed(program, touches, [m for t in touches for m in _sinks(t)])
    for t in touches:
        if t.relaxed:
            found.pop((t.statement.id, t.statement.id), None)
            if t.reads is not None:
                own = _analysed(program, touches, [t.reads]).get((t.statement.id, t.statement.id))
                found |= {(t.statement.id, t.statement.id): own} if own is not None else {}
    every_exact = all(t.exact_writes for t in touches)
    for (source, target), pairs in _without_detours(found, by_id).items():
        s, t = by_id[source], by_id[target]
        exact = every_exact and t.exact_reads
        yield from _made(program, "flow", array, s, t, pairs if exact else _promised(program, s, t, pairs), exact)


def _promised(program: Program, source: Touch, target: Touch, pairs: isl.Map) -> isl.Map:
    """The pairs that promises about data leave possible."""
    if not promises(program, "injective"):
        return pairs
    reading = (*target.reading, *(target.writing if target.relaxed else ()))
    first = [(source.statement, a) for a in source.writing]
    possible, _ = meetings(program, first, [(target.statement, a) for a in reading])
    return pairs if possible is None else pairs.intersect(possible)


@isl.guarded
def reads_before_writes(program: Program, array: str) -> bool:
    """Whether some instance may read, or accumulate into, a cell that nothing has certainly written before."""
    touches = [t for s in program.statements if (t := _touch(program, s, array)) is not None]
    if _begins_whole(program, touches):
        return False
    certain = [Touched.of(program, t.statement, a) for t in touches for a in t.writing if a.exact]
    reads = [Touched.of(program, t.statement, a) for t in touches for a in t.statement.reads if a.array == array]
    if all(r.access.exact for r in reads):
        return not all(surely_written(program, naive_tree(program), r, certain) for r in reads)
    sinks = [m for t in touches for m in _sinks(t)]
    must = _collected([w.relation for w in certain]) if certain else None
    own = [t.statement for t in touches]
    _, missing = sources(_collected(sinks), must, None, times_of(program, own), prefix(program))
    return not missing.intersect_params(isl.parse_set(program.context)).is_empty()


def _begins_whole(program: Program, touches: list[Touch]) -> bool:
    """The usual case, seen at once: the first nest is an assignment, or one reduction with its initialisation, and
    writes every cell that anything touches.
    """
    if program.reference is not None:
        return False
    first = touches[0]
    nest = next(item for item in program.order if first.statement.id in nest_statements(item))
    together = [t for t in touches if t.statement.id in nest_statements(nest)]
    kinds = [t.statement.kind for t in together]
    if kinds not in (["assign"], ["initialise"], ["initialise", "update"]) or not all(t.exact_writes for t in together):
        return False
    if first.writes is None or any(t.reads is not None for t in together):
        return False
    if len(together) == 2 and together[1].statement.targets != first.statement.targets:
        return False
    later = [m for t in touches if t not in together for m in _sinks(t)]
    return not later or all(m.range().is_subset(first.writes.range()) for m in later)


def _sinks(touch: Touch) -> list[isl.Map]:
    """What a statement reads: its values, and the old value of the cell it updates."""
    accumulated = touch.writes if touch.relaxed else None
    return [m for m in (touch.reads, accumulated) if m is not None]


def _analysed(program: Program, touches: list[Touch], sinks: list[isl.Map]) -> dict[tuple[str, str], isl.Map]:
    """Flow from the writes to the sinks; a write that is inexact or an update kills nothing."""
    must = [t.writes for t in touches if t.writes is not None and t.exact_writes and not t.relaxed]
    may = [t.writes for t in touches if t.writes is not None and (t.relaxed or not t.exact_writes)]
    if not sinks:
        return {}
    # isl's analysis is slow in the deep orders of derived programs, where it is rarely needed.
    if program.reference is not None and _nothing_is_lost(program, must, may):
        return _earlier(program, [*must, *may], sinks)
    known = (_collected(must) if must else None, _collected(may) if may else None)
    own = [t.statement for t in touches]
    found, _ = sources(_collected(sinks), *known, times_of(program, own), prefix(program))
    relations = unpack.maps(found)
    context = isl.parse_set(program.context)
    ends = ((m.get_tuple_name(isl.dim.in_), m.get_tuple_name(isl.dim.out)) for m in relations)
    return {pair: m.intersect_params(context) for pair, m in zip(ends, relations, strict=True)}


def _nothing_is_lost(program: Program, must: list[isl.Map], may: list[isl.Map]) -> bool:
    """Whether no write is certainly overwritten, so that each reaches every later read of its cell."""
    cells = [w.range() for w in must]
    apart = all(a.is_disjoint(b) for i, a in enumerate(cells) for b in cells[:i])
    return apart and all(w.is_injective() for w in must) and not _earlier(program, may, must)


def _earlier(program: Program, first: list[isl.Map], second: list[isl.Map]) -> dict[tuple[str, str], isl.Map]:
    """Pairs of instances that touch one cell, one of `first` before one of `second`, by the names of both."""
    context, found = isl.parse_set(program.context), {}
    for a, b in product(first, second):
        pairs = a.apply_range(b.reverse()).intersect_params(context)
        ends = pairs.get_tuple_name(isl.dim.in_), pairs.get_tuple_name(isl.dim.out)
        levels = [] if pairs.is_empty() else list(before(program, naive_tree(program), *ends, pairs))
        if levels:
            earlier = reduce(isl.Map.union, levels)
            found[ends] = found[ends].union(earlier) if ends in found else earlier
    return found


def _collected(relations: list[isl.Map]) -> isl.UnionMap:
    return reduce(isl.UnionMap.union, (isl.UnionMap.from_map(m) for m in relations))


def _without_detours(
    found: dict[tuple[str, str], isl.Map], touches: dict[str, Touch]
) -> dict[tuple[str, str], isl.Map]:
    """Drop `initialise → use` where an update stands between: the value comes through it, and so does the
    order.
    """
    result = dict(found)
    updates = [i for i, t in touches.items() if t.relaxed and t.exact_writes]
    for (source, target), relation in found.items():
        if touches[source].relaxed or not touches[source].exact_writes:
            continue
        for update in updates:
            first, second = found.get((source, update)), found.get((update, target))
            if first is not None and second is not None and update != target:
                same_cell = _same_cell(touches[source].writes, touches[update].writes)
                relation = relation.subtract(first.intersect(same_cell).apply_range(second))
        result[source, target] = relation
    return result


def _same_cell(first: isl.Map | None, second: isl.Map | None) -> isl.Map:
    assert first is not None
    assert second is not None
    return first.apply_range(second.reverse())
