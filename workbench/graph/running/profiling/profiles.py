"""The time of each node of a model, measured inside its program."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

import numpy as np

from workbench.errors import WorkbenchError
from workbench.graph.running.programs import Program
from workbench.graph.running.recording.recordings import Array, OperatorCall, RecordedCall
from workbench.ops import flops
from workbench.records import record


@record(slots=True)
class NodeTime:
    """Milliseconds of one node (the least of all runs), with what it computes and moves; `flops` may be uncounted."""

    name: str
    operator: str
    label: str
    sizes: str
    milliseconds: float
    flops: int | None
    bytes_moved: int

    @property
    def rate(self) -> str:
        """GFLOP/s where a cell is computed from many, else GB/s."""
        seconds = max(self.milliseconds, 1e-6) / 1e3
        if self.flops is not None and self.flops > self.bytes_moved:
            return f"{self.flops / seconds / 1e9:.1f} GFLOP/s"
        return f"{self.bytes_moved / seconds / 1e9:.1f} GB/s"


@record(slots=True)
class Piece:
    """A call of compiled code in a model with control flow: of which function it is a piece, how many calls of it ran
    as this one, milliseconds from the beginning to it and of it, the number of its nodes."""

    function: str
    rows: int
    begin: float
    milliseconds: float
    nodes: int

    @property
    def name(self) -> str:
        """The function, with the number of calls that are one: `node x8`."""
        return f"{self.function} x{self.rows}" if self.rows > 1 else self.function


@record(slots=True, repr=False)
class Profile:
    """The nodes of a model in the order in which they run, and the milliseconds of a whole call (least of all runs).

    Of a model with control flow it is the shortest run, and its nodes are those of its `pieces`, one after another;
    what lies between two pieces is Python's.
    """

    nodes: tuple[NodeTime, ...]
    milliseconds: float
    runs: int
    pieces: tuple[Piece, ...] = ()

    @property
    def inside(self) -> float:
        """Milliseconds of all nodes together."""
        return sum(node.milliseconds for node in self.nodes)

    def by_operator(self) -> dict[str, float]:
        """Milliseconds by operator, the most first."""
        found: dict[str, float] = {}
        for node in self.nodes:
            found[node.operator] = found.get(node.operator, 0.0) + node.milliseconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def starts(self) -> list[float]:
        """Milliseconds from the beginning of a call to that of each node; Python's time between pieces counts."""
        found, now = list[float](), 0.0
        begins = iter(self.pieces)
        left = 0
        for node in self.nodes:
            while self.pieces and not left:
                piece = next(begins)
                now, left = piece.begin, piece.nodes
            found.append(now)
            now += node.milliseconds
            left -= 1
        return found

    @property
    def span(self) -> float:
        """Milliseconds from the beginning to the end of the last node."""
        return self.milliseconds if self.pieces else self.inside

    def by_piece(self) -> dict[str, tuple[int, float]]:
        """How many pieces there are of each name, and their milliseconds together; the most first."""
        found: dict[str, tuple[int, float]] = {}
        for piece in self.pieces:
            count, ms = found.get(piece.name, (0, 0.0))
            found[piece.name] = count + 1, ms + piece.milliseconds
        return dict(sorted(found.items(), key=lambda item: -item[1][1]))

    def __str__(self) -> str:
        if self.pieces:
            return "\n".join([self._head_of_pieces(), *self._rows_of_pieces(), "", *_table(self._alike())])
        head = f"{self.milliseconds:.4f} ms a call, {self.inside:.4f} ms in nodes (each the least of {self.runs} runs)"
        return "\n".join([head, *_table([(1, node) for node in self.nodes])])

    def _head_of_pieces(self) -> str:
        inside = sum(piece.milliseconds for piece in self.pieces)
        return (
            f"{self.milliseconds:.4f} ms a call, {inside:.4f} ms of it in {len(self.pieces)} calls of compiled pieces, "
            f"{self.inside:.4f} ms in their nodes (the shortest of {self.runs} runs)"
        )

    def _rows_of_pieces(self) -> list[str]:
        rows = [("piece", "calls", "ms", "%")]
        rows += [
            (name, str(count), f"{ms:.4f}", f"{ms / (self.milliseconds or 1.0):.1%}")
            for name, (count, ms) in self.by_piece().items()
        ]
        return _aligned(rows)

    def _alike(self) -> list[tuple[int, NodeTime]]:
        """Nodes of one name at one size together: how many, and a node of their times."""
        groups: dict[tuple[str, str, str], list[NodeTime]] = {}
        for node in self.nodes:
            groups.setdefault((node.operator, node.label, node.sizes), []).append(node)
        return [(len(each), _together(each)) for each in groups.values()]

    def __repr__(self) -> str:
        return str(self)


def _table(nodes: Sequence[tuple[int, NodeTime]]) -> list[str]:
    """A row for each node, with the number of those that it stands for."""
    rows = [("node", "label", "sizes", "ms", "%", "rate")]
    whole = sum(node.milliseconds for _, node in nodes) or 1.0
    for count, n in nodes:
        name = f"{n.name} x{count}" if count > 1 else n.name
        rows.append((name, n.label, n.sizes, f"{n.milliseconds:.4f}", f"{n.milliseconds / whole:.1%}", n.rate))
    return _aligned(rows)


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Rows of cells with columns below one another."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _together(nodes: Sequence[NodeTime]) -> NodeTime:
    first = nodes[0]
    count = len(nodes)
    computed = None if first.flops is None else first.flops * count
    ms = sum(node.milliseconds for node in nodes)
    return NodeTime(first.operator, first.operator, first.label, first.sizes, ms, computed, first.bytes_moved * count)


def profiled(program: Program, inputs: list[Array], seconds: float) -> Profile:
    """The profile of a program on these inputs, from runs for about so many seconds after one to warm up."""
    program.run(inputs)
    least_of_each = np.full(len(program.calls), np.iinfo(np.int64).max)
    runs, least, end = 0, float("inf"), perf_counter() + seconds
    while runs < 3 or perf_counter() < end:
        clock = np.zeros_like(least_of_each)
        begin = perf_counter()
        program.run(inputs, clock)
        least, runs = min(least, perf_counter() - begin), runs + 1
        least_of_each = np.minimum(least_of_each, clock)
    nodes = tuple(node_time(call, ns / 1e6) for call, ns in zip(program.calls, least_of_each.tolist(), strict=True))
    return Profile(nodes, least * 1e3, runs)


def node_time(call: RecordedCall, milliseconds: float) -> NodeTime:
    """A call of a program with what it took."""
    moved = sum(value.bytes for value in (*call.reads, *call.results))
    if not isinstance(call, OperatorCall):
        return NodeTime(call.name, call.label, call.label, "", milliseconds, None, moved)
    sizes = " ".join(f"{name}={size}" for name, size in call.sizes.items())
    return NodeTime(call.name, call.op.name, call.label, sizes, milliseconds, _flops(call), moved)


def _flops(call: OperatorCall) -> int | None:
    try:
        return flops(call.op, **call.sizes)
    except WorkbenchError:
        return None
