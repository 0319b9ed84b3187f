"""An estimate of memory traffic in a millisecond: boxes around the cells that an iteration of each loop touches.

`poly.loop_footprints` counts exactly and takes its time; this is for maps of many schedules.  Where domains are boxes
and subscripts have one index each the two agree; triangles are boxes scaled by how full they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import prod

import numpy as np

from workbench import poly
from workbench.errors import LoweringError
from workbench.poly.programs.program import Access, Program, ProgramStatement
from workbench.poly.programs.tree import Band, Leaf, Loop, Mark, Sequence, Tree, statements
from workbench.poly.regions.extents import extent
from workbench.records import record
from workbench.schedules import Schedule
from workbench.viz.messages.stepping import LoopTraffic
from workbench.viz.panels.domain.boxes import Box, Values, at_iteration, cells, common, held_box, hull, iterations

MOST_VALUES = 1 << 14


@record
class Node:
    """One iteration of a loop (of everything, for the first node): bytes it holds, bytes all iterations move.

    `parent` is the place of the loop around it in the list, -1 for none; `loop` is empty for everything.  `arrays` are
    names with their part of both.
    """

    parent: int
    loop: str
    statements: tuple[str, ...]
    arrays: tuple[tuple[str, int, int], ...]

    @property
    def held_bytes(self) -> int:
        """Bytes of all arrays that one iteration holds."""
        return sum(held for _, held, _ in self.arrays)

    @property
    def moved_bytes(self) -> int:
        """Bytes of all arrays that all iterations move."""
        return sum(moved for *_, moved in self.arrays)


def estimated_traffic(program: Program, tree: Tree) -> tuple[Node, ...]:
    """A node for everything, then one for every loop, parents first; LoweringError while sizes are open."""
    if program.symbols:
        raise LoweringError(f"{program.name}: traffic needs every size; give {', '.join(program.symbols)}")
    ids = statements(tree)
    whole = Level(program, {s: (everywhere(program, s), None) for s in ids})
    found = [Node(-1, "", ids, _arrays(program, tree, [whole], ids))]

    def visit(node: Tree, parent: int, levels: list[Level]) -> None:
        match node:
            case Leaf():
                return
            case Mark(_, child):
                visit(child, parent, levels)
            case Sequence(children):
                for child in children:
                    visit(child, parent, levels)
            case Band(loops, child):
                below = statements(child)
                for loop in loops:
                    levels = [*levels, levels[-1].inside(loop, below)]
                    found.append(Node(parent, loop.name, below, _arrays(program, tree, levels, below)))
                    parent = len(found) - 1
                visit(child, parent, levels)

    visit(tree, 0, [whole])
    return tuple(found)


def numbers(program: Program, ids: tuple[str, ...]) -> list[int]:
    """The places of statements (ids) in their program."""
    return [i for i, s in enumerate(program.statements) if s.id in ids]


def node_rows(of: Schedule) -> list[LoopTraffic]:
    """The nodes of a schedule for the front end: parent, held and moved bytes, statements by their places."""
    found = estimated_traffic(of.program, of.tree)
    return [(n.parent, n.held_bytes, n.moved_bytes, numbers(of.program, n.statements)) for n in found]


class Level:
    """The values of all dims in one iteration of the loops so far, and in the next one of the innermost."""

    def __init__(self, program: Program, values: dict[str, tuple[Values, Values | None]]) -> None:
        self.program, self.values = program, values
        self._boxes: dict[tuple[str, tuple[str, ...]], tuple[Box, int]] = {}

    def inside(self, loop: Loop, ids: tuple[str, ...]) -> Level:
        """One iteration of a loop more."""
        values = {}
        for s in ids:
            now, row = self.values[s][0], loop.row(s)
            first, second = (at_iteration(now, row, nth, self.program.sizes) for nth in (0, 1))
            values[s] = (now if first is None else first, second)
        return Level(self.program, values)

    def cells(self, array: str, ids: tuple[str, ...]) -> tuple[Box, int]:
        """The box of an array's cells that statements touch, and how many of them at most."""
        if (array, ids) not in self._boxes:
            self._boxes[array, ids] = _cells(self.program, _touching(self.program, array, ids), self.values)
        return self._boxes[array, ids]

    def next_box(self, array: str, ids: tuple[str, ...]) -> Box | None:
        """The box in the next iteration; None where there is none."""
        moved = [(s, a) for s, a in _touching(self.program, array, ids) if self.values[s][1] is not None]
        boxes = [_box(self.program, self.program.statement(s), a, self.values[s][1] or {}) for s, a in moved]
        return hull(boxes) if boxes else None


def everywhere(program: Program, statement: str) -> Values:
    """All values of each dim, as if the domain were a box that begins at 0."""
    own = program.statement(statement)
    return {d: np.arange(min(MOST_VALUES, max(1, extent(program, statement, d) or 1))) for d in own.dims}


@lru_cache(maxsize=256)
def _fullness(program: Program, statement: str) -> float:
    """Instances as a share of the box around them."""
    box = prod(max(1, extent(program, statement, d) or 1) for d in program.statement(statement).dims)
    return min(1.0, poly.points(program, statement) / box)


def _arrays(
    program: Program, tree: Tree, levels: list[Level], ids: tuple[str, ...]
) -> tuple[tuple[str, int, int], ...]:  # fmt: skip
    """(array, held bytes, moved bytes) of one node."""
    found = []
    for array in dict.fromkeys(a.array for s in ids for a in program.statement(s).accesses):
        size, moved = program.arrays[array].dtype.bytes, 0.0
        touching = _touching(program, array, ids)
        full = max(_fullness(program, s) for s, _ in touching)
        visits, distinct = _visits(levels, array, ids), levels[0].cells(array, ids)[1]
        for kind, kept in (("read", _made_here(program, tree, array, ids)), ("write", _private(program, array, ids))):
            if any(a.kind == kind for _, a in touching):
                moved += size * full * max(0.0, visits - (distinct if kept else 0))
        found.append((array, size * levels[-1].cells(array, ids)[1], int(moved)))
    return tuple(found)


Touching = list[tuple[str, Access]]


def _touching(program: Program, array: str, ids: tuple[str, ...]) -> Touching:
    return [(s, a) for s in ids for a in program.statement(s).accesses if a.array == array]


def _cells(
    program: Program, touching: Touching, level: Mapping[str, tuple[Values, Values | None]]
) -> tuple[Box, int]:  # fmt: skip
    """The box of an iteration, and how many cells of it are touched at most."""
    boxes, most = [], 0
    for s, access in touching:
        own, (values, _) = program.statement(s), level[s]
        boxes.append(_box(program, own, access, values))
        most += min(cells(boxes[-1]), prod(len(values[d]) for d in own.dims))
    around = hull(boxes)
    return around, min(cells(around), most)


def _box(program: Program, own: ProgramStatement, access: Access, values: Values) -> Box:
    """The box of an access; of one that data decide, as many cells in a row as there are instances."""
    try:
        return held_box(own, access.subscripts, values, program.sizes)
    except (ValueError, KeyError):
        instances = prod(len(v) for v in values.values())
        return ((0, max(0, instances - 1)), *((0, 0),) * (len(access.subscripts) - 1))


def _visits(levels: list[Level], array: str, ids: tuple[str, ...]) -> float:
    """Cells brought in by all iterations, when what the iteration before had is kept."""
    held = levels[-1].cells(array, ids)[1]
    for k in reversed(range(1, len(levels))):
        after, (now, _) = levels[k].next_box(array, ids), levels[k].cells(array, ids)
        if after is not None and after != now:
            kept = held * common(now, after) / max(1, cells(now))
            outer = prod(_count(levels, i, ids) for i in range(1, k))
            return outer * (held + (_count(levels, k, ids) - 1) * (held - kept))
    return held


def _count(levels: list[Level], k: int, ids: tuple[str, ...]) -> float:
    return max(iterations(levels[k - 1].values[s][0], levels[k].values[s][0]) for s in ids)


def _made_here(program: Program, tree: Tree, array: str, ids: tuple[str, ...]) -> bool:
    """Whether the first values of an array are written by these statements."""
    if program.arrays[array].role in ("input", "inout"):
        return False
    order = (program.statement(s) for s in statements(tree))
    first = next((s for s in order if any(w.array == array for w in s.writes)), None)
    return first is not None and first.id in ids


def _private(program: Program, array: str, ids: tuple[str, ...]) -> bool:
    """Whether nobody else needs the values."""
    users = (s.id for s in program.statements if any(a.array == array for a in s.accesses))
    return program.arrays[array].role == "temporary" and all(s in ids for s in users)
