"""A program's dataflow as plain data: nests of statements in the order they run, arrays, and the bytes between them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from workbench import poly
from workbench.poly.programs.program import AccessKind, Array, Program, ProgramStatement
from workbench.poly.programs.tree import path
from workbench.records import record
from workbench.viz.draw.palette import array_numbers, statement_numbers
from workbench.viz.frames.coordinates import Subject, groups
from workbench.viz.views.program.program_rows import shape_text, statement_line

Where = Literal["outside", "between", "result"]


@record
class Edge:
    """What one statement reads or writes of an array: `touched_bytes` of distinct cells, None while a size is open.

    `number` fixes colour and mark of the array.  `shape` is said where bytes cannot be.
    """

    array: str
    number: int
    kind: AccessKind
    touched_bytes: int | None
    shape: str


@record
class Step:
    """A statement, with the initialisation of its cells where it has one (positions in the program)."""

    name: str
    dims: tuple[str, ...]
    number: int
    line: str
    begins: int | None
    reads: tuple[Edge, ...]
    writes: tuple[Edge, ...]


@record
class Nest:
    """Statements that share their outermost loops, which `loops` names."""

    loops: tuple[str, ...]
    steps: tuple[Step, ...]


@record
class Dataflow:
    """The nests in order, and where each array comes from: outside, between statements, or as a result."""

    title: str
    nests: tuple[Nest, ...]
    places: dict[str, Where]

    @property
    def steps(self) -> tuple[Step, ...]:
        """All statements in order."""
        return tuple(step for nest in self.nests for step in nest.steps)


def dataflow_data(of: Subject) -> Dataflow:
    """The nests of a program or schedule, and what flows between them."""
    program = of.program
    nests = tuple(_nest(of, group) for group in groups(of.tree))
    sizes = ", ".join(f"{k}={v}" for k, v in program.sizes.items())
    places: dict[str, Where] = {a.name: _place(program, a) for a in program.arrays.values()}
    return Dataflow(f"{program.name} for {sizes}" if sizes else program.name, nests, places)


def _place(program: Program, array: Array) -> Where:
    """Where an array comes from; one that is changed in place flows between statements as well."""
    written = {a.array for s in program.statements for a in s.writes}
    if array.name not in written:
        return "outside"
    return "result" if array.name in program.outputs else "between"


def _nest(of: Subject, group: tuple[str, ...]) -> Nest:
    own = [of.program.statement(s) for s in group]
    begun = {a.array: s for s in own if s.kind == "initialise" for a in s.writes}
    kept = [s for s in own if s.kind != "initialise" or not _is_continued(s, own)]
    paths = [[loop.name for loop in path(of.tree, s)] for s in group]
    return Nest(_common(paths), tuple(_step(of.program, s, begun) for s in kept))


def _is_continued(begin: ProgramStatement, own: Iterable[ProgramStatement]) -> bool:
    """Whether another statement of the nest goes on with the cells that one begins."""
    cells = {a.array for a in begin.writes}
    return any(s.kind == "update" and cells & {a.array for a in s.writes} for s in own)


def _common(paths: list[list[str]]) -> tuple[str, ...]:
    """The names that all paths begin with."""
    shared = []
    for names in zip(*paths, strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return tuple(shared)


def _step(program: Program, own: ProgramStatement, begun: dict[str, ProgramStatement]) -> Step:
    numbers = statement_numbers(program)
    begins = next((begun[a.array] for a in own.writes if own.kind == "update" and a.array in begun), None)
    reads = dict.fromkeys(a.array for a in own.reads if not a.accumulates)
    writes = dict.fromkeys(a.array for a in own.writes)
    return Step(
        own.name, own.dims, numbers[own.name], statement_line(own), numbers[begins.name] if begins else None,
        tuple(_edge(program, own, a, "read") for a in reads), tuple(_edge(program, own, a, "write") for a in writes),
    )  # fmt: skip


def _edge(program: Program, own: ProgramStatement, name: str, kind: AccessKind) -> Edge:
    array = program.arrays[name]
    cells = None if program.symbols else poly.footprint(program, name, own.domain, kind)
    moved = None if cells is None else cells * array.dtype.bytes
    return Edge(name, array_numbers(program)[name], kind, moved, shape_text(array))
