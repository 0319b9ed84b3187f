"""How long each kind of storage or instance step takes, legality included, on several operators; prints a table.

    python -m bench.latency.step_kinds ROUNDS

All caches are emptied and the schedule is built anew before each step, so that only what its earlier steps left
behind helps.  CPU time is that of this process: on a shared machine the wall clock tells about the others.
"""

from __future__ import annotations

import functools
import gc
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

import workbench as wb
from workbench.poly.sets import isl
from workbench.schedules import Schedule, Transform
from workbench.schedules import steps as vocabulary

ROOMS = ("workbench.poly", "workbench.schedules")
OFFERED = 20  # choices looked at for a kind of step on one schedule
KINDS = (
    "stage", "compute_at", "reverse_compute_at", "inline", "root", "split_reduction", "partition", "isolate", "pad",
    "pipeline", "double_buffer", "fold_storage", "transform_layout", "storage_align", "decompose_reduction",
)  # fmt: skip
CONVOLUTION = """def conv(float(N,C,H,W) I, float(F,C,KH,KW) K) -> (O) {
    O(n,f,p,q) +=! I(n,c,p+kh,q+kw) * K(f,c,kh,kw)
}"""


@dataclass
class Times:
    """Seconds of one kind of step: (wall, CPU, the operator) of each step taken."""

    taken: list[tuple[float, float, str]] = field(default_factory=list)

    def row(self, name: str) -> str:
        """`stage  12 steps  wall 40 / 80 ms  CPU 35 / 70 ms  worst on ...`."""
        wall, cpu = [1000 * t[0] for t in self.taken], [1000 * t[1] for t in self.taken]
        worst = max(self.taken, key=lambda t: t[1])[2]
        return (
            f"{name:22}{len(self.taken):4}  wall {statistics.median(wall):6.0f} {max(wall):6.0f} ms"
            f"  CPU {statistics.median(cpu):6.0f} {max(cpu):6.0f} ms  worst: {worst}"
        )


def starts() -> dict[str, Schedule]:
    """The schedules that steps are taken on, by name."""
    tiles = {"O/f": 16, "O/p": 4, "O/q": 8, "O/c": 16}
    conv = wb.schedule(wb.operator(CONVOLUTION)) | wb.decompose_reduction("O") | wb.tile(tiles)
    product = wb.schedule(wb.ops.load("matmul")) | wb.decompose_reduction("C")
    product = product | wb.tile({"C/m": 32, "C/n": 32, "C/k": 8})
    buffers = conv | wb.stage("I", "c_o") | wb.stage("K", "c_o") | wb.stage("O", "q_o")
    found = {name: wb.schedule(wb.ops.load(name)) for name in ("grouped_attention", "softmax", "layer_norm", "mlp3")}
    return {
        **found,
        "convolution, tiles": conv,
        "convolution, tiles and three buffers": buffers,
        "product, tiles": product,
        "product, tiles and buffers": product | wb.stage("A", "k_o") | wb.stage("B", "k_o") | wb.stage("C", "n_o"),
        "chain of 30": wb.schedule(wb.operator(chain(30))),
    }


def chain(length: int) -> str:
    """Elementwise statements, each reading the one before."""
    inner = "\n".join(f"    T{k}(i,j) = T{k - 1}(i,j) * 2.0 + A(i,j)" for k in range(1, length - 1))
    last = f"    O(i,j) = T{length - 2}(i,j)"
    return f"def chain(float(M,N) A) -> (O) {{\n    T0(i,j) = A(i,j) + 1.0\n{inner}\n{last}\n}}"


def offered(start: Schedule, kind: str) -> list[Transform]:
    """The first, the middle and the last of the first choices."""
    choices = list(islice(Transform.known[kind].choices(start), OFFERED))
    return [choices[i] for i in sorted({0, len(choices) // 2, len(choices) - 1})] if choices else []


def forget() -> None:
    """Empty every cache."""
    for found in gc.get_objects():
        if isinstance(found, functools._lru_cache_wrapper) and (found.__module__ or "").startswith(ROOMS):
            found.cache_clear()
    isl._memo.clear()


def anew(start: Schedule) -> Schedule:
    """The schedule, built again after all caches were emptied."""
    forget()
    schedule = start.start
    for step in start.trace:
        schedule = schedule | step
    return schedule


def taken(start: Schedule, step: Transform) -> Iterator[tuple[float, float]]:
    """(wall, CPU) seconds of the step with its verdict; nothing where the step does not fit."""
    schedule = anew(start)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        _ = step.on(schedule).verdict
    except wb.errors.WorkbenchError:
        return
    yield time.perf_counter() - wall, time.process_time() - cpu


def measured(rounds: int) -> dict[str, Times]:
    """The times of each kind of step."""
    vocabulary.load()
    found = {kind: Times() for kind in KINDS}
    for name, start in starts().items():
        for kind in KINDS:
            for step in offered(start, kind):
                for _ in range(rounds):
                    found[kind].taken += [(*seconds, f"{step} on {name}") for seconds in taken(start, step)]
    return {kind: times for kind, times in found.items() if times.taken}


def main(rounds: int) -> None:
    """One row for each kind: how many steps, median and worst of wall and CPU time, the worst step."""
    for kind, times in measured(rounds).items():
        print(times.row(kind))


if __name__ == "__main__":
    main(int(sys.argv[1]))
