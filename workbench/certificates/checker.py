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
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.certificates.following import only
from workbench.certificates.matching import At, Matching
from workbench.certificates.memory import address, require_inside, require_no_race
from workbench.certificates.reading import Group, is_outer
from workbench.certificates.sources import Step, pointwise, union
from workbench.errors import CertificationError
from workbench.fromc.raising import raise_c
from workbench.lang.expr import Binary, Call, Const, Expr, Read, reads, transform
from workbench.lang.operator import Monoid
from workbench.poly import isl
from workbench.poly.lowering import lower
from workbench.poly.program import Array, Program, ProgramStatement
from workbench.poly.unpack import maps


@dataclass(frozen=True)
class Found:
    """What was read from the text: its statements, those that compute, split reductions, loops proved parallel; whether
    updates in them are atomic.
    """

    statements: int
    computing: int
    split: tuple[str, ...]
    parallel: tuple[str, ...]
    helpers: tuple[str, ...]
    atomic: bool


@isl.guarded
def checked(
    program: Program, text: str, function: str, layouts: Mapping[str, Array], meanings: Mapping[str, str]
) -> Found:
    """What was found in a text that computes what the program says; CertificationError with the first difference.

    `layouts` gives the array of the program, or of claims, behind each pointer of the C function, `meanings` the
    instances of the program that the cells of an array of claims stand for.
    """
    if "claim_" not in text and all(isl.parse_set(s.domain).is_empty() for s in program.statements):
        return Found(0, 0, (), (), (), atomic=False)
    operator = raise_c(text, function).operator
    arrays = {c: program.arrays[a.name] if is_outer(program, a) else a for c, a in layouts.items()}
    lengths = {f"{c}_length": 1 << 59 if c.startswith("claim_") else _elements(a) for c, a in arrays.items()}
    raised = lower(operator, {k: lengths[k] for k in operator.size_names if k in lengths})
    require_inside(raised, text)
    checker = Checker(program, raised, arrays, meanings)
    checker.check()
    for loop in checker.loops:
        require_no_race(raised, checker.mine.paths, loop, checker.atomic)
    split = dict.fromkeys(g.who.name for g in checker.groups if g.combines)
    computing = sum(len(g.steps) for g in checker.groups if not g.combines)
    helpers = dict.fromkeys(re.findall(r"\bwb_\w+", text[text.index("restrict claim_") :]))
    parallel = dict.fromkeys(s.dims[-1] for s in checker.loops)
    return Found(len(raised.statements), computing, tuple(split), tuple(parallel), tuple(helpers), bool(checker.atomic))


class Checker(Matching):
    """What has to be shown."""

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
            if name in self.layouts and is_outer(self.program, self.layouts[name]):
                self.require_end(name, self.layouts[name])

    def require_same(self, group: Group, part: int, step: Step) -> None:
        """The step computes what the statement does; or it combines what the statement combines."""
        their = self.theirs.steps[f"{group.who.id}_{part}"]
        t = At(their, group.origin(step, their.id))
        m = At(step, isl.Set.identity(step.domain if group.combines else t.where.domain()))
        why = [self.differs(step.value, m, e, t) for e in self.spellings(group, part)]
        if all(why):
            said = re.sub(r"[@?]\d", lambda m: "its cell" if m[0][0] == "@" else "a partial result", why[0])
            raise CertificationError(f"{group.who.name}: {said}")
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
            found = [only(self.follow(self.mine.of(*reading)), others), only(self.theirs.of(*now), others)]
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


def _elements(array: Array) -> int:
    pairs = zip(array.extent, array.strides, strict=True)
    return 1 + sum(
        max(0, int(e.value) - 1) * int(s.value) for e, s in pairs if isinstance(e, Const) and isinstance(s, Const)
    )
