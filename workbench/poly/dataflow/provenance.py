"""What values are made of: their sources behind what only moves them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from workbench.errors import BudgetExceeded
from workbench.lang.expr import Read, children, reads
from workbench.poly.dataflow.last_writers import Assignment, union_of
from workbench.poly.programs.program import Array
from workbench.poly.sets import isl
from workbench.poly.sets.unpack import maps, point

SHORT, LONG = 4, 200
"""Copies in a row that are followed one by one: before isl is asked for all of them, and where it does not know."""


class Provenance:
    """Sources of values behind assignments that only move them, under the names of what they stand for."""

    def __init__(self, idle: Callable[[str, isl.Map], bool] = lambda name, piece: False) -> None:
        """`idle` says of instances (the range of a relation) of an assignment that stands for others, which stand for
        none themselves, whether they are nothing to speak of.
        """
        self.moved, self.movers = isl.parse_union_map("{ }"), set[str]()
        self.names: dict[str, isl.Map] = {}
        self._idle = idle

    def move(self, name: str, sources: isl.UnionMap) -> None:
        """From now on the assignment of that name only moves what comes from these sources of its instances."""
        self.movers.add(name)
        self.moved = self.moved.union(union_of(p.set_tuple_name(isl.dim.in_, name) for p in maps(sources)))

    def behind(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources → sources that are no movers, in place of those that are.

        BudgetExceeded where isl does not know the end of a long chain exactly.
        """
        result, waiting = tuples_only(found, self.movers, but=True), tuples_only(found, self.movers)
        if waiting.is_empty():
            return result
        last, again = tuples_only(self.moved, self.movers, but=True), tuples_only(self.moved, self.movers)
        for step in range(LONG):
            result, waiting = result.union(waiting.apply_range(last)), waiting.apply_range(again)
            if waiting.is_empty():
                return result
            if step == SHORT:
                closure, exact = again.transitive_closure()
                if exact:
                    return result.union(waiting.union(waiting.apply_range(closure)).apply_range(last))
        raise BudgetExceeded("a chain of copies cannot be followed to its end")

    def named(self, found: isl.UnionMap) -> isl.UnionMap:
        """Sources → what stands behind movers, under the names of what that stands for."""
        named: list[isl.Map] = []
        for piece in maps(self.behind(found)):
            name = str(piece.get_tuple_name(isl.dim.out))
            if (origin := self.names.get(name)) is None:
                named.append(piece)
                continue
            rest = piece.subtract_range(origin.domain())
            kept = not rest.is_empty() and not self._idle(name, rest)
            named += [piece.apply_range(origin), *([rest] if kept else [])]
        return union_of(named)

    def is_once(self, found: isl.UnionMap, what: Collection[str]) -> bool:
        """Whether nothing of these names comes to a reader by two of its sources."""
        arriving = tuples_only(self.named(found.range().identity()), what)
        return arriving.is_empty() or found.reverse().range_product(arriving).reverse().is_single_valued()


def is_copy(step: Assignment, arrays: Mapping[str, Array]) -> bool:
    """Whether an assignment certainly moves a value, as it is, from a place that data do not choose."""
    value = step.value
    same = isinstance(value, Read) and value.dtype == arrays[step.array].dtype
    return same and step.certain and not any(reads(*children(value)))


def tuples_only(relation: isl.UnionMap, names: Collection[str], *, but: bool = False) -> isl.UnionMap:
    """The part of a relation that leads into tuples of these names, or the part that does not."""
    return union_of(p for p in maps(relation) if (p.get_tuple_name(isl.dim.out) in names) != but)


def first_difference(actual: isl.UnionMap, expected: isl.UnionMap, label: Callable[[str], str] = str) -> str:
    """One pair that only one of two relations of readers to sources has, in words; "" if there is none.

    `label` says how a source is called.
    """
    for verb, wrong in (("would not get", expected.subtract(actual)), ("would get", actual.subtract(expected))):
        for piece in maps(wrong):
            first, n = point(piece.wrap().flatten().lexmin()) or (), piece.dim(isl.dim.in_)
            reader, source = (", ".join(map(str, part)) for part in (first[:n], first[n:]))
            return f"({reader}) {verb} {label(str(piece.get_tuple_name(isl.dim.out)))}({source})"
    return ""


def by_statement(relation: isl.UnionMap) -> isl.UnionMap:
    """Sources (`S3_1`) as instances of statements, whichever target they write, for readers `at` the same places."""
    names = [(p, str(p.get_tuple_name(isl.dim.out)).rsplit("_", 1)[0]) for p in maps(relation)]
    return union_of(p.set_tuple_name(isl.dim.in_, "at").set_tuple_name(isl.dim.out, name) for p, name in names)
