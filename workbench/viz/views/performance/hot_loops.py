"""The machine loops of a kernel beside its statements: which of them do the work, and how wide they compute."""

from __future__ import annotations

from collections.abc import Sequence

from workbench import poly
from workbench.codegen.kernel import Kernel
from workbench.poly.count.vectors import lanes_filled
from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree
from workbench.records import record
from workbench.runtime.kernels.launch import CompiledKernel
from workbench.runtime.measuring.machine_code import machine_code
from workbench.runtime.measuring.machine_loops import MachineLoop, innermost_loops
from workbench.schedules import Schedule
from workbench.viz.panels.code.listing import listing

# A statement with less of the work than this is not hot.
HOT_SHARE = 0.1


@record
class StatementLoop:
    """A machine loop, the statements (by name) whose instances it executes, and the innermost `loop` of the schedule.

    `share` is their part of the program's operations, or of its instances where it computes nothing.  Of several loops
    for the same statements the one that computes most at once is `main`, the others are its remainders.  `filled` is
    the part of the lanes of its vectors that compute an instance; None where it has no vectors.
    """

    code: MachineLoop
    statements: tuple[str, ...]
    loop: str
    share: float
    main: bool
    filled: float | None = None

    @property
    def hot(self) -> bool:
        """Whether a good part of the time can be spent here."""
        return self.main and self.share >= HOT_SHARE


def statement_loops(kernel: CompiledKernel, program: Program) -> tuple[StatementLoop, ...]:
    """The machine loops that execute statements of `program` (with its sizes), most work first.

    BuildError where machine code cannot be read; it says what to install.
    """
    schedule = kernel.schedule
    found = innermost_loops(machine_code(kernel).functions)
    owners = [_owner(kernel.kernel, schedule, loop) for loop in found]
    shares = work_shares(program)
    rows = []
    for loop, (statements, name) in zip(found, owners, strict=True):
        if statements:
            share = sum(shares.get(s, 0.0) for s in statements)
            main = _is_main(loop, statements, found, owners)
            filled = _filled(schedule.tree, program, statements, loop) if main else None
            rows.append(StatementLoop(loop, statements, name, share, main, filled))
    return tuple(sorted(rows, key=lambda r: (-r.share, not r.main, r.code.address)))


def _filled(tree: Tree, program: Program, statements: Sequence[str], loop: MachineLoop) -> float | None:
    """How full the vectors of a machine loop are, by the first of its statements."""
    own = program.statement(statements[0])
    lanes = loop.bits // (8 * max((v.dtype.bytes for v in own.values), default=1))
    found = lanes_filled(program, tree, own.id, lanes) if loop.vectorised and lanes > 1 else None
    return None if found is None else float(found)


def _is_main(
    loop: MachineLoop,
    statements: tuple[str, ...],
    found: Sequence[MachineLoop],
    owners: Sequence[tuple[tuple[str, ...], str]],
) -> bool:
    """Whether no other loop of the same statements computes, or moves, more at once."""
    rivals = [other for other, (own, _) in zip(found, owners, strict=True) if set(own) & set(statements)]
    return max(rivals, key=_weight) is loop


def _weight(loop: MachineLoop) -> tuple[bool, int, int, int]:
    return loop.vectorised, loop.results, loop.bits, loop.loads + loop.stores


def _owner(kernel: Kernel, schedule: Schedule, loop: MachineLoop) -> tuple[tuple[str, ...], str]:
    """(statements, innermost loop of the schedule) that the lines of a machine loop belong to."""
    about = listing(kernel, schedule)["lines"]
    own = [about[line - 1] for line in loop.lines if line <= len(about)]
    single = [tuple(a["statements"]) for a in own if len(a["statements"]) == 1]
    every = [s for names in (single or [tuple(a["statements"]) for a in own]) for s in names]
    names = [a["loop"] for a in own if a["loop"]]
    return tuple(dict.fromkeys(every)), names[-1] if names else ""


def work_shares(program: Program) -> dict[str, float]:
    """Each statement's part of the operations; of the instances, in a program that computes nothing."""
    instances = {s.name: poly.points(program, s.id) for s in program.statements}
    work = {s.name: instances[s.name] * (s.kind != "initialise") * poly.operations(s) for s in program.statements}
    counted = work if any(work.values()) else instances
    whole = sum(counted.values()) or 1
    return {name: count / whole for name, count in counted.items()}
