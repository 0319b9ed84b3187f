"""Values and places that go from one thread of a block to another: what barriers are for.

Two instances of one block meet if they touch one place, one of them writing, on different threads.  Places are those of
the storage found for the order: where a buffer is used again in the next iteration, that counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from workbench.lang.dtypes import INT64
from workbench.lang.expr import Binary, Expr, substitute
from workbench.lang.normal_form import simplify
from workbench.poly import isl
from workbench.poly.affine import NotAffine, affine
from workbench.poly.boxes import coordinate
from workbench.poly.concurrency import atomic_statements, is_block
from workbench.poly.grid import is_thread
from workbench.poly.program import Access, Program, ProgramStatement
from workbench.poly.storage import Storage, storage_of
from workbench.poly.timemap import compare, instance, prefix, row, row_text, shared
from workbench.poly.tree import Loop, Tree, path
from workbench.records import record

FARTHEST = 8


@record(slots=True)
class Crossing:
    """Something goes from a thread's instance of `source` to another thread's of `target` (ids), which comes later.

    `loop` is the name of the loop whose later iteration that is, empty where both are of one iteration; then many
    iterations later at least is `distance`, which is 1 where nobody asks: only for asynchronous copies.
    """

    source: str
    target: str
    loop: str
    distance: int = 1


@isl.guarded
def crossings(
    program: Program,
    tree: Tree,
    ids: tuple[str, ...],
    aligned: frozenset[str] = frozenset(),
    late: frozenset[str] = frozenset(),
    single: frozenset[str] = frozenset(),
) -> frozenset[Crossing]:
    """All crossings between some statements of one kernel, in a tree that `on_grid` gave.

    In `aligned` statements equal iterations of thread loops are one thread.  What a statement of `late` writes is not
    there for its own thread either until threads have waited (asynchronous copies).  Those of `single` lost a thread
    loop because it has one iteration: another thread executes it, the first.
    """
    scene = _Scene(program, tree, {s.array.name: s for s in storage_of(program, tree)}, aligned, late, single)
    return frozenset(x for s in ids for t in ids for x in scene.between(s, t))


@record
class _Scene:
    program: Program
    tree: Tree
    storage: dict[str, Storage]
    aligned: frozenset[str]
    late: frozenset[str]
    single: frozenset[str]

    def between(self, source: str, target: str) -> Iterator[Crossing]:
        pairs = self.meeting(source, target)
        if pairs is None:
            return
        s, t = self.program.statement(source), self.program.statement(target)
        common = shared(self.tree, source, target)
        for loop in common.loops:
            if is_block(loop.kind):
                pairs = pairs.intersect(compare(self.program, loop, s, t, "="))
        if source not in self.late and {source, target} <= self.aligned:
            pairs = pairs.subtract(self.same_thread(s, t))
        for loop in common.loops:
            if is_thread(loop.kind):
                if not {source, target} & self.single:
                    return
            elif not is_block(loop.kind):
                later = pairs.intersect(compare(self.program, loop, s, t, "<"))
                if not later.is_empty():
                    yield Crossing(source, target, loop.name, self.distance(later, loop, s, t))
                pairs = pairs.intersect(compare(self.program, loop, s, t, "="))
        if common.position < 0 and not pairs.is_empty():
            yield Crossing(source, target, "")

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

    def meeting(self, source: str, target: str) -> isl.Map | None:
        """Pairs of instances that touch one place, one of them writing."""
        s, t = self.program.statement(source), self.program.statement(target)
        atomic = {source, target} <= atomic_statements(self.tree)
        found: isl.Map | None = None
        for a in s.accesses:
            for b in t.accesses:
                if a.array != b.array or "write" not in (a.kind, b.kind) or self.private(a.array, source):
                    continue
                if atomic and a.array in {x.array for x in s.writes} & {x.array for x in t.writes}:
                    continue
                met = self.places(s, a).apply_range(self.places(t, b).reverse())
                found = met if found is None else found.union(met)
        return None if found is None or found.is_empty() else found

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
        """Pairs of instances whose thread is one; where a loop is missing, the first iteration's thread executes."""
        same = isl.parse_map(f"{prefix(self.program)}{{ {instance(s)} -> {instance(t, primed=True)} }}")
        first, second = ({x.kind: x for x in path(self.tree, y.id) if is_thread(x.kind)} for y in (s, t))
        for axis in {*first, *second}:
            a, b = first.get(axis), second.get(axis)
            same = same.intersect(self.agreeing(s, a, t, b))
        return same

    def agreeing(self, s: ProgramStatement, a: Loop | None, t: ProgramStatement, b: Loop | None) -> isl.Map:
        left = "0" if a is None else row_text(a, s, self.program)
        right = "0" if b is None else row_text(b, t, self.program, primed=True)
        pair = f"{instance(s)} -> {instance(t, primed=True)}"
        return isl.parse_map(f"{prefix(self.program)}{{ {pair} : ({left}) = ({right}) }}")


def _equal(place: str, lower: Expr, names: dict[str, Expr], subscript: Expr) -> str:
    """isl text that a coordinate has this place; empty if that cannot be said."""
    try:
        return f"{place} = {affine(simplify(Binary('-', subscript, substitute(lower, names), INT64)))}"
    except NotAffine:
        return ""
