"""The cheapest layouts of a function's arrays, by elimination or as an integer program.

Each call is computed in one of its ways; an array that is read in another order than it is written in is moved, once
for all who read it so.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.graph.passes.support.layouts.elimination import Table, least, table
from workbench.graph.passes.support.layouts.relayouts import Order, identity
from workbench.graph.passes.support.layouts.ways import Way
from workbench.graph.terms.nodes import Call, Constant, Term
from workbench.records import record

SOLVER_SECONDS = 20.0
TIE = 1e-6
"""Parts of the largest cost by which sums must differ to be told apart: the integer program does not look closer."""


@record(eq=False)
class Layouts:
    """What there is to choose: the ways of each call with their seconds; seconds to move an array from order to order,
    where there are several; what somebody else reads as it is written."""

    ways: Mapping[Call, Sequence[tuple[Way, float]]]
    moving: Mapping[Term, float]
    read_plainly: frozenset[Term]

    @property
    def plain_cost(self) -> float:
        """What it costs if everything stands as it is written."""
        return sum(cost for ways in self.ways.values() for way, cost in ways if way.is_plain)


@record(eq=False)
class Choice:
    """A way for each call, and what that costs in all."""

    ways: Mapping[Call, Way]
    cost: float


def cheapest(layouts: Layouts) -> Choice | None:
    """The way of each call with the least cost in all; None if the solver gives up.

    Long narrow networks are decided by elimination.  Where another choice costs as little, and of wide networks, the
    integer program tells.
    """
    return _by_elimination(layouts) or _by_integer_program(layouts)


def _by_elimination(layouts: Layouts) -> Choice | None:
    """The one choice with the least cost; None if there are several, or the network is too wide."""
    found = least(_tables(layouts))
    largest = max((cost for ways in layouts.ways.values() for _, cost in ways), default=0.0)
    if found is None or found.gap <= TIE * max(largest, *layouts.moving.values(), 1e-300):
        return None
    return Choice({call: ways[found.chosen[call]][0] for call, ways in layouts.ways.items()}, found.cost)


def _tables(layouts: Layouts) -> Iterator[Table]:
    """What each call costs in each way, each array that is moved into an order, and that what is read is there."""
    moved: dict[tuple[Term, Order], None] = {}
    for call, ways in layouts.ways.items():
        yield table((call,), np.array([cost for _, cost in ways]))
        for at, argument in enumerate(call.arguments):
            if not isinstance(argument, Constant):
                orders = [way.arguments[at] for way, _ in ways]
                for order in dict.fromkeys(orders):
                    reads = np.array([each == order for each in orders])
                    yield from _available(argument, order, (call, reads), layouts, moved)
    for term in layouts.read_plainly:
        if (ways := _ways(layouts, term)) is not None:
            yield from _available(term, identity(len(ways[0][0].result)), None, layouts, moved)
    for term, order in moved:
        yield table(((term, order),), np.array([0.0, layouts.moving[term]]))


def _available(
    term: Term, order: Order, reader: tuple[Call, np.ndarray] | None, layouts: Layouts, moved: dict[Any, None]
) -> Iterator[Table]:
    """Forbids that the array is neither written nor moved so where it is read in the order (by nobody: in any case)."""
    ways = _ways(layouts, term)
    if ways is None and order == identity(len(order)):
        return
    parts: list[tuple[Hashable, np.ndarray]] = [(reader[0], ~reader[1])] if reader is not None else []
    if ways is not None:
        parts.append((term, np.array([way.result == order for way, _ in ways])))
    if term in layouts.moving:
        moved[term, order] = None
        parts.append(((term, order), np.array([False, True])))
    fine = np.zeros((1,) * len(parts), dtype=bool)
    for axis, (_, holds) in enumerate(parts):
        fine = fine | holds.reshape([-1 if at == axis else 1 for at in range(len(parts))])
    yield table([choice for choice, _ in parts], np.where(fine, 0.0, np.inf))


def _ways(layouts: Layouts, term: Term) -> Sequence[tuple[Way, float]] | None:
    return layouts.ways.get(term) if isinstance(term, Call) else None


def _by_integer_program(layouts: Layouts) -> Choice | None:
    from scipy.optimize import Bounds, LinearConstraint, milp  # only models whose layouts may change need it

    program = _Program()
    for call, ways in layouts.ways.items():
        program.call(call, ways)
    for call, ways in layouts.ways.items():
        for at, argument in enumerate(call.arguments):
            if not isinstance(argument, Constant):
                program.reads(argument, [(call, way, way.arguments[at]) for way, _ in ways], layouts)
    for term in layouts.read_plainly:
        if term in layouts.ways:
            program.available(term, identity(len(layouts.ways[term][0][0].result)), (), 1.0, layouts)  # type: ignore[index]
    if not program.rows:
        return None
    matrix = np.zeros((len(program.rows), len(program.costs)))
    for row, entries in enumerate(program.rows):
        for column, value in entries:
            matrix[row, column] += value
    scale = max(program.costs) or 1.0
    solved = milp(
        np.array(program.costs) / scale, integrality=np.ones(len(program.costs)), bounds=Bounds(0, 1),
        constraints=[LinearConstraint(matrix, program.least, program.most)],  # type: ignore[arg-type]  # its stubs want numbers
        options={"time_limit": SOLVER_SECONDS, "mip_rel_gap": 0.0},
    )  # fmt: skip
    if solved.x is None:
        return None
    ways = {call: way for (call, way), column in program.chosen.items() if solved.x[column] > 0.5}
    return Choice(ways, float(np.dot(program.costs, solved.x > 0.5)))


class _Program:
    """Columns: a way of a call; an array that is moved into an order.  Rows: one way a call; what is read is there."""

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.chosen: dict[tuple[Call, Way], int] = {}
        self.moved: dict[tuple[Term, Order], int] = {}
        self.rows: list[list[tuple[int, float]]] = []
        self.least: list[float] = []
        self.most: list[float] = []

    def call(self, call: Call, ways: Sequence[tuple[Way, float]]) -> None:
        """A call is computed in one of its ways."""
        for way, seconds in ways:
            self.chosen[call, way] = self._column(seconds)
        self._row([(self.chosen[call, way], 1.0) for way, _ in ways], 1.0, 1.0)

    def reads(self, term: Term, ways: Sequence[tuple[Call, Way, Order]], layouts: Layouts) -> None:
        """What a call reads in a chosen way is there in that order."""
        for order in dict.fromkeys(order for _, _, order in ways):
            own = tuple(self.chosen[call, way] for call, way, needed in ways if needed == order)
            self.available(term, order, own, 0.0, layouts)

    def available(self, term: Term, order: Order, readers: tuple[int, ...], needed: float, layouts: Layouts) -> None:
        """Written in the order, or moved into it, if one of the readers is chosen (or it is needed in any case)."""
        ways = layouts.ways.get(term) if isinstance(term, Call) else None
        if ways is None and order == identity(len(order)):
            return
        entries = [(column, -1.0) for column in readers]
        if ways is not None:
            entries += [(self.chosen[term, way], 1.0) for way, _ in ways if way.result == order]  # type: ignore[index]
        if (term, order) not in self.moved and term in layouts.moving:
            self.moved[term, order] = self._column(layouts.moving[term])
        if (term, order) in self.moved:
            entries.append((self.moved[term, order], 1.0))
        self._row(entries, needed, np.inf)

    def _column(self, seconds: float) -> int:
        self.costs.append(seconds)
        return len(self.costs) - 1

    def _row(self, entries: list[tuple[int, float]], least: float, most: float) -> None:
        self.rows.append(entries)
        self.least.append(least)
        self.most.append(most)
