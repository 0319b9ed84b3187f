"""Where the values that a program reads were written, in its written order: isl's value-based flow analysis.

It says nothing of schedules and dependences: `flow` and `value_sources` answer for legality, this for whoever wants to
know what a text computes (certificates).  Sizes must be bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce

from workbench.errors import WorkbenchError
from workbench.lang.expr import Expr, Read
from workbench.lang.printing.printer import show
from workbench.poly.dataflow.delinearising import same_cells
from workbench.poly.dependence.piecewise_flow import last_writes
from workbench.poly.programs.program import Nest, Program, ProgramStatement
from workbench.poly.sets import isl
from workbench.poly.sets.names import to_isl
from workbench.records import record

LAST = 1_000_000


@record
class Assignment:
    """One target of a statement, the one at `position`: its instances give `value` to `cells`.

    `certain` if that hides what stood there.
    """

    id: str
    own: ProgramStatement
    position: int
    array: str
    cells: isl.Map
    value: Expr
    certain: bool

    def reading(self, read: Expr) -> isl.Map:
        """The cells that a read of the value takes, whatever the data."""
        key = (read.tensor, read.subscripts) if isinstance(read, Read) else None
        found = [a for a in self.own.accesses if a.kind == "read" and (a.array, a.subscripts) == key]
        found = [a for a in found if not a.accumulates] or found  # an update's value may look at its own cell, too
        if not found:
            raise WorkbenchError(f"{self.own.name}: how {show(read)} is read is not known")
        return reduce(isl.Map.union, [isl.parse_map(a.relation) for a in found]).set_tuple_name(isl.dim.in_, self.id)

    @property
    def tuple(self) -> str:
        """isl text of an instance."""
        return f"{self.id}[{', '.join(map(to_isl, self.own.dims))}]"

    @property
    def operator(self) -> str:
        """What combines the value with what stood in the cells: that of an update; "=" where data decide which value is
        the last; nothing where this one hides the others."""
        if self.own.kind == "update":
            return getattr(self.own.reduction, "name", str(self.own.reduction))
        return "" if all(a.exact for a in self.own.writes) else "="

    @property
    def domain(self) -> isl.Set:
        """All its instances."""
        return isl.parse_set(self.own.domain).set_tuple_name(self.id)


def assignments(program: Program, prefix: str = "") -> Iterator[Assignment]:
    """The assignments of a program, one for each target of a statement: target 1 of S3 is `<prefix>S3_1`."""
    for s in program.statements:
        for i, access in enumerate(s.writes):
            name = f"{prefix}{s.id}_{i}"
            cells = isl.parse_map(access.relation).set_tuple_name(isl.dim.in_, name)
            yield Assignment(name, s, i, access.array, cells, s.values[i], access.exact and s.kind != "update")


class Dataflow:
    """Answers where cells read at a time were written.

    Cells that nothing has written are themselves, those of temporaries a point called `unwritten`; `initial` gives
    other names to the cells of some arrays.
    """

    def __init__(
        self,
        program: Program,
        steps: Iterable[Assignment],
        unwritten: str = "zero",
        initial: Mapping[str, isl.Map] | None = None,
    ) -> None:
        self.steps = {s.id: s for s in steps}
        self.paths = paths(program)
        self._initial = {to_isl(name): cells for name, cells in (initial or {}).items()}
        for a in program.arrays.values():
            known = same_cells(a, a.name)
            point = isl.Map.from_domain_and_range(known.domain(), isl.parse_set(f"{{ {unwritten}[] }}"))
            self._initial.setdefault(to_isl(a.name), point if a.role == "temporary" else known)
        self._known: dict[tuple[str, str], isl.UnionMap] = {}
        self._length = max(map(len, self.paths.values()), default=0)

    def time(self, step: Assignment, *, writes: bool = False) -> isl.Map:
        """From instances to the time when they read, or just after it, when they write."""
        path = self.paths[step.own.id]
        parts = [*path, *["0"] * (self._length - len(path)), str(int(writes))]
        return isl.parse_map(f"{{ {step.tuple} -> [{', '.join(parts)}] }}")

    def end(self, cells: isl.Map) -> isl.Map:
        """The time after everything, for whoever reads these cells."""
        last = isl.parse_set(f"{{ [{', '.join([str(LAST), *['0'] * self._length])}] }}")
        return isl.Map.from_domain_and_range(cells.domain(), last)

    def read(self, step: Assignment, read: Expr) -> isl.UnionMap:
        """The sources of what a step's value reads."""
        return self.of(step.reading(read), self.time(step))

    def of(self, cells: isl.Map, time: isl.Map) -> isl.UnionMap:
        """From readers of cells at a time to the last certain write and all others since, or to the initial cells.

        WorkbenchError where a cell has neither.
        """
        key = str(cells), str(time)
        if key not in self._known:
            self._known[key] = self._of(cells, time)
        return self._known[key]

    def _of(self, cells: isl.Map, time: isl.Map) -> isl.UnionMap:
        array, reader = (cells.get_tuple_name(side) for side in (isl.dim.out, isl.dim.in_))
        cells, time = (relation.set_tuple_name(isl.dim.in_, "reader") for relation in (cells, time))
        writers = [s for s in self.steps.values() if to_isl(s.array) == array]
        times = union_of([time, *(self.time(s, writes=True) for s in writers)])
        must, may = (union_of([s.cells for s in writers if s.certain is certain]) for certain in (True, False))
        written, missing = last_writes(isl.UnionMap.from_map(cells), must, may, times)
        unwritten = missing.apply_range(isl.UnionMap.from_map(self._initial[array]))
        found = written.reverse().union(unwritten)
        if not isl.UnionSet.from_set(cells.domain()).is_subset(found.domain()):
            raise WorkbenchError(f"{array} is read where it holds no cell, or the polyhedral library lost a source")
        name = isl.Set.identity(cells.domain()).set_tuple_name(isl.dim.in_, reader)
        return isl.UnionMap.from_map(name).apply_range(found)


def union_of(relations: Iterable[isl.Map]) -> isl.UnionMap:
    """The union of relations."""
    return reduce(isl.UnionMap.union, map(isl.UnionMap.from_map, relations), isl.parse_union_map("{ }"))


def pointwise(cells: isl.Map, time: isl.Map) -> tuple[isl.Map, isl.Map]:
    """Cells and time for a reader `each` of every cell on its own: data decide which of them is read."""
    at = cells.domain_map().apply_range(time).flatten_domain().set_tuple_name(isl.dim.in_, "each")
    return cells.range_map().flatten_domain().set_tuple_name(isl.dim.in_, "each"), at


def paths(program: Program) -> dict[str, tuple[str, ...]]:
    """Statement → positions and loop variables around it in the written order, from the outside in."""
    return dict(_paths(program.order))


def _paths(order: tuple[Nest | str, ...], before: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    for position, item in enumerate(order):
        here = (*before, str(position))
        if isinstance(item, str):
            yield item, here
        else:
            yield from _paths(item.body, (*here, to_isl(item.dim)))
