"""Matching: is an expression of the text the operator's, with values from the same instances?"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.certificates.following import Following, only
from workbench.certificates.reading import Group, is_scalar
from workbench.certificates.sources import Step, pointwise, union
from workbench.certificates.spelling import data_terms, head, is_number, plain, same_constant
from workbench.lang.dtypes import BOOL, INT64
from workbench.lang.expr import Binary, Const, Expr, Read, children, integer, reads, substitute
from workbench.lang.printer import show
from workbench.poly import isl
from workbench.poly.affine import NotAffine, affine
from workbench.poly.unpack import maps

DEEPEST = 24


@dataclass(frozen=True)
class At:
    """Where an expression is evaluated: the step, and which of its instances for each instance that claims."""

    step: Step
    where: isl.Map

    def on(self, claiming: isl.Set) -> At:
        """Only for these claiming instances."""
        return At(self.step, self.where.intersect_domain(claiming))

    def through(self, sources: isl.UnionMap) -> isl.UnionMap:
        """Sources of what is read there, for the claiming instances."""
        return isl.UnionMap.from_map(self.where).apply_range(sources)


class Matching(Following):
    """Compares expressions; `group` is what is being compared."""

    group: Group

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
        """The value of index arithmetic, as a relation; NotAffine if it has none."""
        sizes = {name: Const(value, INT64) for name, value in self.program.sizes.items()}
        return isl.parse_map(f"{{ {step.tuple} -> [{affine(substitute(expr, dict(sizes)))}] }}")

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
            if name not in self.copies or not is_scalar(self.raised.arrays[mine.tensor]):
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
        cells = cells.intersect_domain(m.where.domain())
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
        for piece in maps(only(actual, self.held)):
            here, name = piece.domain(), str(piece.get_tuple_name(isl.dim.out))
            others = only(actual, {name}, but=True).domain()
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
