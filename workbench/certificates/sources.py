"""Where values come from: isl's value-based flow analysis over the assignments of one program, in its written order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce

from workbench.errors import CertificationError
from workbench.lang.expr import Expr, Read
from workbench.poly import isl
from workbench.poly.names import to_isl
from workbench.poly.program import Nest, Program, ProgramStatement


@dataclass(frozen=True)
class Step:
    """One assignment: its instances give `value` to `cells`; `certain` if that hides what stood there before."""

    id: str
    own: ProgramStatement
    array: str
    cells: isl.Map
    value: Expr
    certain: bool

    def reading(self, read: Read) -> isl.Map:
        """The cells that a read of the value takes, whatever the data."""
        key = read.tensor, read.subscripts
        found = [a for a in self.own.accesses if a.kind == "read" and (a.array, a.subscripts) == key]
        if not found:
            raise CertificationError(f"{self.own.name}: how {read.tensor} is read is not followed")
        return reduce(isl.Map.union, [isl.parse_map(a.relation) for a in found]).set_tuple_name(isl.dim.in_, self.id)

    @property
    def tuple(self) -> str:
        """isl text of an instance."""
        return f"{self.id}[{', '.join(map(to_isl, self.own.dims))}]"

    @property
    def domain(self) -> isl.Set:
        return isl.parse_set(self.own.domain).set_tuple_name(self.id)


class Sources:
    """Answers where cells read at a time were written; `initial` says what unwritten cells are called."""

    def __init__(self, program: Program, initial: dict[str, isl.Map], cells: Callable[[isl.Map], isl.Map]) -> None:
        self.steps: dict[str, Step] = {}
        self.initial, self.cells = initial, cells
        self.known: dict[tuple[str, str], isl.UnionMap] = {}
        self.paths = dict(_paths(program.order))
        self.length = max(map(len, self.paths.values()), default=0)

    def time(self, step: Step, late: int = 0) -> isl.Map:
        """From instances to the time when they read, or (`late=1`) write."""
        path = self.paths[step.own.id]
        parts = [*path, *["0"] * (self.length - len(path)), str(late)]
        return isl.parse_map(f"{{ {step.tuple} -> [{', '.join(parts)}] }}")

    def end(self, rank: int) -> isl.Map:
        """The time after everything, for `each[...]` of so many dimensions."""
        dims = ", ".join(f"x{d}" for d in range(rank))
        return isl.parse_map(f"{{ each[{dims}] -> [{', '.join(['1000000', *['0'] * self.length])}] }}")

    def read(self, step: Step, read: Read) -> isl.UnionMap:
        """The sources of what a step's value reads."""
        return self.of(self.cells(step.reading(read)), self.time(step))

    def of(self, cells: isl.Map, time: isl.Map) -> isl.UnionMap:
        """From readers of cells at a time to the last certain write and all others since, or to the initial cells."""
        key = str(cells), str(time)
        if key not in self.known:
            self.known[key] = self._of(cells, time)
        return self.known[key]

    def _of(self, cells: isl.Map, time: isl.Map) -> isl.UnionMap:
        array, reader = (cells.get_tuple_name(side) for side in (isl.dim.out, isl.dim.in_))
        cells, time = (relation.set_tuple_name(isl.dim.in_, "reader") for relation in (cells, time))
        writers = [s for s in self.steps.values() if to_isl(s.array) == array]
        times = union([time, *(self.time(s, 1) for s in writers)])
        info = isl.UnionAccessInfo.from_sink(isl.UnionMap.from_map(cells)).set_schedule_map(times)
        info = info.set_must_source(union([s.cells for s in writers if s.certain]))
        flow = info.set_may_source(union([s.cells for s in writers if not s.certain])).compute_flow()
        unwritten = flow.get_may_no_source().apply_range(isl.UnionMap.from_map(self.initial[array]))
        found = flow.get_may_dependence().reverse().union(unwritten)
        if not isl.UnionSet.from_set(cells.domain()).is_subset(found.domain()):
            raise CertificationError(f"the polyhedral library lost a source of {array}")
        name = isl.Set.identity(cells.domain()).set_tuple_name(isl.dim.in_, reader)
        return isl.UnionMap.from_map(name).apply_range(found)


def union(relations: list[isl.Map]) -> isl.UnionMap:
    """The union of relations."""
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, relations), isl.parse_union_map("{ }"))


def pointwise(cells: isl.Map, time: isl.Map) -> tuple[isl.Map, isl.Map]:
    """Cells and time for a reader of each cell on its own: data decide which of them is read."""
    at = cells.domain_map().apply_range(time).flatten_domain().set_tuple_name(isl.dim.in_, "each")
    return cells.range_map().flatten_domain().set_tuple_name(isl.dim.in_, "each"), at


def _paths(order: tuple[Nest | str, ...], before: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Statement → positions and loop variables around it, from the outside in."""
    for position, item in enumerate(order):
        here = (*before, str(position))
        if isinstance(item, str):
            yield item, here
        else:
            yield from _paths(item.body, (*here, to_isl(item.dim)))
