"""How often each line of a text writes, against how many instances the statement that stands there has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from workbench.codegen.kernel import Kernel
from workbench.errors import WorkbenchError
from workbench.poly.count.counting import points_at
from workbench.poly.programs.marks import ExecutedBy
from workbench.poly.programs.program import Program, ProgramStatement
from workbench.poly.programs.tree import Band, Mark, Sequence, Tree, path, statements
from workbench.poly.threads.grid import is_thread
from workbench.poly.time.concurrency import is_block
from workbench.runtime.emulation.accesses import Part, statement_parts
from workbench.runtime.emulation.findings import Finding
from workbench.runtime.emulation.records import RawLaunch
from workbench.schedules import Schedule
from workbench.schedules.kernels.micro_kernels import registered
from workbench.schedules.kernels.warp_instructions import WarpInstruction

METHOD = "executor, against the instances of the schedule"


@dataclass
class Written:
    """What the launches of one execution wrote: elements by line and array; by line, the most threads along each axis.

    An axis is "block.x" or "thread.x".
    """

    elements: dict[tuple[int, str], int] = field(default_factory=dict)
    threads: dict[int, dict[str, int]] = field(default_factory=dict)

    def add(self, line: int, array: str, elements: int, launch: RawLaunch) -> None:
        """What a line wrote in a launch."""
        self.elements[line, array] = self.elements.get((line, array), 0) + elements
        threads = self.threads.setdefault(line, {})
        for group, extents in (("block", launch.grid), ("thread", launch.block)):
            for axis, extent in zip("xyz", extents, strict=True):
                kind = f"{group}.{axis}"
                threads[kind] = max(extent, threads.get(kind, 1))


def repetitions(kernel: Kernel, sizes: dict[str, int], written: Written) -> list[Finding]:
    """Statements that are executed more often than they have instances, as a loop does that runs too far."""
    if not isinstance(kernel.schedule, Schedule):
        return []
    program, tree = kernel.schedule.program, kernel.schedule.tree
    found = statement_parts(kernel.source)
    lines = kernel.source.split("\n")
    excess: list[Finding] = []
    for own in program.statements:
        mine = [part for part in found if part.statement == own.name]
        for array in {a.array for a in own.accesses if a.kind == "write"}:
            busiest = list(_busiest(mine, found, array, written))
            if not busiest or (most := _most(program, tree, own, sizes, written.threads[busiest[0]])) is None:
                continue
            depths = _depths(tree, own.id)
            times = {n: written.elements[n, array] * _at_once(lines[n - 1], depths) for n in busiest}
            if sum(times.values()) > most:
                line = max(times, key=times.__getitem__)
                what = (
                    f"{own.name} is executed {sum(times.values()):,} times; the schedule has {most:,} instances of it"
                )
                excess.append(_repeated(kernel, line, lines[line - 1].strip(), array, what))
    return excess


def _busiest(mine: list[Part], every: list[Part], array: str, written: Written) -> Iterator[int]:
    """Of each part the line that writes most of an array; what another statement inside writes is not its own."""
    for part in mine:
        inner = [p for p in every if part.first < p.first and p.last <= part.last]
        own = [n for n in range(part.first, part.last + 1) if not any(p.first <= n <= p.last for p in inner)]
        counted = [n for n in own if (n, array) in written.elements]
        if counted:
            yield max(counted, key=lambda n: written.elements[n, array])


def _most(
    program: Program, tree: Tree, own: ProgramStatement, sizes: dict[str, int], threads: Mapping[str, int]
) -> int | None:
    """How often a statement may be executed; where no loop is bound to an axis, by all threads along it.

    None where its instances cannot be counted.
    """
    bound = {loop.kind for loop in path(tree, own.id) if is_block(loop.kind) or is_thread(loop.kind)}
    try:
        instances = points_at(program, own.id, tuple((name, sizes[name]) for name in program.symbols))
    except (WorkbenchError, KeyError):
        return None
    return instances * prod(n for axis, n in threads.items() if axis not in bound)


def _depths(tree: Tree, statement: str) -> dict[str, int]:
    """Instruction of a warp → contributions that it adds to a cell at once, where one executes the statement."""
    match tree:
        case Mark(ExecutedBy(name), child) if statement in statements(child):
            kernel = registered(name)
            return {kernel.name: kernel.shape[2]} if isinstance(kernel, WarpInstruction) else {}
        case Mark(_, child) | Band(_, child):
            return _depths(child, statement)
        case Sequence(children):
            return next((_depths(c, statement) for c in children if statement in statements(c)), {})
    return {}


def _at_once(text: str, depths: Mapping[str, int]) -> int:
    return next((depth for name, depth in depths.items() if name in text), 1)


def _repeated(kernel: Kernel, line: int, text: str, array: str, what: str) -> Finding:
    return Finding(
        "repeated", kernel.name, line, text, (None, None), 0, "", array, None, METHOD, what
    )  # fmt: skip
