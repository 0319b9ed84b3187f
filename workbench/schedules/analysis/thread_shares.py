"""What of a schedule threads divide, and what one of them does alone (Amdahl, 1967)."""

from __future__ import annotations

from math import prod

from workbench.poly.programs.program import Program
from workbench.poly.programs.tree import Tree, path
from workbench.records import record
from workbench.schedules.analysis.structure import structure
from workbench.target import Target


@record(slots=True)
class ThreadShares:
    """Seconds, roughly, of one thread: for what is `divided` among threads, and for what is `alone`."""

    divided: float
    alone: float

    def seconds(self, threads: int) -> float:
        """What so many threads take."""
        return self.divided / threads + self.alone


def thread_shares(program: Program, tree: Tree, target: Target) -> ThreadShares:
    """The shares of a program in an order: a turn of a loop for each instance, or for each vector of them."""
    divided = alone = 0.0
    for statement in program.statements:
        around = path(tree, statement.id)
        trips = prod(trip or 1 for _, trip in structure(program, statement.id).trips)
        bits = 8 * max((v.dtype.bytes for v in statement.values), default=4)
        lanes = target.lanes(bits) if any(loop.kind == "vector" for loop in around) else 1
        seconds = trips / lanes * target.costs.loop_turn_seconds
        if any(loop.kind == "parallel" for loop in around):
            divided += seconds
        else:
            alone += seconds
    return ThreadShares(divided, alone)
