"""The checker: does a C text compute what an operator's program says?

It knows nothing of schedules or of how the text was made, and shares no proof with them: only the C front end, the
lowering of operators, and isl.  A write to `claim_S1[...]` claims that the next writes to arrays compute that instance
of statement S1, `claim_combine_S1` that they add partial results of S1.  Nothing of this is believed: there must stand
the statement's expression, operation by operation, and every value read must come from the instances it comes from in
the program.  What claims nothing is looked through.  Reductions are multisets of contributions: each once, in order
only where operators do not commute.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from workbench.certificates.memory import address, require_inside, require_no_race
from workbench.certificates.sources import Sources, Step, pointwise, union
from workbench.certificates.spelling import data_terms, head, is_number, plain, same_constant
from workbench.errors import CertificationError
from workbench.fromc.raising import raise_c
from workbench.lang.dtypes import BOOL
from workbench.lang.expr import Binary, Call, Cast, Const, Expr, Read, Size, children, integer, reads, transform
from workbench.lang.identities import identity
from workbench.lang.operator import Monoid
from workbench.lang.printer import show
from workbench.poly import isl
from workbench.poly.affine import NotAffine, affine
from workbench.poly.lowering import lower
from workbench.poly.names import to_isl
from workbench.poly.program import Array, Program, ProgramStatement
from workbench.poly.unpack import maps, point

DEEPEST = 24


@dataclass(frozen=True)
class Found:
    """What was read from the text: its statements, those that compute, split reductions, loops proved parallel."""

    statements: int
    computing: int
    split: tuple[str, ...]
    parallel: tuple[str, ...]
    helpers: tuple[str, ...]


@dataclass(frozen=True)
class At:
    """Where an expression is evaluated: the step, and which of its instances for each instance that claims."""

    step: Step
    where: isl.Map

    def on(self, claiming: isl.Set) -> At:
        return At(self.step, self.where.intersect_domain(claiming))

    def through(self, sources: isl.UnionMap) -> isl.UnionMap:
        return isl.UnionMap.from_map(self.where).apply_range(sources)


@dataclass
class Group:
    """The steps behind one claim, one for each target of the statement; `holes` are the partial results added."""

    who: ProgramStatement
    instances: isl.Map
    combines: bool
    path: tuple[str, ...]
    steps: list[Step] = field(default_factory=list)
    holes: dict[int, isl.UnionMap] = field(default_factory=dict)

    def origin(self, step: Step, name: str = "") -> isl.Map:
        found = self.instances.set_tuple_name(isl.dim.in_, step.id).intersect_domain(step.domain)
        return found.set_tuple_name(isl.dim.out, name or self.who.id)


@isl.guarded
def checked(
    program: Program, text: str, function: str, layouts: Mapping[str, Array], meanings: Mapping[str, str]
) -> Found:
    """What was found in a text that computes what the program says; CertificationError with the first difference.

    `layouts` gives the array of the program, or of claims, behind each pointer of the C function, `meanings` the
    instances of the program that the cells of an array of claims stand for.
    """
    operator = raise_c(text, function).operator
    arrays = {c: program.arrays[a.name] if _is_outer(program, a) else a for c, a in layouts.items()}
    lengths = {f"{c}_length": 1 << 59 if c.startswith("claim_") else _elements(a) for c, a in arrays.items()}
    raised = lower(operator, {k: lengths[k] for k in operator.size_names if k in lengths})
    require_inside(raised, text)
    checker = Checker(program, raised, arrays, meanings)
    checker.check()
    for loop in checker.loops:
        require_no_race(raised, checker.mine.paths, loop)
    split = dict.fromkeys(g.who.name for g in checker.groups if g.combines)
    computing = sum(len(g.steps) for g in checker.groups if not g.combines)
    helpers = dict.fromkeys(re.findall(r"\bwb_\w+", text[text.index("restrict claim_") :]))
    parallel = dict.fromkeys(s.dims[-1] for s in checker.loops)
    return Found(len(raised.statements), computing, tuple(split), tuple(parallel), tuple(helpers))


class Checker:
    """Two programs as assignments: `theirs` of the operator, `mine` of the text."""

    def __init__(
        self, program: Program, raised: Program, layouts: Mapping[str, Array], meanings: Mapping[str, str]
    ) -> None:
        self.program, self.raised, self.layouts, self.meanings = program, raised, layouts, meanings
        self.groups: list[Group] = []
        self.held: dict[str, Step] = {}
        self.loops: list[ProgramStatement] = []
        self.types = {c: a.dtype for c, a in layouts.items()}, {a.name: a.dtype for a in program.arrays.values()}
        self.theirs = Sources(
            program, {to_isl(a.name): _opening(a) for a in program.arrays.values()}, lambda relation: relation
        )
        self.theirs.steps |= {s.id: s for s in self.expected_steps()}
        self.by_name = {to_isl(n): a for n, a in layouts.items() if n not in meanings}
        self.mine = Sources(raised, {to_isl(n): self.opening(a) for n, a in raised.arrays.items()}, self.cells)
        self.mine.steps |= {s.id: s for s in self.written_steps()}
        self.names = {s.id: g.origin(s, f"{g.who.id}_{i}") for g in self.groups if not g.combines
                      for i, s in enumerate(g.steps)}  # fmt: skip
        self.updates = {f"{s.id}_{i}" for s in program.statements if s.kind == "update" for i in range(len(s.targets))}
        self.copies = {n: read for n in self.held if (read := self.copied(n)) is not None}
        self.movers = {*self.copies, *(s.id for g in self.groups if g.combines for s in g.steps)}
        self.moved, self.depth = isl.parse_union_map("{ }"), 0

    def expected_steps(self) -> Iterator[Step]:
        for s in self.program.statements:
            for i, access in enumerate(s.writes):
                cells = isl.parse_map(access.relation).set_tuple_name(isl.dim.in_, f"{s.id}_{i}")
                yield Step(f"{s.id}_{i}", s, access.array, cells, s.values[i], access.exact and s.kind != "update")

    def written_steps(self) -> Iterator[Step]:
        pending: Group | None = None
        for s in self.raised.statements:
            access, name = s.writes[0], f"T{s.id[1:]}"
            cells = isl.parse_map(access.relation).set_tuple_name(isl.dim.in_, name)
            outer = self.raised.arrays[access.array].role != "temporary"
            step = Step(
                name, s, access.array, (self.cells if outer else self.held_cells)(cells), s.values[0], access.exact
            )
            if access.array == "claim_parallel":
                self.loops.append(s)
            elif access.array.startswith("claim_"):
                pending = self.claimed(step)
                self.groups.append(pending)
            elif pending is None or _is_scalar(self.raised.arrays[access.array]):
                self.held[name] = step
                yield step
            else:
                yield self.joined(step, pending)
                pending = pending if len(pending.steps) < len(pending.who.targets) else None

    def claimed(self, claim: Step) -> Group:
        """What a claim says; the instances stand for what they say, nothing else."""
        name = claim.array
        if name not in self.meanings:
            raise CertificationError(f"the text claims {name}, which has no meaning")
        places = address(self.layouts[name], name).reverse().set_tuple_name(isl.dim.out, name)
        instances = claim.cells.apply_range(places).apply_range(isl.parse_map(self.meanings[name]))
        who = next(s for s in self.program.statements if s.id == instances.get_tuple_name(isl.dim.out))
        return Group(who, instances, name.startswith("claim_combine_"), self.mine.paths[claim.own.id][:-1])

    def joined(self, step: Step, group: Group) -> Step:
        """The step as the next one of the group."""
        who, part, origin = group.who, len(group.steps), group.origin(step)
        if self.mine.paths[step.own.id][:-1] != group.path:
            raise CertificationError(f"{who.name}: a claim, but nothing that computes it")
        if not group.combines:
            if not step.domain.is_subset(origin.domain()):
                raise CertificationError(f"{who.name}: instances that stand for none of the operator's, as `pad` makes "
                                         "them: that they change nothing is not followed")  # fmt: skip
            if not origin.is_single_valued() or not origin.range().is_subset(isl.parse_set(who.domain)):
                raise CertificationError(f"{who.name}: the text claims instances that the statement does not have")
        cells = step.cells
        if any(reads(*step.own.targets[0][1])) and not group.combines:
            their = self.theirs.steps[f"{who.id}_{part}"]
            cells = group.origin(step, their.id).apply_range(their.cells).apply_range(self.place(step.array))
        certain = step.certain and not group.combines and who.kind != "update"
        group.steps.append(replace(step, cells=cells, certain=certain))
        return group.steps[-1]

    def copied(self, name: str) -> Read | None:
        """What a step copies; None for one that computes."""
        value = plain(self.held[name].value, self.types[0])
        if not isinstance(value, Read) or any(reads(*value.subscripts)):
            return None
        return value if value.dtype == self.raised.arrays[self.held[name].array].dtype else None

    def opening(self, array: Array) -> isl.Map:
        """What an array of the text holds at the beginning, as cells of the operator's."""
        layout = self.layouts.get(array.name)
        if layout is not None and _is_outer(self.program, layout):
            return self.place(array.name).reverse()
        rank = array.rank if layout is None else layout.rank
        return isl.parse_map(f"{{ {to_isl(array.name)}[{_dims(rank)}] -> nothing[] }}")

    def place(self, name: str) -> isl.Map:
        """From the operator's cells to those of the text's array."""
        layout = self.layouts.get(name)
        if layout is None or layout.name not in self.program.arrays:
            raise CertificationError(f"{name}: places that depend on data in a copy of an array are not followed")
        dims = _dims(layout.rank)
        return isl.parse_map(f"{{ {to_isl(layout.name)}[{dims}] -> {to_isl(name)}[{dims}] }}")

    def cells(self, relation: isl.Map) -> isl.Map:
        """What is read as cells instead of elements of memory, for arrays whose layout is known."""
        found = self.held_cells(relation)
        if not relation.domain().is_subset(found.domain()):
            name = relation.get_tuple_name(isl.dim.out)
            raise CertificationError(f"the text touches memory of {name} that holds no cell")
        return found

    def held_cells(self, relation: isl.Map) -> isl.Map:
        """The cells among elements of memory; a temporary may have others, which nothing reads."""
        name = str(relation.get_tuple_name(isl.dim.out))
        layout = self.by_name.get(name)
        if layout is None or not relation.dim(isl.dim.out):
            return relation
        return relation.apply_range(address(layout, name).reverse().set_tuple_name(isl.dim.out, name))

    # -- what is proved

    def check(self) -> None:
        """CertificationError with the first thing that could not be shown."""
        for name, read in self.copies.items():
            self.moved = self.moved.union(self.mine.read(self.held[name], read))
        for group in sorted(self.groups, key=lambda g: not g.combines):
            self.group = group
            for part, step in enumerate(group.steps):
                self.require_same(group, part, step)
            for part, step in enumerate(group.steps if group.combines else ()):
                self.require_once(group.holes[part], group.who.name)
                pieces = maps(self.substantial(self.behind(group.holes[part]), group.who, part))
                self.moved = self.moved.union(union([p.set_tuple_name(isl.dim.in_, step.id) for p in pieces]))
            self.require_together(group)
            self.require_order(group)
        for name, read in self.copies.items():
            self.require_once(self.mine.read(self.held[name], read), self.held[name].own.name)
        for name in self.raised.arrays:
            if name in self.layouts and _is_outer(self.program, self.layouts[name]):
                self.require_end(name, self.layouts[name])

    def require_same(self, group: Group, part: int, step: Step) -> None:
        """The step computes what the statement does; or it combines what the statement combines."""
        their = self.theirs.steps[f"{group.who.id}_{part}"]
        m, t = At(step, isl.Set.identity(step.domain)), At(their, group.origin(step, their.id))
        why = [self.differs(step.value, m, e, t) for e in self.spellings(group, part)]
        if all(why):
            raise CertificationError(f"{group.who.name}: {why[0]}")
        subscripts = step.own.targets[0][1]
        if any(reads(*subscripts)) and not group.combines and (
            wrong := self.elsewhere(subscripts, m, their.own.targets[part][1], t, step.array)
        ):  # fmt: skip
            raise CertificationError(f"{group.who.name}: writes elsewhere; {wrong}")

    def spellings(self, group: Group, part: int) -> list[Expr]:
        """The value of a target after the statement: @0 is what stood in its first target, ?0 a partial result."""
        who, dtype = group.who, group.who.values[part].dtype
        cells, holes = ([Read(f"{kind}{i}", (), v.dtype) for i, v in enumerate(who.values)] for kind in "@?")
        values = holes if group.combines else list(who.values)
        match who.reduction:
            case str(op) if who.kind == "update":
                pairs = (cells[part], values[part]), (values[part], cells[part])
                return [Binary(op, *p, dtype) if op in "+*" else Call(op, p, dtype) for p in pairs]
            case Monoid(left=left, right=right, combine=combine) if who.kind == "update":
                known = dict(zip((*left, *right), (*cells, *values), strict=True))
                return [transform(combine[part], lambda n: known.get(n.tensor, n) if isinstance(n, Read) else n)]
        return [values[part]]

    def require_together(self, group: Group) -> None:
        """The fields of a tuple belong together: contributions to one of them are contributions to all."""
        if len(group.steps) == 1 or group.who.kind != "update":
            return
        stood = [self.mine.of(s.cells, self.mine.time(s)) for s in group.steps]
        for several in (stood, list(group.holes.values())):
            found = []
            for part, raw in enumerate(several):
                pieces = maps(self.substantial(self.follow(raw), group.who, part))
                bare = [p.set_tuple_name(isl.dim.in_, "at") for p in pieces]
                found.append(
                    union(
                        [
                            p.set_tuple_name(isl.dim.out, str(p.get_tuple_name(isl.dim.out)).rsplit("_", 1)[0])
                            for p in bare
                        ]
                    )
                )
            if any(not x.is_equal(found[0]) for x in found):
                raise CertificationError(f"{group.who.name}: values of different contributions stand together")

    def require_order(self, group: Group) -> None:
        """What does not commute with a contribution comes before it as in the program."""
        mixed = [
            self.operator(s)
            for s in self.program.statements
            if {t for t, _ in s.targets} & {t for t, _ in group.who.targets}
        ]
        mixed = {op for op in mixed if op}
        own = self.operator(group.who)
        if not own or (len(mixed) == 1 and own != "="):
            return
        if group.combines:
            raise CertificationError(f"{group.who.name}: partial results where several operators meet are not followed")
        others = {f"{s.id}_{i}" for s in self.program.statements for i in range(len(s.targets))
                  if self.operator(s) and (self.operator(s) != own or own == "=")}  # fmt: skip
        for part, step in enumerate(group.steps):
            their = self.theirs.steps[f"{group.who.id}_{part}"]
            origin, place = group.origin(step, their.id), None
            reading, now = (
                (step.cells, self.mine.time(step)),
                (origin.apply_range(their.cells), origin.apply_range(self.theirs.time(their))),
            )
            if not their.own.writes[part].exact:
                cells, place = now[0], self.place(step.array)
                now, (each, at) = pointwise(*now), pointwise(cells, self.mine.time(step))
                reading = each.apply_range(place), at
            found = [_only(self.follow(self.mine.of(*reading)), others), _only(self.theirs.of(*now), others)]
            if wrong := self.compared(*found):
                raise CertificationError(f"{group.who.name}: contributions come in another order; {wrong}")

    def operator(self, s: ProgramStatement) -> str:
        """What combines a statement's values with what stands in the cell; "=" where data decide which is last."""
        if s.kind == "update":
            return s.reduction if isinstance(s.reduction, str) else getattr(s.reduction, "name", "")
        return "" if all(a.exact for a in s.writes) else "="

    def require_end(self, name: str, layout: Array) -> None:
        """Every cell that outlives the text ends with the operator's value."""
        box = address(layout, name).domain()
        cells, end = isl.Set.identity(box).set_tuple_name(isl.dim.in_, "each"), layout.rank
        raw = self.mine.of(cells.apply_range(self.place(name)), self.mine.end(end))
        if wrong := self.compared(self.follow(raw), self.theirs.of(cells, self.theirs.end(end))):
            raise CertificationError(f"{layout.name} at the end: {wrong}")
        self.require_once(raw, layout.name)

    # -- expressions

    def differs(self, mine: Expr, m: At, theirs: Expr, t: At) -> str:
        """Why two expressions are not the same; nothing if they are."""
        if m.where.is_empty():
            return ""
        mine, theirs = plain(mine, self.types[0]), plain(theirs, self.types[1])
        match mine:
            case Binary("!=", held, Const(0, _), _) if theirs.dtype == BOOL and head(theirs)[0] != "!=":
                return self.differs(held, m, theirs, t)  # a truth value that was held in an integer
        if isinstance(theirs, Read) and theirs.tensor[0] in "@?":
            return self.hole(mine, m, theirs)
        if is_number(mine) and is_number(theirs) and (found := self.numbers(mine, m, theirs, t)) is not None:
            return found
        if isinstance(mine, Read) or isinstance(theirs, Read):
            self.depth += 1
            try:
                if self.depth > DEEPEST:
                    return "values are computed from one another too often without a claim"
                return self.read(mine, m, theirs, t) if isinstance(mine, Read) else self.inlined(mine, m, theirs, t)
            finally:
                self.depth -= 1
        if isinstance(mine, Const) and isinstance(theirs, Const):
            return "" if same_constant(mine, theirs) else f"another number; expected {show(theirs)}, found {show(mine)}"
        if head(mine) != head(theirs) or len(children(mine)) != len(children(theirs)):
            return f"another expression; expected {show(theirs)}, found {show(mine)}"
        pairs = zip(children(mine), children(theirs), strict=True)
        return next((why for a, b in pairs if (why := self.differs(a, m, b, t))), "")

    def numbers(self, mine: Expr, m: At, theirs: Expr, t: At) -> str | None:
        """Index arithmetic by its values; None if it is not affine."""
        try:
            a, b = m.where.apply_range(self.number(mine, m.step)), t.where.apply_range(self.number(theirs, t.step))
        except NotAffine:
            return None
        same = a.intersect_domain(b.domain()).is_equal(b.intersect_domain(a.domain()))
        return "" if same else f"another number from indices; expected {show(theirs)}, found {show(mine)}"

    def number(self, expr: Expr, step: Step) -> isl.Map:
        def bare(node: Expr) -> Expr:
            match node:
                case Cast(operand, _):
                    return operand
                case Size(name, dtype):
                    return Const(self.program.sizes[name], dtype)
            return node

        dims = ", ".join(map(to_isl, step.own.dims))
        return isl.parse_map(f"{{ {step.id}[{dims}] -> [{affine(transform(expr, bare))}] }}")

    def hole(self, mine: Expr, m: At, theirs: Read) -> str:
        """What stood in a target (@) is read there, at that time; a partial result (?) is looked through."""
        target = self.group.steps[part := int(theirs.tensor[1:])]
        if theirs.tensor[0] == "@" and m.step.id == target.id and isinstance(mine, Read) and (
            (mine.tensor, mine.subscripts) == target.own.targets[0]
        ):  # fmt: skip
            return ""
        while isinstance(mine, Read):
            raw = self.mine.read(m.step, mine)
            ways = maps(raw)
            name = str(ways[0].get_tuple_name(isl.dim.out)) if len(ways) == 1 else ""
            if name not in self.copies or not _is_scalar(self.raised.arrays[mine.tensor]):
                break
            m = At(self.held[name], m.where.apply_range(ways[0]))
            mine = self.copies[name]
        else:
            return f"another expression; expected what is combined, found {show(mine)}"
        found = m.through(raw)
        if theirs.tensor[0] == "?":
            found = union([p.set_tuple_name(isl.dim.in_, "at") for p in maps(found)])
            return "" if self.group.holes.setdefault(part, found).is_equal(found) else "two partial results at once"
        claiming = m.where.get_tuple_name(isl.dim.in_)
        cells, time = (r.set_tuple_name(isl.dim.in_, claiming) for r in (target.cells, self.mine.time(target)))
        same = m.where.apply_range(self.mine.cells(m.step.reading(mine))).is_equal(cells) and found.is_equal(
            self.mine.of(cells, time)
        )
        return "" if same else f"{mine.tensor} is not what the statement combines with"

    def read(self, mine: Read, m: At, theirs: Expr, t: At) -> str:
        """A read of the text, looked through to what computes the value."""
        expected = t.through(self.theirs.read(t.step, theirs)) if isinstance(theirs, Read) else None
        if any(reads(*mine.subscripts)):
            if not isinstance(theirs, Read) or expected is None:
                return f"another expression; expected {show(theirs)}, found {show(mine)}"
            if wrong := self.elsewhere(mine.subscripts, m, theirs.subscripts, t, mine.tensor):
                return wrong
            cells, at = pointwise(
                t.where.apply_range(t.step.reading(theirs)), m.where.apply_range(self.mine.time(m.step))
            )
            raw = self.mine.of(cells.apply_range(self.place(mine.tensor)), at)
            expected = self.theirs.of(
                cells,
                pointwise(t.where.apply_range(t.step.reading(theirs)), t.where.apply_range(self.theirs.time(t.step)))[
                    1
                ],
            )
        else:
            raw = m.through(self.mine.read(m.step, mine))
        actual, done = self.follow(raw), isl.parse_union_set("{ }")
        for piece in maps(_only(actual, self.held)):
            here, name = piece.domain(), str(piece.get_tuple_name(isl.dim.out))
            others = _only(actual, {name}, but=True).domain()
            if not piece.is_single_valued() or not others.intersect(here).is_empty() or here.get_tuple_name() == "each":
                return f"{show(mine)} may have several values that are computed ahead"
            if why := self.differs(self.held[name].value, At(self.held[name], piece), theirs, t.on(here)):
                return why
            done = done.union(isl.UnionSet.from_set(here))
        actual = actual.subtract_domain(done)
        if expected is None:
            return "" if actual.is_empty() else f"another expression; expected {show(theirs)}, found {show(mine)}"
        expected = expected.subtract_domain(done).intersect_domain(raw.domain())
        wrong = self.compared(actual.intersect_domain(expected.domain()), expected)
        if not wrong:
            self.require_once(raw, mine.tensor)
            return ""
        return wrong if self.inlined(mine, m, theirs, t) else ""

    def inlined(self, mine: Expr, m: At, theirs: Expr, t: At) -> str:
        """The text computes in place what the program reads."""
        failed = f"another expression; expected {show(theirs)}, found {show(mine)}"
        if not isinstance(theirs, Read) or any(reads(*theirs.subscripts)):
            return failed
        for piece in maps(t.through(self.theirs.read(t.step, theirs))):
            name, at = str(piece.get_tuple_name(isl.dim.out)), t
            step = self.theirs.steps.get(name)
            if step is not None and step.certain and piece.is_single_valued():
                value, at = step.value, At(step, piece)
            elif name == "zero":
                value = Const(0.0 if theirs.dtype.is_float else 0, theirs.dtype)
            else:
                return failed
            if why := self.differs(mine, m.on(piece.domain()), value, at.on(piece.domain())):
                return why
        return ""

    def elsewhere(self, mine: tuple[Expr, ...], m: At, theirs: tuple[Expr, ...], t: At, name: str) -> str:
        """Why a place that depends on data is not that of the operator's cell."""
        self.place(name)
        layout = self.layouts[name]
        total: Expr = integer(0)
        for e, low, stride in zip(theirs, layout.lower, layout.strides, strict=True):
            total = Binary("+", total, Binary("*", Binary("-", e, low, e.dtype), stride, e.dtype), e.dtype)
        (terms, rest), (wanted, left) = data_terms(mine[0]) if mine else ([], total), data_terms(total)
        for factor, part in wanted:
            found = next((x for x in terms if x[0] == factor and not self.differs(x[1], m, part, t)), None)
            if found is None:
                return f"another place in {name}; nothing stands for {show(part)}"
            terms.remove(found)
        return f"another place in {name}" if terms or self.numbers(rest, m, left, t) != "" else ""

    # -- sources

    def follow(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources behind what only moves values, as instances of the program."""
        named = [(p, self.names.get(str(p.get_tuple_name(isl.dim.out)))) for p in maps(self.behind(found))]
        return union([p if origin is None else p.apply_range(origin) for p, origin in named])

    def behind(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources behind what only moves values."""
        result, waiting = _only(found, self.movers, but=True), _only(found, self.movers)
        onwards, again = _only(self.moved, self.movers, but=True), _only(self.moved, self.movers)
        for _ in range(4):
            if waiting.is_empty():
                break
            result, waiting = result.union(waiting.apply_range(onwards)), waiting.apply_range(again)
        if not waiting.is_empty():
            closure, exact = again.transitive_closure()
            if not exact:
                raise CertificationError("a chain of copies cannot be followed to its end")
            result = result.union(waiting.union(waiting.apply_range(closure)).apply_range(onwards))
        return result

    def substantial(self, found: isl.UnionMap, who: ProgramStatement, part: int) -> isl.UnionMap:
        """The sources without constants that change nothing when they are combined."""
        assert who.reduction is not None
        wanted = identity(who.reduction, part, who.values[part].dtype)
        return union([p for p in maps(found) if not self.is_constant(str(p.get_tuple_name(isl.dim.out)), wanted)])

    def is_constant(self, name: str, wanted: Expr) -> bool:
        value = self.held[name].value if name in self.held else None
        return isinstance(value, Const) and isinstance(wanted, Const) and same_constant(value, wanted)

    def require_once(self, raw: isl.UnionMap, what: str) -> None:
        """No contribution arrives by two ways."""
        ends = _only(self.follow(raw.range().identity()), self.updates)
        if not ends.is_empty() and not raw.reverse().range_product(ends).reverse().is_single_valued():
            raise CertificationError(f"{what}: a contribution arrives twice")

    def compared(self, actual: isl.UnionMap, expected: isl.UnionMap) -> str:
        """The first source that is missing or should not be there."""
        for how, wrong in (("would not get", expected.subtract(actual)), ("would get", actual.subtract(expected))):
            for piece in maps(wrong):
                first = point(piece.wrap().flatten().lexmin()) or ()
                at, source = first[: piece.dim(isl.dim.in_)], first[piece.dim(isl.dim.in_) :]
                name = str(piece.get_tuple_name(isl.dim.out))
                known = self.theirs.steps.get(name)
                label = f"{known.own.name}{_tuple(source)}" if known else f"what stood in {name}{_tuple(source)}"
                return f"{_tuple(at)} {how} {label}"
        return ""


def _only(relation: isl.UnionMap, names: Collection[str], *, but: bool = False) -> isl.UnionMap:
    """The part of a relation that leads into these tuples, or the part that does not."""
    return union([p for p in maps(relation) if (p.get_tuple_name(isl.dim.out) in names) != but])


def _tuple(numbers: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, numbers))})"


def _dims(rank: int) -> str:
    return ", ".join(f"x{d}" for d in range(rank))


def _opening(array: Array) -> isl.Map:
    name, dims = to_isl(array.name), _dims(array.rank)
    return isl.parse_map(f"{{ {name}[{dims}] -> {'zero[]' if array.role == 'temporary' else f'{name}[{dims}]'} }}")


def _is_outer(program: Program, array: Array) -> bool:
    return array.name in program.arrays and program.arrays[array.name].role != "temporary"


def _is_scalar(array: Array) -> bool:
    return array.rank == array.times


def _elements(array: Array) -> int:
    pairs = zip(array.extent, array.strides, strict=True)
    return 1 + sum(
        max(0, int(e.value) - 1) * int(s.value) for e, s in pairs if isinstance(e, Const) and isinstance(s, Const)
    )
