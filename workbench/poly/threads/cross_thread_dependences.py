"""Values and places that go from one thread of a block to another: what barriers are for.

Two instances of one block meet if they touch one place, one of them writing, on different threads.  Places are those of
the storage found for the order: where a buffer is used again in the next iteration, that counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

from workbench.lang.algebra.normal_form import simplify
from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Const, Expr, index_names, substitute
from workbench.poly.programs.affine import NotAffine, affine_text, isl_conjunction, isl_disjunction, pieces
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Loop, LoopKind, Tree, path
from workbench.poly.regions.boxes import coordinate
from workbench.poly.regions.storage import Storage, storage_of
from workbench.poly.sets import isl
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import atomic_statements, is_block
from workbench.poly.time.timemap import compare, instance, prefix, row, row_text, shared
from workbench.records import record

FARTHEST = 8
ZERO = Const(0, INT64)
Touched = tuple[str, str]  # an array, and whether it is read or written
THREAD = "thread'"  # a prime: no dim is spelt like this


@record(slots=True)
class Crossing:
    """Something goes from a thread's instance of `source` to another thread's of `target` (ids), which comes later.

    `loop` is the name of the loop whose later iteration that is, empty where both are of one iteration; then many
    iterations later at least is `distance`, which is 1 where nobody asks: only for asynchronous copies.  The source
    writes the arrays `written`; those of `read` it only reads, and the target overwrites them.
    """

    source: str
    target: str
    loop: str
    distance: int = 1
    written: tuple[str, ...] = ()
    read: tuple[str, ...] = ()


@isl.guarded
def crossings(
    program: Program,
    tree: Tree,
    ids: tuple[str, ...],
    aligned: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
    lost: frozenset[tuple[str, LoopKind]] = frozenset(),
    starts: Mapping[tuple[str, LoopKind], Expr] | None = None,
) -> frozenset[Crossing]:
    """All crossings between some statements of one kernel, in a tree that `on_grid` gave.

    In `aligned` statements thread 0 executes iteration 0 of thread loops, or the one that `starts` gives by statement
    and axis, in terms of the loops around; and loops that are `lost` to a statement because they have one iteration
    there.  What a statement of `late` writes is not there for its own thread either until threads have waited
    (asynchronous copies).
    """
    storage = {s.array.name: s for s in storage_of(program, tree)}
    scene = _Scene(program, tree, storage, aligned, late, lost, starts or {})
    return frozenset(x for s in ids for t in ids for x in scene.between(s, t))


@record
class _Scene:
    program: Program
    tree: Tree
    storage: dict[str, Storage]
    aligned: frozenset[str]
    late: frozenset[str]
    lost: frozenset[tuple[str, LoopKind]]
    starts: Mapping[tuple[str, LoopKind], Expr]

    def between(self, source: str, target: str) -> Iterator[Crossing]:
        meetings = self.meetings(source, target)
        if not meetings:
            return
        pairs = reduce(lambda a, b: a.union(b), meetings.values())
        s, t = self.program.statement(source), self.program.statement(target)
        common = shared(self.tree, source, target)
        for loop in common.loops:
            if is_block(loop.kind):
                pairs = pairs.intersect(compare(self.program, loop, s, t, "="))
        if source not in self.late and {source, target} <= self.aligned:
            pairs = pairs.subtract(self.same_thread(s, t))
        for loop in common.loops:
            if is_thread(loop.kind):
                if not {source, target} & {s for s, _ in self.lost}:
                    return
            elif not is_block(loop.kind):
                later = pairs.intersect(compare(self.program, loop, s, t, "<"))
                if not later.is_empty():
                    yield Crossing(source, target, loop.name, self.distance(later, loop, s, t), *_met(meetings, later))
                pairs = pairs.intersect(compare(self.program, loop, s, t, "="))
        if common.position < 0 and not pairs.is_empty():
            yield Crossing(source, target, "", 1, *_met(meetings, pairs))

    def distance(self, pairs: isl.Map, loop: Loop, s: ProgramStatement, t: ProgramStatement) -> int:
        """How many iterations of a loop lie at least between the instances of the pairs; counted for copies, to 8."""
        if s.id not in self.late:
            return 1
        pair = f"{instance(s)} -> {instance(t, primed=True)}"
        first, then = row_text(loop, s, self.program), row_text(loop, t, self.program, primed=True)
        for apart in range(1, FARTHEST):
            text = f"{prefix(self.program)}{{ {pair} : ({then}) - ({first}) = {apart} }}"
            if not pairs.intersect(isl.parse_map(text)).is_empty():
                return apart
        return FARTHEST

    def meetings(self, source: str, target: str) -> dict[Touched, isl.Map]:
        """Pairs of instances that touch one place, one of them writing, by the array and what the first one does."""
        s, t = self.program.statement(source), self.program.statement(target)
        atomic = {source, target} <= atomic_statements(self.tree)
        found: dict[Touched, isl.Map] = {}
        for a in s.accesses:
            for b in t.accesses:
                if a.array != b.array or "write" not in (a.kind, b.kind) or self.private(a.array, source):
                    continue
                if atomic and a.array in {x.array for x in s.writes} & {x.array for x in t.writes}:
                    continue
                met = self.places(s, a).apply_range(self.places(t, b).reverse())
                if not met.is_empty():
                    key = (a.array, a.kind)
                    found[key] = found[key].union(met) if key in found else met
        return found

    def private(self, array: str, statement: str) -> bool:
        """Whether every thread has an array of its own."""
        storage = self.storage.get(array)
        return storage is not None and any(is_thread(x.kind) for x in path(self.tree, statement)[: len(storage.home)])

    def places(self, own: ProgramStatement, access: Access) -> isl.Map:
        """From instances to the places they touch."""
        relation = isl.parse_map(access.relation).intersect_params(isl.parse_set(self.program.context))
        storage = self.storage.get(access.array)
        if storage is None:
            return relation
        home = {x.name: row(x, own, self.program) for x in path(self.tree, own.id)[: len(storage.home)]}
        names = home | {coordinate(d): e for d, e in enumerate(access.subscripts)}
        conditions = [_equal(f"p{i}'", e, names, access.subscripts[d]) for i, (d, e, _) in enumerate(storage.kept)]
        condition = " and ".join(c for c in conditions if c) or "true"
        kept = ", ".join(f"p{i}'" for i in range(len(storage.kept)))
        text = f"{prefix(self.program)}{{ {instance(own)} -> [{kept}] : {condition} }}"
        return isl.parse_map(text).intersect_domain(relation.domain())

    def same_thread(self, s: ProgramStatement, t: ProgramStatement) -> isl.Map:
        """Pairs of instances whose thread is one."""
        same = isl.parse_map(f"{prefix(self.program)}{{ {instance(s)} -> {instance(t, primed=True)} }}")
        axes: set[LoopKind] = {x.kind for y in (s, t) for x in path(self.tree, y.id) if is_thread(x.kind)}
        for axis in axes:
            same = same.intersect(self.thread(s, axis).apply_range(self.thread(t, axis).reverse()))
        return same

    def thread(self, own: ProgramStatement, axis: LoopKind) -> isl.Map:
        """From instances to their thread along an axis, the first where a loop is missing; empty if that is unknown."""
        around = {x.name: row(x, own, self.program) for x in path(self.tree, own.id)}
        present = (own.id, axis) not in self.lost
        loop = next((x for x in path(self.tree, own.id) if x.kind == axis and present), None)
        start = self.starts.get((own.id, axis), ZERO)
        number = ZERO if loop is None else Binary("-", around[loop.name], substitute(start, around), INT64)
        try:
            cases = pieces(number) if index_names(start) <= {*around} else ()
        except NotAffine:
            cases = ()
        condition = isl_disjunction(*(isl_conjunction(where, f"{THREAD} = {text}") for where, text in cases))
        return isl.parse_map(f"{prefix(self.program)}{{ {instance(own)} -> [{THREAD}] : {condition} }}")


def _met(meetings: Mapping[Touched, isl.Map], pairs: isl.Map) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arrays that some of these pairs meet in: what the first of them writes, and what it only reads."""
    met = [key for key, found in meetings.items() if not found.intersect(pairs).is_empty()]
    written = {array for array, kind in met if kind == "write"}
    return tuple(sorted(written)), tuple(sorted({array for array, _ in met} - written))


def _equal(place: str, lower: Expr, names: dict[str, Expr], subscript: Expr) -> str:
    """isl text that a coordinate has this place; empty if that cannot be said."""
    try:
        return f"{place} = {affine_text(simplify(Binary('-', subscript, substitute(lower, names), INT64)))}"
    except NotAffine:
        return ""
