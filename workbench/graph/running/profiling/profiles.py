"""The time of each node of a model, measured inside its program."""

from __future__ import annotations

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


@record(slots=True, repr=False)
class Profile:
    """The nodes of a model in the order in which they run, and the milliseconds of a whole call (least of all runs)."""

    nodes: tuple[NodeTime, ...]
    milliseconds: float
    runs: int

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

    def __str__(self) -> str:
        rows = [("node", "label", "sizes", "ms", "%", "rate")]
        whole = self.inside or 1.0
        rows += [(n.name, n.label, n.sizes, f"{n.milliseconds:.4f}", f"{n.milliseconds / whole:.1%}", n.rate)
                 for n in self.nodes]  # fmt: skip
        widths = [max(len(row[column]) for row in rows) for column in range(6)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        head = f"{self.milliseconds:.4f} ms a call, {self.inside:.4f} ms in nodes (each the least of {self.runs} runs)"
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        return str(self)


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
    nodes = tuple(_node(call, ns / 1e6) for call, ns in zip(program.calls, least_of_each.tolist(), strict=True))
    return Profile(nodes, least * 1e3, runs)


def _node(call: RecordedCall, milliseconds: float) -> NodeTime:
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
