"""Values inside loops that a gradient needs: kept for every iteration, unless later iterations leave them alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.lang.algebra.normal_form import is_plain, polynomial
from workbench.lang.derived.building import Building, box_of, cells, ranges_of
from workbench.lang.derived.calculus.algebra import if_then_else
from workbench.lang.derived.forward.stepping import written_by
from workbench.lang.derived.placing.placement import conditions
from workbench.lang.derived.systems import holds_within, intervals
from workbench.lang.derived.text.source import walked
from workbench.lang.expr import Expr, Index, Read, index_names
from workbench.lang.operator import For, Statement, Step, Target

Place = tuple[int, tuple[For, ...]]  # a top-level step, and the loops around a statement in it


@dataclass
class Snapshot:
    """A statement that keeps what is read, at one place of a loop."""

    statement: Statement
    after: bool


@dataclass
class Snapshots:
    """What is kept of one program: by the statement at which it is, and the tensors it is of."""

    building: Building
    steps: tuple[Step, ...]
    place: dict[int, Place]
    at: dict[int, list[Snapshot]] = field(default_factory=dict)
    kept: dict[object, Read] = field(default_factory=dict)
    keeping: dict[str, str] = field(default_factory=dict)

    def is_final(self, node: Read, statement: Statement, axes: tuple[For, ...], after: bool) -> bool:
        """Whether later iterations leave the cell alone: each writes a place further along an axis."""
        at, _ = self.place[id(statement)]
        statements = [each for each, _ in walked(self.steps[at : at + 1])]
        writers = [each for each in statements if node.tensor in {t.tensor for t in each.targets}]
        if len(axes) != 1 or len(writers) != 1:
            return False
        (writer,), axis = writers, axes[0].axis.index
        passed = after or statements.index(writer) < statements.index(statement)
        (target,) = (t for t in writer.targets if t.tensor == node.tensor)
        for place, own in zip(target.subscripts, node.subscripts, strict=True):
            gap = (polynomial(place) - polynomial(own)).constant
            if isinstance(place, Index) and place.name == axis and gap is not None and gap >= (not passed):
                return True
        return False

    def of(self, node: Read, statement: Statement, axes: tuple[For, ...], after: bool) -> Read:
        ranges = {r.index: (r.lower, r.upper) for r in statement.ranges}
        own = tuple(sorted((x, *ranges[x]) for s in node.subscripts for x in index_names(s)))
        key = (self._last_writer(node.tensor, statement, after), tuple(a.axis.index for a in axes), node, repr(own))
        if key not in self.kept:
            self.kept[key] = self._keep(node, statement, axes, after)
        return self.kept[key]

    def only(self, used: set[str]) -> None:
        """Forget what is kept and not used."""
        known = {place: [each for each in kept if each.statement.name in used] for place, kept in self.at.items()}
        self.at = {place: kept for place, kept in known.items() if kept}
        unused = {read.tensor for read in self.kept.values()} - used
        for name in unused:
            del self.keeping[name]

    def _last_writer(self, name: str, statement: Statement, after: bool) -> tuple[int, int]:
        """The statement of the same loops after which a tensor has its value, by its place."""
        at, _ = self.place[id(statement)]
        inside = [each for each, _ in walked(self.steps[at : at + 1])]
        here = next(n for n, each in enumerate(inside) if each is statement)
        before = inside[: here + after]
        return at, max((n for n, each in enumerate(before) if name in written_by(each)), default=-1)

    def _keep(self, node: Read, statement: Statement, axes: tuple[For, ...], after: bool) -> Read:
        """A tensor with one more dimension for every loop; of the cells that are read, or of all."""
        building = self.building
        around = tuple(each.axis for each in axes)
        loops = [axis.index for axis in around]
        own = {r.index: r for r in statement.ranges if r.index not in loops}
        names = list(dict.fromkeys(x for s in node.subscripts for x in _ordered(s) if x in own))
        small = len(names) <= len(node.subscripts) and not any(own[x].bounding - set(loops) for x in names)
        small = small and all(map(is_plain, node.subscripts))
        plain = building.axes
        building.axes = around
        try:
            if small:
                kept, taken = {x: own[x] for x in names}, self._inside_box(node, statement)
                ranges = tuple(replace(r, kind="free") for r in kept.values())
            else:
                indices = building.indices(node.tensor)
                ranges = ranges_of(cells(building.tensors[node.tensor], indices))
                names, taken = list(indices), Read(node.tensor, tuple(map(Index, indices)), node.dtype)
        finally:
            building.axes = plain
        spans = {**{a.index: a for a in around}, **{r.index: r for r in ranges}}
        name = building.make(f"{node.tensor}_kept", node.dtype, intervals(spans.values()))
        self.keeping[name] = node.tensor
        target = Target(name, tuple(Index(x) for x in (*loops, *names)))
        kept_by = Statement(name, (target,), None, False, (taken,), (*around, *ranges))
        self.at.setdefault(id(statement), []).append(Snapshot(kept_by, after))
        inner = tuple(map(Index, names)) if small else node.subscripts
        return building.read(name, (*map(Index, loops), *inner))

    def _inside_box(self, node: Read, statement: Statement) -> Expr:
        """The read where its subscripts are cells, 0 elsewhere: a condition of the statement may have guarded it."""
        building = self.building
        box = box_of(building.tensors[node.tensor])
        system = tuple(
            form
            for subscript, (low, extent) in zip(node.subscripts, box, strict=True)
            for form in (polynomial(subscript) - low, low + extent - 1 - polynomial(subscript))
        )
        spans = intervals(statement.ranges)
        left = tuple(form for form in system if not holds_within(form, spans, building.facts))
        return if_then_else(conditions(left, building.facts), node)


def _ordered(expr: Expr) -> list[str]:
    return sorted(index_names(expr))
