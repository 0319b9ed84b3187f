"""Following values: through copies and partial results to the instances that computed them."""

from __future__ import annotations

from collections.abc import Collection

from workbench.certificates.reading import Text
from workbench.certificates.sources import union
from workbench.certificates.spelling import same_constant
from workbench.errors import CertificationError
from workbench.lang.expr import Const, Expr
from workbench.lang.identities import identity
from workbench.poly import isl
from workbench.poly.program import ProgramStatement
from workbench.poly.unpack import maps, point


class Following(Text):
    """What stands behind the sources of a value; `moved` are the sources of what only moves values."""

    def follow(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources behind what only moves values, as instances of the program."""
        named = [(p, self.names.get(str(p.get_tuple_name(isl.dim.out)))) for p in maps(self.behind(found))]
        return union([p if origin is None else p.apply_range(origin) for p, origin in named])

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
        value = self.held[name].value if name in self.held else None
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
