"""Following values: through copies and partial results to the instances that computed them."""

from __future__ import annotations

from collections.abc import Collection

from workbench.certificates.reading import Text
from workbench.certificates.sources import Step, union
from workbench.certificates.spelling import head, plain, same_constant
from workbench.errors import CertificationError
from workbench.lang.expr import Binary, Call, Const, Expr, Read, Select, children, reads
from workbench.lang.identities import identity
from workbench.poly import isl
from workbench.poly.affine import guard
from workbench.poly.program import ProgramStatement
from workbench.poly.unpack import maps, point

KNOWN = {"abs": lambda given: abs(given[0]), "max": max, "min": min}


class Following(Text):
    """What stands behind the sources of a value; `moved` are the sources of what only moves values."""

    def follow(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources behind what only moves values, as instances of the program."""
        named: list[isl.Map] = []
        for piece in maps(self.behind(found)):
            name = str(piece.get_tuple_name(isl.dim.out))
            origin = self.names.get(name)
            if origin is None:
                named.append(piece)
                continue
            named.append(piece.apply_range(origin))
            idle = piece.range().subtract(origin.domain())
            if not idle.is_empty() and not self.changes_nothing(self.mine.steps[name], idle):
                named.append(piece.intersect_range(idle))
        return union(named)

    def changes_nothing(self, step: Step, instances: isl.Set) -> bool:
        """Whether these instances of an update, which stand for none of the operator's, add the identity."""
        who = next(g.who for g in self.groups if step.id in {s.id for s in g.steps})
        target, whole = step.own.targets[0], plain(step.value, self.types[0])
        parts = children(whole)
        added = [e for e in parts if not (isinstance(e, Read) and (e.tensor, e.subscripts) == target)]
        if not isinstance(who.reduction, str) or head(whole)[0] != who.reduction or len(parts) != 2 or len(added) != 1:
            return False
        value = self.constant(added[0], step, instances)
        wanted = identity(who.reduction, 0, who.values[0].dtype)
        return value is not None and isinstance(wanted, Const) and value == wanted.value

    def constant(self, expr: Expr, step: Step, instances: isl.Set) -> float | None:
        """The number that an expression is at all of these instances, by what its buffers were filled with."""
        expr = plain(expr, self.types[0])
        match expr:
            case Const(value, _):
                return float(value)
            case Select(condition, then, otherwise, _):
                text, exact = guard(condition)
                holds = instances.intersect(isl.parse_set(f"{{ {step.tuple} : {text or 'true'} }}"))
                rest = instances.subtract(holds) if exact else instances
                cases = [(then, holds), (otherwise, rest)]
                found = {self.constant(e, step, where) for e, where in cases if not where.is_empty()}
            case Read() if not any(reads(*expr.subscripts)):
                sources = self.behind(self.mine.read(step, expr).intersect_domain(isl.UnionSet.from_set(instances)))
                ranges = [(str(p.get_tuple_name(isl.dim.out)), p.range()) for p in maps(sources)]
                found = {
                    self.constant(self.held[n].value, self.held[n], r) if n in self.held else None for n, r in ranges
                }
            case Binary("+" | "-" | "*" as op, left, right, _):
                a, b = self.constant(left, step, instances), self.constant(right, step, instances)
                found = {None if a is None or b is None else {"+": a + b, "-": a - b, "*": a * b}[op]}
            case Call("abs" | "max" | "min" as name, arguments, _):
                values = [self.constant(a, step, instances) for a in arguments]
                given = [v for v in values if v is not None]
                found = {KNOWN[name](given) if len(given) == len(values) else None}
            case _:
                return None
        return found.pop() if len(found) == 1 else None

    def behind(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources behind what only moves values."""
        result, waiting = only(found, self.movers, but=True), only(found, self.movers)
        onwards, again = only(self.moved, self.movers, but=True), only(self.moved, self.movers)
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
        value = plain(self.held[name].value, self.types[0]) if name in self.held else None
        return isinstance(value, Const) and isinstance(wanted, Const) and same_constant(value, wanted)

    def require_once(self, raw: isl.UnionMap, what: str) -> None:
        """No contribution arrives by two ways."""
        ends = only(self.follow(raw.range().identity()), self.updates)
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


def only(relation: isl.UnionMap, names: Collection[str], *, but: bool = False) -> isl.UnionMap:
    """The part of a relation that leads into these tuples, or the part that does not."""
    return union([p for p in maps(relation) if (p.get_tuple_name(isl.dim.out) in names) != but])


def _tuple(numbers: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, numbers))})"
