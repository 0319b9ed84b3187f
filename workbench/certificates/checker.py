"""The checker: does a C text compute what an operator's program says?

It knows nothing of schedules or of how the text was made, and shares no proof with legality.  Claims say which of the
text's assignments compute which instances of the program, and nothing of that is believed: there must stand the
statement's expression, node by node, and every value read must come from the instances it comes from in the program,
behind what only moves it.  Reductions are multisets: each contribution once, in order only where operators differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from workbench.errors import CertificationError
from workbench.fromc.pieces import raised_at
from workbench.fromc.spelling import is_number, respelled
from workbench.lang.algebra.identities import combined, identity
from workbench.lang.algebra.normal_form import data_terms, polynomial
from workbench.lang.expr import Expr, Read, children, operation, reads
from workbench.lang.printing.printer import show
from workbench.poly.dataflow.delinearising import delinearised, memory_elements, same_cells
from workbench.poly.dataflow.last_writers import Assignment, Dataflow, assignments, pointwise, union_of
from workbench.poly.dataflow.provenance import Provenance, by_statement, first_difference, is_copy, tuples_only
from workbench.poly.dataflow.races import races
from workbench.poly.dataflow.values import Value, changes_nothing, exactly_converted
from workbench.poly.dependence.bounds import box, out_of_bounds
from workbench.poly.programs.addresses import address
from workbench.poly.programs.affine import NotAffine
from workbench.poly.programs.program import Array, Program
from workbench.poly.sets import isl
from workbench.poly.sets.unpack import maps

CELL, PARTIAL = "its cell", "a partial result"  # what an update combines, in place of reads
Layouts = Mapping[str, Array]


@dataclass(frozen=True)
class Claim:
    """What one of the text's assignments is said to do: compute instances of the program's assignment `target`, related
    by `instances` (isl text), or combine partial results of it (none); `fields` are those for all targets together.
    """

    target: str
    fields: tuple[str, ...]
    instances: str = ""


@isl.guarded
def check(
    program: Program, text: str, function: str, layouts: Layouts, claims: Mapping[str, Claim],
    parallel: Iterable[str] = (), atomic: Iterable[str] = (),
) -> None:  # fmt: skip
    """CertificationError with the first reason why the text does not compute what the program says.

    `layouts` gives the array behind each pointer (arguments and results are the program's own).  Claims are by the
    text's assignments, as `text_S3_0`.  Loops around statements `parallel` may run at once, updates by `atomic` meet.
    """
    own = {n: program.arrays[n] for n in (*program.parameters, *program.outputs) if n in program.arrays}
    known = {c: own[a.name] if a.name in own else replace(a, role="temporary") for c, a in layouts.items()}
    raised = raised_at(text, function, {c: memory_elements(a) for c, a in known.items()})
    for outside in out_of_bounds(raised):
        raise CertificationError(f"the text touches memory beyond its arrays: {outside}")
    checker = Checker(program, raised, known, claims)
    checker.check()
    updates = {checker.mine.steps[n].own.id for n, claim in claims.items() if claim.target in checker.updates}
    for race in races(raised, parallel, {*atomic} & updates, {c for c in raised.outputs if c not in layouts}):
        raise CertificationError(str(race))


class Checker:
    """Two programs as assignments: `theirs` of the operator, `mine` of the text."""

    def __init__(self, program: Program, raised: Program, layouts: Layouts, claims: Mapping[str, Claim]) -> None:
        self.program = respelled(program, {a.name: a.dtype for a in program.arrays.values()})
        text = respelled(delinearised(raised, layouts), {c: a.dtype for c, a in layouts.items()})
        self.claims, self.layouts = claims, layouts
        self.outer = {a.name: c for c, a in layouts.items() if a.role != "temporary"}
        self.theirs = Dataflow(self.program, assignments(self.program))
        self.updates = {n for n, s in self.theirs.steps.items() if s.own.kind == "update"}
        first = {c: self.place(c).reverse() for c in self.outer.values()}
        self.mine = Dataflow(text, assignments(text, "text_"), "nothing", first)
        self.provenance = Provenance(self.is_idle)
        self.partial: dict[str, isl.UnionMap] = {}
        for name, claim in claims.items():
            self.believe(name, claim)
        self.held = {n: s for n, s in self.mine.steps.items() if n not in claims}
        self.copies = {s: self.mine.read(s, s.value) for s in self.held.values() if is_copy(s, raised.arrays)}
        for step, sources in self.copies.items():
            self.provenance.move(step.id, sources)

    def believe(self, name: str, claim: Claim) -> None:
        """From now on an assignment gives values to the cells of what it is said to compute."""
        step, their = self.mine.steps[name], self.theirs.steps[claim.target]
        fields = [(n, claim.instances) for n, s in self.theirs.steps.items() if s.own is their.own]
        said = [(c.target, c.instances) for c in map(self.claims.get, claim.fields) if c]
        if said != fields or name not in claim.fields or not (claim.instances or claim.target in self.updates):
            raise CertificationError(f"{their.own.name}: a claim, but nothing that computes it")
        if claim.instances:
            named = isl.parse_map(claim.instances).set_tuple_name(isl.dim.in_, name).intersect_domain(step.domain)
            self.provenance.names[name] = named = named.set_tuple_name(isl.dim.out, their.id)
            if not (named.is_single_valued() and named.range().is_subset(their.domain)):
                raise CertificationError(f"{their.own.name}: the text claims instances that it does not have")
        if any(reads(*step.own.targets[0][1])):
            named = self.provenance.names.get(name)
            if named is None or not step.domain.is_subset(named.domain()):
                raise CertificationError(f"{their.own.name}: data choose a cell for none of the operator's instances")
            step = replace(step, cells=named.apply_range(their.cells).apply_range(self.place(step.array)))
        self.mine.steps[name] = replace(step, certain=step.certain and claim.target not in self.updates)

    def place(self, name: str) -> isl.Map:
        """From the operator's cells to those of the text's array."""
        layout = self.layouts.get(name)
        if layout is None or layout.rank != getattr(self.program.arrays.get(layout.name), "rank", None):
            raise CertificationError(f"{name}: places that depend on data in a copy of an array are not followed")
        return same_cells(layout, name)

    def is_idle(self, name: str, instances: isl.Map) -> bool:
        """Whether instances that stand for none of the operator's change nothing."""
        step, their = self.mine.steps[name], self.theirs.steps[self.claims[name].target]
        update = Value(self.mine, step, isl.Set.identity(instances.range()), step.value)
        return their.id in self.updates and changes_nothing(update, their.own.reduction)

    def check(self) -> None:
        """CertificationError with the first thing that could not be shown."""
        for name, claim in sorted(self.claims.items(), key=lambda item: bool(item[1].instances)):
            self.fields, step, their = claim.fields, self.mine.steps[name], self.theirs.steps[claim.target]
            self.require_same(step, their, combines=not claim.instances)
            if not claim.instances:
                self.require_partial(name, their)
            elif their.operator:
                self.require_order(step, their)
            if claim.target in self.updates and name == claim.fields[-1] != claim.fields[0]:
                self.require_together(claim)
        for step, sources in self.copies.items():
            self.require_once(sources, step.own.name)
        for array in dict.fromkeys((*self.outer, *self.program.outputs)):
            self.require_end(self.program.arrays[array])

    def require_same(self, step: Assignment, their: Assignment, *, combines: bool) -> None:
        """The step computes what the statement does; or it combines what the statement combines."""
        who, part = their.own, their.position
        mine = theirs = Value(self.mine, step, isl.Set.identity(step.domain), step.value)
        types = [self.program.arrays[name].dtype for name, _ in who.targets]
        cells, values = ([Read(f"{n} {i}", (), t) for i, t in enumerate(types)] for n in (CELL, PARTIAL))
        if not combines:
            values, theirs = list(who.values), Value(self.theirs, their, self.provenance.names[step.id], their.value)
            mine = mine.on(theirs.where.domain())
        updates = their.id in self.updates and who.reduction
        wanted = combined(updates, part, cells, values) if updates else (their.value,)
        why = [self.differs(mine, theirs.part(value)) for value in wanted]
        (array, place), (_, their_place) = step.own.targets[0], who.targets[part]
        if not all(why) and any(reads(*place)):
            why = [self.elsewhere(array, mine, place, theirs, their_place)]
        if all(why):
            raise CertificationError(f"{who.name}: {why[0]}")

    def require_partial(self, name: str, their: Assignment) -> None:
        """A partial result is the identity and contributions to such targets, each of them once."""
        found = self.partial.setdefault(name, union_of([]))
        self.require_once(found, their.own.name)
        kept = self.substantial(self.provenance.behind(found), their)
        bag, others = self.provenance.named(kept), [s for s in self.theirs.steps.values() if s.array == their.array]
        alike = {s.id for s in others if {x.operator for x in others} - {""} == {s.operator}}
        if wrong := self.compared(bag, tuples_only(bag, alike)):
            raise CertificationError(f"{their.own.name}: a partial result that cannot be combined; {wrong}")
        self.provenance.move(name, kept)

    def require_together(self, claim: Claim) -> None:
        """The fields of a tuple belong together: contributions to one of them are contributions to all."""
        steps = [(self.mine.steps[n], self.theirs.steps[self.claims[n].target]) for n in claim.fields]
        stood = [(self.mine.of(s.cells, self.mine.time(s)), their) for s, their in steps]
        for several in (stood, [(self.partial[s.id], their) for s, their in steps if not claim.instances]):
            bags = [by_statement(self.substantial(self.provenance.named(x), their)) for x, their in several]
            if not all(bag.is_equal(bags[0]) for bag in bags):
                raise CertificationError(f"{steps[0][1].own.name}: values of different contributions stand together")

    def require_order(self, step: Assignment, their: Assignment) -> None:
        """What does not commute with a contribution comes before it as in the program."""
        alike = {""} if their.operator == "=" else {"", their.operator}
        others = {n for n, s in self.theirs.steps.items() if s.array == their.array and s.operator not in alike}
        if others:
            named, before = self.provenance.names[step.id], (step.cells, self.mine.time(step))
            then = named.apply_range(their.cells), named.apply_range(self.theirs.time(their))
            if not their.own.writes[their.position].exact:
                before, then = pointwise(*before), pointwise(*then)
            stood = self.provenance.named(self.mine.of(*before))
            if wrong := self.compared(tuples_only(stood, others), tuples_only(self.theirs.of(*then), others)):
                raise CertificationError(f"{their.own.name}: contributions come in another order; {wrong}")

    def require_end(self, array: Array) -> None:
        """Every cell that outlives the text ends with the operator's value."""
        if array.name not in self.outer:
            raise CertificationError(f"{array.name} is not an argument of the text")
        cells = isl.Set.identity(box(self.program, array)).set_tuple_name(isl.dim.in_, "each")
        raw = self.mine.of(cells.apply_range(self.place(self.outer[array.name])), self.mine.end(cells))
        if wrong := self.compared(self.provenance.named(raw), self.theirs.of(cells, self.theirs.end(cells))):
            raise CertificationError(f"{array.name} at the end: {wrong}")
        self.require_once(raw, array.name)

    def require_once(self, raw: isl.UnionMap, what: str) -> None:
        """No contribution arrives by two ways."""
        if not self.provenance.is_once(raw, self.updates):
            raise CertificationError(f"{what}: a contribution arrives twice")

    def substantial(self, found: isl.UnionMap, their: Assignment) -> isl.UnionMap:
        """The sources without numbers that change nothing when they are combined into such a target."""
        unit = identity(their.own.reduction or "+", their.position, self.program.arrays[their.array].dtype)
        return tuples_only(found, {n for n, s in self.held.items() if operation(s.value) == operation(unit)}, but=True)

    def compared(self, actual: isl.UnionMap, expected: isl.UnionMap) -> str:
        """The first source that is missing or should not be there."""
        names = {n: s.own.name for n, s in self.theirs.steps.items()}
        return first_difference(actual, expected, lambda n: names.get(n, f"what stood in {n}"))

    def differs(self, mine: Value, theirs: Value) -> str:
        """Why two expressions are not the same; nothing if they are."""
        if mine.where.is_empty():
            return ""
        if isinstance(theirs.expr, Read) and theirs.expr.tensor.startswith((CELL, PARTIAL)):
            return self.hole(mine, theirs.expr.tensor)
        if is_number(mine.expr) and is_number(theirs.expr):
            with suppress(NotAffine):
                return "" if mine.number().is_equal(theirs.number()) else self.unlike(mine.expr, theirs.expr)
        if isinstance(mine.expr, Read):
            return self.read(mine, mine.expr, theirs)
        if isinstance(theirs.expr, Read) or operation(mine.expr) != operation(theirs.expr):
            why, same = self.in_place(mine, theirs), exactly_converted(mine.expr)
            return self.differs(mine.part(same), theirs) if why and same is not None else why
        pairs = zip(children(mine.expr), children(theirs.expr), strict=True)
        return next((why for a, b in pairs if (why := self.differs(mine.part(a), theirs.part(b)))), "")

    def unlike(self, mine: Expr, theirs: Expr) -> str:
        return f"another expression; expected {show(theirs)}, found {show(mine)}"

    def hole(self, mine: Value, hole: str) -> str:
        """What stood in a target is read there, at that time; a partial result is remembered."""
        target = self.mine.steps[self.fields[int(hole.split()[-1])]]
        read, (array, place) = mine.expr, target.own.targets[0]
        if hole.startswith(CELL) and mine.step.id == target.id and read == Read(array, place, read.dtype):
            return ""
        if not isinstance(read, Read) or any(reads(*read.subscripts)):
            return self.unlike(read, Read(hole, (), read.dtype))
        found = union_of(p.set_tuple_name(isl.dim.in_, target.id) for p in maps(mine.sources()))
        if hole.startswith(PARTIAL):
            return "" if self.partial.setdefault(target.id, found).is_equal(found) else "two partial results at once"
        stood = self.mine.of(target.cells, self.mine.time(target)).intersect_domain(found.domain())
        same = stood.is_equal(found) or stood.is_equal(found.apply_range(self.provenance.moved))
        return "" if same else f"{read.tensor} is not what the statement combines with"

    def read(self, mine: Value, read: Read, theirs: Value) -> str:
        """What is read comes from the same instances; what the text computed ahead, or in place, is compared."""
        if any(reads(*read.subscripts)):
            return self.gathered(mine, read, theirs)
        raw, wrong = mine.sources(), ""
        actual = self.provenance.named(raw)
        ahead = tuples_only(actual, self.held).domain()
        if (cases := mine.cases(actual.intersect_domain(ahead))) is None:
            return f"{show(read)} may have several values that are computed ahead"
        why = next((w for case in cases if (w := self.differs(case, theirs.on(case.where.domain())))), "")
        raw, actual = raw.subtract_domain(ahead), actual.subtract_domain(ahead)
        if why or raw.is_empty():
            return why
        if isinstance(theirs.expr, Read) and not any(reads(*theirs.expr.subscripts)):
            expected = theirs.sources().intersect_domain(raw.domain().coalesce())
            if not (wrong := self.compared(actual.intersect_domain(expected.domain()), expected)):
                self.require_once(raw, show(read))
                return ""
        return (why := self.in_place(mine, theirs)) and (wrong or why)

    def in_place(self, mine: Value, theirs: Value) -> str:
        """The text computes in place what the program reads, or only the branch that instances decide."""
        if (cases := theirs.cases()) is None:
            return self.unlike(mine.expr, theirs.expr)
        return next((why for case in cases if (why := self.differs(mine.on(case.where.domain()), case))), "")

    def gathered(self, mine: Value, found: Read, theirs: Value) -> str:
        """What is read where data say comes from the same place, and each cell from the same instances."""
        if not isinstance(wanted := theirs.expr, Read):
            return self.unlike(mine.expr, theirs.expr)
        place = self.place(found.tensor)
        if wrong := self.elsewhere(found.tensor, mine, found.subscripts, theirs, wanted.subscripts):
            return wrong
        pairs = theirs.where.apply_range(theirs.step.reading(wanted))
        cells, at = pointwise(pairs, mine.where.apply_range(self.mine.time(mine.step)))
        then = pointwise(pairs, theirs.where.apply_range(self.theirs.time(theirs.step)))
        raw = self.mine.of(cells.apply_range(place), at)
        self.require_once(raw, found.tensor)
        return self.compared(self.provenance.named(raw), self.theirs.of(*then))

    def elsewhere(self, array: str, mine: Value, place: Sequence[Expr], theirs: Value, wanted: Sequence[Expr]) -> str:
        """Why a place that depends on data is not that of the operator's cell."""
        terms, rest = data_terms(polynomial(place[-1]))
        needed, left = data_terms(address(self.layouts[array], (*wanted,)))
        for factor, part in needed:
            alike = (t for t in terms if t[0] == factor and not self.differs(mine.part(t[1]), theirs.part(part)))
            if (same := next(alike, None)) is None:
                return f"another place in {array}; nothing stands for {show(part)}"
            terms.remove(same)
        return f"another place in {array}" if terms or self.differs(mine.part(rest), theirs.part(left)) else ""
